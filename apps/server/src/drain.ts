import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** Knows which requests are being answered. */
export interface InFlight {
  /** Resolves when none is left but event streams, which end with their session, or after `graceMs`. @returns how many were left. */
  settle(graceMs: number): Promise<number>;
}

function isEventStream(response: ServerResponse): boolean {
  return response.headersSent && String(response.getHeader("content-type")).startsWith("text/event-stream");
}

export function countInFlight(server: Server): InFlight {
  const open = new Set<ServerResponse>();
  let settled: (() => void) | undefined;
  server.on("request", (_request: IncomingMessage, response: ServerResponse) => {
    open.add(response);
    response.on("close", () => {
      open.delete(response);
      settled?.();
    });
  });
  const left = () => [...open].filter((response) => !isEventStream(response)).length;
  return {
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
