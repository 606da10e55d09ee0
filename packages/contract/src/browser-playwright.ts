import { ExecutePlaywright, Id, lazyObject, PlaywrightResult } from "@shoal/schemas";
import { defineEndpoint, json } from "./endpoint.ts";

const area = "Browser Playwright";
const id = lazyObject(() => ({
  /** The session's id, or the name of a running session. */
  id: Id,
}));

/** Runs beside the browser, each time in a fresh scope. Code that fails is no error of the operation: `success` is then false. Code is stopped when you leave before its end; with an `Idempotency-Key` it goes on for 5 seconds, for you to send the call again and get its answer, and then the key answers 409 `call_cut_off`. */
export const executePlaywright = defineEndpoint({
  operationId: "browsers.playwright.execute",
  area,
  plane: "instance",
  method: "POST",
  path: "/browsers/{id}/playwright/execute",
  summary: "Run Playwright code.",
  params: id,
  body: json(ExecutePlaywright),
  responses: { 200: json(PlaywrightResult) },
  errors: [400, 401, 403, 404, 429, 500, 503],
});
