import type { FastifyBaseLogger } from "fastify";
import type { IncomingMessage } from "node:http";
import type { Log } from "./log.ts";

const requestId = Symbol("request id");

/** A property of the request: a WeakMap would cost as much as checking the key. */
interface Identified extends IncomingMessage {
  [requestId]?: string;
}

/** Attaches the id to the raw request; Fastify keeps it only on its own object. */
export function identify(request: Identified, id: string): void {
  request[requestId] = id;
}

export function requestIdOf(request: Identified): string | undefined {
  return request[requestId];
}

/** Creates its child logger on the first write, which most requests never do. Fastify requires every method. */
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
