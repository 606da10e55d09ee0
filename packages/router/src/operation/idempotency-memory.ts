import { ServiceError } from "../handler/service-error.ts";
import { isLasting, keyOfAnotherRequest, type IdempotencyStore, type KeyedCall } from "./idempotency.ts";
import { callerGraceMs, shareCall, type SharedCall } from "./shared-call.ts";

/** Maximum number of remembered keys; the oldest are evicted first. */
export const maxIdempotencyKeys = 1_000;
/** Maximum bytes of remembered answers; the oldest are evicted first. */
export const maxIdempotencyBytes = 32 * 1024 * 1024;
const keptMs = 24 * 60 * 60 * 1000;

interface Remembered {
  readonly fingerprint: string;
  readonly call: SharedCall;
  readonly expiresAtMs: number;
  bytes: number;
}

interface MemoryOptions<Context> {
  /** Separates callers with equal keys: the id of the API key. */
  readonly scopeOf?: (context: Context) => string;
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number;
}

/**
 * Remembers answers in memory, except failures that pass (see {@link isLasting}).
 * A call goes on after its caller is lost, because the caller may repeat it. After 5 s without a caller the handler's
 * signal is aborted and the key gets a 409 `call_cut_off` from then on, since part of the work may be done. Handlers
 * reject when their signal is aborted, unless the work is done.
 */
export class IdempotencyMemory<Context> implements IdempotencyStore<Context> {
  readonly #remembered = new Map<string, Remembered>();
  readonly #scopeOf: (context: Context) => string;
  readonly #now: () => number;
  #bytes = 0;

  constructor({ now = Date.now, scopeOf = () => "" }: MemoryOptions<Context> = {}) {
    this.#now = now;
    this.#scopeOf = scopeOf;
  }

  async answer(
    { call, fingerprint, key }: KeyedCall<Context>,
    handle: (signal?: AbortSignal) => unknown,
  ): Promise<unknown> {
    const { signal: caller } = call;
    caller.throwIfAborted();
    this.#evict();
    const name = `${this.#scopeOf(call.context)}\0${key}`;
    const earlier = this.#remembered.get(name);
    if (earlier === undefined) return this.#begin(name, { fingerprint, key }, handle).join(caller);
    if (earlier.fingerprint !== fingerprint) throw keyOfAnotherRequest(key);
    return earlier.call.join(caller);
  }

  #begin(
    name: string,
    { fingerprint, key }: Pick<KeyedCall<Context>, "fingerprint" | "key">,
    handle: (signal: AbortSignal) => unknown,
  ): SharedCall {
    const call = shareCall(handle, () => callCutOff(key));
    const entry: Remembered = { fingerprint, call, expiresAtMs: this.#now() + keptMs, bytes: 0 };
    this.#remembered.set(name, entry);
    call.answer.then(
      (value) => {
        entry.bytes = sizeOf(value);
        this.#bytes += entry.bytes;
        this.#evict();
      },
      (error: unknown) => {
        if (!isLasting(error)) this.#forget(name);
      },
    );
    return call;
  }

  #evict(): void {
    for (const [name, { call, expiresAtMs }] of this.#remembered) {
      const fits = this.#remembered.size <= maxIdempotencyKeys && this.#bytes <= maxIdempotencyBytes;
      if (fits && expiresAtMs > this.#now()) return;
      // Keeps the key of a running call, so that a repetition does not start the work twice.
      if (!call.running) this.#forget(name);
    }
  }

  #forget(name: string): void {
    this.#bytes -= this.#remembered.get(name)?.bytes ?? 0;
    this.#remembered.delete(name);
  }
}

/** Approximate bytes of a JSON value, counted without serialising it. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  let bytes = 8;
  for (const [name, item] of Object.entries(value)) bytes += name.length + sizeOf(item);
  return bytes;
}

function callCutOff(key: string): ServiceError {
  return new ServiceError(
    409,
    "call_cut_off",
    `The call with Idempotency-Key ${JSON.stringify(key)} was stopped before its end: its connection was lost, and it was not sent again within ${String(callerGraceMs / 1000)} s. Part of it may have taken effect.`,
    { hint: "Check which parts succeeded, and send the rest with a new key." },
  );
}
