import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { Log } from "./log.ts";

type Write = FastifyBaseLogger["info"];

/** The log of one request. Its child logger is made when something is written, which for most requests is never. */
export class RequestLog implements FastifyBaseLogger {
  readonly #log: Log;
  readonly #requestId: string;
  #child: Log | undefined;

  constructor(log: Log, requestId: string) {
    this.#log = log;
    this.#requestId = requestId;
  }

  get #logger(): Log {
    return (this.#child ??= this.#log.child({ request_id: this.#requestId }));
  }
  get level(): string {
    return this.#log.level;
  }
  get msgPrefix(): string | undefined {
    return undefined;
  }
  get fatal(): Write {
    return this.#logger.fatal.bind(this.#logger);
  }
  get error(): Write {
    return this.#logger.error.bind(this.#logger);
  }
  get warn(): Write {
    return this.#logger.warn.bind(this.#logger);
  }
  get info(): Write {
    return this.#logger.info.bind(this.#logger);
  }
  get debug(): Write {
    return this.#logger.debug.bind(this.#logger);
  }
  get trace(): Write {
    return this.#logger.trace.bind(this.#logger);
  }
  get silent(): Write {
    return this.#logger.silent.bind(this.#logger);
  }
  get child(): FastifyBaseLogger["child"] {
    return this.#logger.child.bind(this.#logger);
  }
}

/** One line a request: refused ones at `info`, failed ones at `warn`, the others at `debug`. Paths are written without their query. */
export function logRequests(app: FastifyInstance, log: Log): void {
  app.addHook("onResponse", (request, reply, done) => {
    const { statusCode } = reply;
    const level = statusCode >= 500 ? "warn" : statusCode >= 400 ? "info" : "debug";
    if (log.isLevelEnabled(level)) {
      const path = request.raw.url?.split("?", 1)[0];
      log[level]({ request_id: request.id, method: request.method, path, status: statusCode, duration_ms: Math.round(reply.elapsedTime * 10) / 10 }, "request");
    }
    done();
  });
}
