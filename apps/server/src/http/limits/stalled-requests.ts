import type { Server, ServerResponse } from "node:http";
import type { InFlight } from "../in-flight.ts";
import type { Log } from "../../log/log.ts";
import { requestIdOf } from "../../log/request-log.ts";

interface Seen {
  bytes: number;
  sinceMs: number;
}

/** Ends requests whose client stops sending, which would otherwise stay open forever. */
export interface StalledRequests {
  close(): void;
}

/**
 * @param stallSeconds - for the head, and for progress of a body that the server reads. The limit for heads is set
 * once.
 */
export function endStalledRequests(
  server: Server,
  inFlight: InFlight,
  stallSeconds: () => number,
  log: Log,
): StalledRequests {
  const seen = new WeakMap<ServerResponse, Seen>();
  server.headersTimeout = stallSeconds() * 1000;

  function look(): void {
    const nowMs = performance.now();
    const stallMs = stallSeconds() * 1000;
    for (const response of inFlight.responses()) {
      const { req: request } = response;
      // Unread and paused bodies wait for the server, not for the client.
      if (request.complete || request.readableLength > 0 || request.isPaused()) {
        seen.delete(response);
        continue;
      }
      const bytes = request.socket.bytesRead;
      const before = seen.get(response);
      if (before?.bytes !== bytes) seen.set(response, { bytes, sinceMs: nowMs });
      else if (nowMs - before.sinceMs >= stallMs) end(response);
    }
  }

  function end(response: ServerResponse): void {
    const { req: request } = response;
    log.info(
      { request_id: requestIdOf(request), stall_seconds: stallSeconds() },
      "a request was ended: its client stopped in the middle of the body",
    );
    const text = JSON.stringify({
      code: "bad_request",
      message: `Nothing of the request's body arrived for ${String(stallSeconds())} s. Send it again.`,
    });
    if (!response.headersSent)
      request.socket.write(
        `HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${String(Buffer.byteLength(text))}\r\nX-Request-Id: ${requestIdOf(request) ?? ""}\r\nConnection: close\r\n\r\n${text}`,
      );
    request.socket.destroySoon();
  }

  const timer = setInterval(look, Math.min(5000, stallSeconds() * 250)).unref();
  return {
    close() {
      clearInterval(timer);
    },
  };
}
