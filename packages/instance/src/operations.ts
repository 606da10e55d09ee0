import { browserFs } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import { createHttpRouter } from "@shoal/router/http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { fileSystemHandlers } from "./fs/handlers.ts";
import type { SessionRoot } from "./fs/paths.ts";
import { watchHandlers } from "./fs/watch/watches.ts";
import { createIdempotencyMemory } from "./idempotency.ts";
import { log } from "./log.ts";

/** The operations of the instance's plane. */
export interface Operations {
  /** Answers a request, whose path is without `/browsers/{id}`; never throws. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Ends what goes on until the session does, so that its readers see an end and not a failure. */
  close(): Promise<void>;
}

export function createOperations(root: SessionRoot): Operations {
  const router = createHttpRouter({
    stripPrefix: "/browsers/{id}",
    context: () => undefined,
    onError(error, requestId) {
      log("error", "an operation failed", { request_id: requestId, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    },
  });
  const memory = createIdempotencyMemory();
  const watches = watchHandlers(root);
  const handlers: Handlers<typeof browserFs> = {
    ...fileSystemHandlers(root),
    watchEvents: watches.watchEvents,
    stopWatch: watches.stopWatch,
    // The other POSTs carry files, which are not remembered.
    startWatch: memory.wrap(browserFs.startWatch, watches.startWatch),
  };
  router.mountAll(browserFs, handlers);
  return {
    handle(request, response) {
      router.handle(request, response);
    },
    close: () => watches.close(),
  };
}
