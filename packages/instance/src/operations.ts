import { browserFs, contract, type Endpoint } from "@shoal/contract";
import { type Handler, type HandlersOrNotYet, notImplementedError } from "@shoal/router";
import { createHttpRouter } from "@shoal/router/http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { fileSystemHandlers } from "./fs/handlers.ts";
import type { BrowserSupervisor } from "./chromium/supervisor.ts";
import type { SessionRoot } from "./fs/paths.ts";
import { watchHandlers } from "./fs/watch/watches.ts";
import { createIdempotencyMemory } from "./idempotency.ts";
import { log } from "./log.ts";
import type { InstanceConfig } from "./protocol.ts";
import { type InstancePlane, notImplemented, type NotImplemented } from "./not-implemented.ts";

/** The operations of the instance's plane. */
export interface Operations {
  /** Answers a request, whose path is without `/browsers/{id}`; never throws. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Ends what goes on until the session does, so that its readers see an end and not a failure. */
  close(): Promise<void>;
}

/** What operations work on. */
export interface OperationParts {
  readonly root: SessionRoot;
  readonly config: InstanceConfig;
  readonly browser: Pick<BrowserSupervisor, "cdp" | "endpoint" | "onBrowser">;
}

export function createOperations({ root }: OperationParts): Operations {
  const missing = new Set<string>(notImplemented.map((name: keyof InstancePlane<typeof contract>) => contract[name].operationId));
  const router = createHttpRouter({
    stripPrefix: "/browsers/{id}",
    context(_request, endpoint) {
      if (missing.has(endpoint.operationId)) throw notImplementedError(endpoint);
      return undefined;
    },
    onError(error, requestId) {
      log("error", "an operation failed", { request_id: requestId, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    },
  });
  const memory = createIdempotencyMemory();
  const watches = watchHandlers(root);
  const handlers = {
    ...fileSystemHandlers(root),
    watchEvents: watches.watchEvents,
    stopWatch: watches.stopWatch,
    // The other POSTs carry files, which are not remembered.
    startWatch: memory.wrap(browserFs.startWatch, watches.startWatch),
  } satisfies HandlersOrNotYet<InstancePlane<typeof contract>, NotImplemented>;
  for (const [name, endpoint] of Object.entries<Endpoint>(contract)) {
    if (endpoint.plane !== "instance") continue;
    // `satisfies` above holds the name to its handler; one that is missing is refused by `context`.
    router.mount(endpoint, (handlers as Readonly<Record<string, unknown>>)[name] as Handler<Endpoint>);
  }
  return {
    handle(request, response) {
      router.handle(request, response);
    },
    close: () => watches.close(),
  };
}
