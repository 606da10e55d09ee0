import type { Endpoint } from "@shoal/contract";
import { isLasting, keyOfAnotherRequest, readIdempotencyKey, type Handler, type HandlerCall, type HandlerResult } from "@shoal/router";
import { createHash } from "node:crypto";

/** Keys that an instance remembers; the oldest go first. */
export const maxIdempotencyKeys = 1_000;
/** Bytes of remembered answers, of operations that tell how many theirs have; the oldest go first. */
export const maxIdempotencyBytes = 32 * 1024 * 1024;
const keptMs = 24 * 60 * 60 * 1000;

interface Remembered {
  readonly fingerprint: string;
  readonly answer: Promise<unknown>;
  readonly expiresAtMs: number;
  bytes: number;
}

/** Remembers the answers to calls with an `Idempotency-Key`, for the time that the instance lives. */
export interface IdempotencyMemory {
  /**
   * The same handler; a call that repeats an earlier key gets its answer, or waits for it. Failures that may pass (see
   * `isLasting`) are not remembered. Only for answers that are values: JSON or nothing.
   *
   * @param bytesOf - of an answer that may be large.
   */
  wrap<E extends Endpoint, Context>(endpoint: E, handler: Handler<E, Context>, bytesOf?: (answer: HandlerResult<E>) => number): Handler<E, Context>;
}

/** @param now - milliseconds since 1970; tests set their own clock. */
export function createIdempotencyMemory(now: () => number = Date.now): IdempotencyMemory {
  const remembered = new Map<string, Remembered>();

  let rememberedBytes = 0;

  function forget(key: string): void {
    rememberedBytes -= remembered.get(key)?.bytes ?? 0;
    remembered.delete(key);
  }

  function forgetOld(): void {
    for (const [key, { expiresAtMs }] of remembered) {
      if (expiresAtMs > now() && remembered.size <= maxIdempotencyKeys && rememberedBytes <= maxIdempotencyBytes) return;
      forget(key);
    }
  }

  return {
    wrap<E extends Endpoint, Context>(endpoint: E, handler: Handler<E, Context>, bytesOf?: (answer: HandlerResult<E>) => number): Handler<E, Context> {
      return async (call) => {
        const key = readIdempotencyKey(call.headers["idempotency-key"]);
        if (key === undefined) return handler(call);
        forgetOld();
        const fingerprint = fingerprintOf(endpoint, call);
        const earlier = remembered.get(key);
        if (earlier !== undefined) {
          if (earlier.fingerprint !== fingerprint) throw keyOfAnotherRequest(key);
          // The fingerprint holds the operation, so the answer is of its type.
          return (await earlier.answer) as HandlerResult<E>;
        }
        const answer = (async () => handler(call))();
        const entry: Remembered = { fingerprint, answer, expiresAtMs: now() + keptMs, bytes: 0 };
        remembered.set(key, entry);
        forgetOld();
        try {
          const value = await answer;
          if (bytesOf !== undefined && remembered.get(key) === entry) {
            entry.bytes = bytesOf(value);
            rememberedBytes += entry.bytes;
            forgetOld();
          }
          return value;
        } catch (error) {
          if (!isLasting(error) && remembered.get(key) === entry) forget(key);
          throw error;
        }
      };
    },
  };
}

function fingerprintOf<E extends Endpoint, Context>(endpoint: E, { params, query, body }: HandlerCall<E, Context>): string {
  return createHash("sha256")
    .update(JSON.stringify([endpoint.operationId, params, query, body]))
    .digest("base64");
}
