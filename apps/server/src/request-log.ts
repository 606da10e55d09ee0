import type { FastifyBaseLogger } from "fastify";
import type { IncomingMessage } from "node:http";
import type { Log } from "./log.ts";

const requestId = Symbol("request id");

/** A property of the request, where a WeakMap would cost each request as much as checking its key. */
interface Identified extends IncomingMessage {
  [requestId]?: string;
}

/** Keeps a request's id, which Fastify keeps for itself. */
export function identify(request: Identified, id: string): void {
  request[requestId] = id;
}

/** The id that {@link identify} kept. */
export function requestIdOf(request: Identified): string | undefined {
  return request[requestId];
}

/**
 * The log of one request. Its child logger is made when something is written, which for most requests is never; Fastify looks at every
 * method of a request's logger, so they are methods of the class and cost nothing until they are called.
 */
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
  fatal(...args: Parameters<Log["fatal"]>): void {
    this.#logger.fatal(...args);
  }
  error(...args: Parameters<Log["error"]>): void {
    this.#logger.error(...args);
  }
  warn(...args: Parameters<Log["warn"]>): void {
    this.#logger.warn(...args);
  }
  info(...args: Parameters<Log["info"]>): void {
    this.#logger.info(...args);
  }
  debug(...args: Parameters<Log["debug"]>): void {
    this.#logger.debug(...args);
  }
  trace(...args: Parameters<Log["trace"]>): void {
    this.#logger.trace(...args);
  }
  silent(...args: Parameters<Log["silent"]>): void {
    this.#logger.silent(...args);
  }
  child(...args: Parameters<FastifyBaseLogger["child"]>): FastifyBaseLogger {
    return this.#logger.child(...args);
  }
}
