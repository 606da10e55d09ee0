import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Log } from "../log/log.ts";
import { requestIdOf } from "../log/request-log.ts";

export class InFlight {
  readonly #log: Log;
  readonly #open = new Set<ServerResponse>();
  #settled: (() => void) | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Logs refused requests at `info`, failed ones at `warn`, others at `debug`; paths without their query. Listens to
   * Node's server, because a hook of Fastify would cost more than checking a key.
   * @param onEnd - called when the answer is complete or the client is gone.
   */
  follow(
    server: Server,
    onEnd: (request: IncomingMessage, response: ServerResponse, durationMs: number) => void,
  ): void {
    // Prepended, so that handlers find their own request here.
    server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
      this.#open.add(response);
      const arrivedMs = performance.now();
      response.on("close", () => {
        this.#open.delete(response);
        onEnd(request, response, performance.now() - arrivedMs);
        this.#settled?.();
        if (response.statusCode >= 400 || this.#log.isLevelEnabled("debug")) this.#write(request, response, arrivedMs);
      });
    });
  }

  size(): number {
    return this.#open.size;
  }

  responses(): Iterable<ServerResponse> {
    return this.#open;
  }

  count(): { readonly open: number; readonly streams: number } {
    return { open: this.#open.size, streams: this.#open.size - this.#left() };
  }

  /** Waits until only event streams are left, which end with their session. @returns the number of other requests. */
  settle(graceMs: number): Promise<number> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        this.#settled = undefined;
        resolve(this.#left());
      };
      const timer = setTimeout(finish, graceMs);
      this.#settled = () => {
        if (this.#left() === 0) finish();
      };
      this.#settled();
    });
  }

  #left(): number {
    return [...this.#open].filter((response) => !isEventStream(response)).length;
  }

  #write(request: IncomingMessage, response: ServerResponse, arrivedMs: number): void {
    const { statusCode } = response;
    const level = statusCode >= 500 ? "warn" : statusCode >= 400 ? "info" : "debug";
    const cut = !response.writableFinished;
    this.#log[level](
      {
        request_id: requestIdOf(request),
        method: request.method,
        path: request.url?.split("?", 1)[0],
        status: statusCode,
        duration_ms: Math.round((performance.now() - arrivedMs) * 10) / 10,
        ...(cut && { cut }),
      },
      "request",
    );
  }
}

function isEventStream(response: ServerResponse): boolean {
  return response.headersSent && String(response.getHeader("content-type")).startsWith("text/event-stream");
}
