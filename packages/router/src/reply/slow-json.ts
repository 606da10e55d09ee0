import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";

/** Begins with spaces, which JSON allows. */
class SlowJson {
  readonly stream: Readable;

  constructor(stream: Readable) {
    this.stream = stream;
  }
}

/** When {@link slowJson} begins to answer. */
export interface SlowJsonTimes {
  /** Milliseconds until the status and headers are sent. */
  readonly headersAfterMs: number;
  /** Milliseconds between two spaces. */
  readonly spaceEveryMs: number;
}

/**
 * Returns the value of `work`, or an answer whose headers are sent before the value is known, so that clients with a
 * timeout for the headers do not repeat the request. A failure after the headers cuts the connection.
 */
export async function slowJson<Value>(work: Promise<Value>, times: SlowJsonTimes): Promise<Value> {
  const stop = new AbortController();
  const first = await Promise.race([
    work
      .then((value) => ({ value }))
      .finally(() => {
        stop.abort();
      }),
    delay(times.headersAfterMs, undefined, { signal: stop.signal }).catch(() => undefined),
  ]);
  // The abort of the delay may win the race.
  if (first !== undefined || stop.signal.aborted) return work;
  return new SlowJson(spacedJson(work, times.spaceEveryMs)) as Value;
}

function spacedJson(work: Promise<unknown>, spaceEveryMs: number): Readable {
  const stream = new Readable({
    // Spaces are pushed by time.
    read: () => undefined,
    destroy(error, done) {
      clearInterval(timer);
      done(error);
    },
  });
  const timer = setInterval(() => {
    // A client that does not read must not collect spaces.
    if (stream.readableLength === 0) stream.push(" ");
  }, spaceEveryMs);
  stream.push(" ");
  work.then(
    (value) => {
      clearInterval(timer);
      if (stream.destroyed) return;
      stream.push(JSON.stringify(value));
      stream.push(null);
    },
    (error: unknown) => {
      stream.destroy(error instanceof Error ? error : new Error(String(error)));
    },
  );
  return stream;
}

export function slowJsonStream(value: unknown): Readable | undefined {
  return value instanceof SlowJson ? value.stream : undefined;
}
