import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Log } from "./log.ts";
import { requestIdOf } from "./request-log.ts";

/** Knows which requests are being answered. */
export interface InFlight {
  /** Resolves when none is left but event streams, which end with their session, or after `graceMs`. @returns how many were left. */
  settle(graceMs: number): Promise<number>;
  /** How many are being answered now. */
  size(): number;
  responses(): Iterable<ServerResponse>;
  /** Those that are being answered now, and the event streams among them. */
  count(): { readonly open: number; readonly streams: number };
}

function isEventStream(response: ServerResponse): boolean {
  return response.headersSent && String(response.getHeader("content-type")).startsWith("text/event-stream");
}

/**
 * Follows every request from its arrival to its end, and logs it: refused ones at `info`, failed ones at `warn`, the others at `debug`.
 * Paths are written without their query. `onEnd` is told of each when its answer has ended, or its client is gone. A listener of the server rather than a hook of Fastify, which would cost each request more than its key does.
 */
export function followRequests(
  server: Server,
  log: Log,
  onEnd?: (request: IncomingMessage, response: ServerResponse, durationMs: number) => void,
): InFlight {
  const open = new Set<ServerResponse>();
  let settled: (() => void) | undefined;

  function write(request: IncomingMessage, response: ServerResponse, arrivedMs: number): void {
    const { statusCode } = response;
    const level = statusCode >= 500 ? "warn" : statusCode >= 400 ? "info" : "debug";
    const path = request.url?.split("?", 1)[0];
    const cut = !response.writableFinished;
    log[level](
      {
        request_id: requestIdOf(request),
        method: request.method,
        path,
        status: statusCode,
        duration_ms: Math.round((performance.now() - arrivedMs) * 10) / 10,
        ...(cut && { cut }),
      },
      "request",
    );
  }

  // First of all, so that whoever answers a request finds it among the open ones.
  server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    open.add(response);
    const arrivedMs = performance.now();
    response.on("close", () => {
      open.delete(response);
      onEnd?.(request, response, performance.now() - arrivedMs);
      settled?.();
      if (response.statusCode >= 400 || log.isLevelEnabled("debug")) write(request, response, arrivedMs);
    });
  });
  const left = () => [...open].filter((response) => !isEventStream(response)).length;
  return {
    size: () => open.size,
    responses: () => open,
    count: () => ({ open: open.size, streams: open.size - left() }),
    settle(graceMs) {
      return new Promise((resolve) => {
        const finish = () => {
          clearTimeout(timer);
          settled = undefined;
          resolve(left());
        };
        const timer = setTimeout(finish, graceMs);
        settled = () => {
          if (left() === 0) finish();
        };
        settled();
      });
    },
  };
}
