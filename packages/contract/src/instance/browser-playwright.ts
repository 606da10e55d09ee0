import { ExecutePlaywright, Id, lazyObject, PlaywrightResult } from "@shoal/schemas";
import { defineEndpoint, json } from "../base/endpoint.ts";

/** Playwright code that runs in the session. */
const area = "Browser Playwright";
const id = lazyObject(() => ({
  /** The session's id, or the name of a running session. */
  id: Id,
}));

/** Runs in the session, each time in a fresh scope. Failing code is not an error of the operation: `success` is then false. If you disconnect, the code stops. With an `Idempotency-Key` it continues for 5 seconds, so that you can repeat the call; after that, the key returns 409 `call_cut_off`. */
export const executePlaywright = defineEndpoint({
  operationId: "browsers.playwright.execute",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: "scripts" },
  tool: "evaluate",
  moves: ["read code", "write code"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/playwright/execute",
  summary: "Run Playwright code.",
  params: id,
  body: json(ExecutePlaywright),
  responses: { 200: json(PlaywrightResult) },
  errors: [400, 401, 403, 404, 429, 500, 503],
});
