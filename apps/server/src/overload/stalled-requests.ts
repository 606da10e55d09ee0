import type { Server, ServerResponse } from "node:http";
import type { InFlight } from "../drain.ts";
import type { Log } from "../log.ts";
import { requestIdOf } from "../request-log.ts";

interface Seen {
  bytes: number;
  sinceMs: number;
}

/** Ends requests whose client stops in the middle of them, which would otherwise be held open for ever. */
export interface StalledRequests {
  close(): void;
}

/**
 * The head of a request must arrive within `stallSeconds`; of its body something must, as long as it is read here. An upload may take as long as it
 * takes, and so may the answer.
 *
 * @param stallSeconds - read at each look, but for heads, whose limit is set once.
 */
export function endStalledRequests(server: Server, inFlight: InFlight, stallSeconds: () => number, log: Log): StalledRequests {
  const seen = new WeakMap<ServerResponse, Seen>();
  server.headersTimeout = stallSeconds() * 1000;

  function look(): void {
    const nowMs = performance.now();
    const stallMs = stallSeconds() * 1000;
    for (const response of inFlight.responses()) {
      const { req: request } = response;
      // What lies here unread, or is paused, waits for us and not for the client.
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
