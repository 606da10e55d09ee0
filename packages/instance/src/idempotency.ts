import type { Endpoint } from "@shoal/contract";
import { isLasting, keyOfAnotherRequest, readIdempotencyKey, ServiceError, type Handler, type HandlerCall, type HandlerResult } from "@shoal/router";
import { createHash } from "node:crypto";
import { callerGraceMs, shareCall, type SharedCall } from "./shared-call.ts";

/** Keys that an instance remembers; the oldest go first. */
export const maxIdempotencyKeys = 1_000;
/** Bytes of remembered answers, of operations that tell how many theirs have; the oldest go first. */
export const maxIdempotencyBytes = 32 * 1024 * 1024;
const keptMs = 24 * 60 * 60 * 1000;

interface Remembered {
  readonly fingerprint: string;
  readonly call: SharedCall;
  readonly expiresAtMs: number;
  bytes: number;
}

/** Remembers the answers to calls with an `Idempotency-Key`, for the time that the instance lives. */
export interface IdempotencyMemory {
  /**
   * The same handler; a call that repeats an earlier key gets its answer, or waits for it. Failures that may pass (see
   * `isLasting`) are not remembered. Only for answers that are values: JSON or nothing.
   *
   * A call with a key goes on where its caller is lost, who is expected to send it again. When nobody has come for {@link callerGraceMs}, the handler's
   * signal is aborted, and the key gets a 409 `call_cut_off` from then on: doing it again could do twice what was done already. A call without a key is
   * aborted as soon as its caller leaves.
   *
   * @param handler - rejects when its signal is aborted, unless it has done its work all the same.
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
    for (const [key, { call, expiresAtMs }] of remembered) {
      if (expiresAtMs > now() && remembered.size <= maxIdempotencyKeys && rememberedBytes <= maxIdempotencyBytes) return;
      // What still runs would be done a second time.
      if (!call.running) forget(key);
    }
  }

  return {
    wrap<E extends Endpoint, Context>(
      endpoint: E,
      handler: Handler<E, Context>,
      bytesOf?: (answer: HandlerResult<E>) => number,
    ): Handler<E, Context> {
      return async (call) => {
        const key = readIdempotencyKey(call.headers["idempotency-key"]);
        if (key === undefined) return handler(call);
        const { signal: caller } = call;
        caller.throwIfAborted();
        forgetOld();
        const fingerprint = fingerprintOf(endpoint, call);
        const earlier = remembered.get(key);
        if (earlier !== undefined) {
          if (earlier.fingerprint !== fingerprint) throw keyOfAnotherRequest(key);
          // The fingerprint holds the operation, so the answer is of its type.
          return (await earlier.call.join(caller)) as HandlerResult<E>;
        }
        const shared = shareCall(
          (signal) => handler({ ...call, signal }),
          () => callCutOff(key),
        );
        const entry: Remembered = { fingerprint, call: shared, expiresAtMs: now() + keptMs, bytes: 0 };
        remembered.set(key, entry);
        shared.answer.then(
          (value) => {
            entry.bytes = bytesOf?.(value as HandlerResult<E>) ?? 0;
            rememberedBytes += entry.bytes;
            forgetOld();
          },
          (error: unknown) => {
            if (!isLasting(error)) forget(key);
          },
        );
        return (await shared.join(caller)) as HandlerResult<E>;
      };
    },
  };
}

/** What a key gets whose call was stopped in the middle; the router adds that it is not to be sent again. */
function callCutOff(key: string): ServiceError {
  return new ServiceError(
    409,
    "call_cut_off",
    `The call with Idempotency-Key ${JSON.stringify(key)} was stopped before its end: its connection was lost, and it was not sent again within ${String(callerGraceMs / 1000)} s. ` +
      "Part of it may have taken effect. Look what did, and send what is left with a new key.",
  );
}

function fingerprintOf<E extends Endpoint, Context>(endpoint: E, { params, query, body }: HandlerCall<E, Context>): string {
  return createHash("sha256")
    .update(JSON.stringify([endpoint.operationId, params, query, body]))
    .digest("base64");
}
