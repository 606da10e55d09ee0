import type { ServerResponse } from "node:http";

/** One thing that a session could not reach. */
export interface RecordedFailure {
  /** `host:port`, or `*` where no request was read. */
  readonly target: string;
  /** See {@link EgressFailure}. */
  readonly status: number;
  readonly message: string;
}

const maxRecorded = 50;
const maxCharacters = 600;

/** The last failures of a session, for its instance: Chromium tells nobody why a proxy failed. */
export class FailureRecord {
  readonly #entries: (RecordedFailure & { readonly atMs: number })[] = [];

  add({ target, status, message }: RecordedFailure): void {
    this.#entries.push({ target: target.slice(0, maxCharacters), status, message: message.slice(0, maxCharacters), atMs: performance.now() });
    if (this.#entries.length > maxRecorded) this.#entries.shift();
  }

  /** Answers with all of them as JSON, the latest first, with their age. */
  answer(response: ServerResponse): void {
    const now = performance.now();
    const failures = this.#entries.toReversed().map(({ atMs, ...failure }) => ({ ...failure, age_ms: Math.round(now - atMs) }));
    response.writeHead(200, { "content-type": "application/json", connection: "close" }).end(JSON.stringify(failures));
  }
}
