import type { ServerResponse } from "node:http";
import type { ProxyErrorCode } from "./failure.ts";

export interface RecordedFailure {
  /** `host:port`, or `*` if no request was read. */
  readonly target: string;
  readonly status: number;
  readonly message: string;
  readonly proxy_error?: ProxyErrorCode | undefined;
}

const maxRecorded = 50;
const maxCharacters = 600;

/** Instances read it, because Chromium does not report why a proxy failed. */
export class FailureRecord {
  readonly #entries: (RecordedFailure & { readonly atMs: number })[] = [];

  add({ target, status, message, proxy_error }: RecordedFailure): void {
    this.#entries.push({
      target: target.slice(0, maxCharacters),
      status,
      message: message.slice(0, maxCharacters),
      proxy_error,
      atMs: performance.now(),
    });
    if (this.#entries.length > maxRecorded) this.#entries.shift();
  }

  answer(response: ServerResponse): void {
    const now = performance.now();
    const failures = this.#entries
      .toReversed()
      .map(({ atMs, ...failure }) => ({ ...failure, age_ms: Math.round(now - atMs) }));
    response.writeHead(200, { "content-type": "application/json", connection: "close" }).end(JSON.stringify(failures));
  }
}
