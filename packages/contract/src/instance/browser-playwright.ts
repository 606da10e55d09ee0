import {
  DeletePlaywrightExecutor,
  ExecutePlaywright,
  Id,
  lazyObject,
  PlaywrightConflict,
  PlaywrightExecutors,
  PlaywrightResult,
} from "@shoal/schemas";
import { defineEndpoint, empty, json } from "../base/endpoint.ts";
import { sessionId, sessionIdField } from "../base/session-id.ts";

/** Playwright code that runs in the session. */
const area = "Browser Playwright";

const idAndName = lazyObject(() => ({
  ...sessionIdField,
  /** The name of the executor. */
  name: Id,
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
  params: sessionId,
  body: json(ExecutePlaywright),
  responses: { 200: json(PlaywrightResult) },
  errors: [400, 401, 403, 404, 409, 429, 500, 503],
  errorBodies: { 409: PlaywrightConflict },
});

/** Named executors have a tab each. */
export const listPlaywrightExecutors = defineEndpoint({
  operationId: "browsers.playwright.executors.list",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: "scripts", passive: "asked" },
  moves: ["read code"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/playwright/executors",
  summary: "List Playwright executors.",
  params: sessionId,
  responses: { 200: json(PlaywrightExecutors) },
  errors: [401, 403, 404, 500],
});

/** Its running and waiting calls end with `success: false`, and its name is free. `default` stays: its running calls end, and waiting ones go on. */
export const deletePlaywrightExecutor = defineEndpoint({
  operationId: "browsers.playwright.executors.delete",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: "scripts" },
  moves: ["write code"],
  scope: ["browsers:use"],
  method: "DELETE",
  path: "/browsers/{id}/playwright/executors/{name}",
  summary: "Delete a Playwright executor.",
  params: idAndName,
  query: DeletePlaywrightExecutor,
  responses: { 204: empty },
  errors: [400, 401, 403, 404, 409, 500],
});
