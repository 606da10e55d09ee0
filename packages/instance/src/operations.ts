import { createHttpRouter, type HttpRouter } from "@shoal/router/http";
import { log } from "./log.ts";

/** Serves every operation of the instance's plane, with `/browsers/{id}` taken off its path. */
export function createOperations(_root: string): HttpRouter<undefined> {
  return createHttpRouter({
    stripPrefix: "/browsers/{id}",
    context: () => undefined,
    onError(error, requestId) {
      log("error", "an operation failed", { request_id: requestId, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    },
  });
}
