import { ReplResult, RunRepl } from "@shoal/schemas";
import { defineEndpoint, json } from "../base/endpoint.ts";
import { sessionId } from "../base/session-id.ts";

/** JavaScript in a process of the session that keeps its state between calls. */
const area = "Browser REPL";

/** Runs JavaScript in a Node.js process of the session that stays between calls, with helpers for the browser: `repl.help()` lists them. Calls run one after another. Failing code is not an error of the operation: `success` is then false. Never repeat a call that may have run. If you disconnect, the process ends. With an `Idempotency-Key` the code continues for 5 seconds, so that you can repeat the call; after that, the key returns 409 `call_cut_off`. */
export const runRepl = defineEndpoint({
  operationId: "browsers.repl",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: "scripts" },
  moves: ["read code", "write code"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/repl",
  summary: "Run JavaScript in a process that stays.",
  params: sessionId,
  body: json(RunRepl, { limitBytes: 8 * 2 ** 20 }),
  responses: { 200: json(ReplResult) },
  errors: [400, 401, 403, 404, 409, 413, 429, 500, 503],
});
