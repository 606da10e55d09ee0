import { isLasting } from "./idempotency.ts";

/** A client that loses its connection retries for the first time within 4 s. */
export const callerGraceMs = 5_000;

/** Work that several callers may wait for. It continues for {@link callerGraceMs} after the last caller leaves. */
export interface SharedCall {
  readonly running: boolean;
  /** Rejects with the error of the work, or with `cutOff()` if it was stopped for lack of callers. */
  readonly answer: Promise<unknown>;
  /** @param caller - aborted when the caller leaves; the call then rejects with its reason. */
  join(caller: AbortSignal): Promise<unknown>;
}

/**
 * Starts work. A caller must join it in the same turn of the event loop.
 * @param work - rejects when its signal is aborted, unless it completes anyway. Its final refusals are passed on.
 * @param cutOff - makes the error for later callers of stopped work.
 */
export function shareCall(work: (signal: AbortSignal) => unknown, cutOff: () => Error): SharedCall {
  const stop = new AbortController();
  let callers = 0;
  let grace: NodeJS.Timeout | undefined;
  let running = true;

  async function run(): Promise<unknown> {
    try {
      return await work(stop.signal);
    } catch (error) {
      throw stop.signal.aborted && !isLasting(error) ? cutOff() : error;
    } finally {
      running = false;
      clearTimeout(grace);
    }
  }
  const answer = run();
  // It may fail without a caller.
  answer.catch(() => undefined);

  return {
    get running() {
      return running;
    },
    answer,
    async join(caller) {
      caller.throwIfAborted();
      const left = Promise.withResolvers<never>();
      const leave = () => {
        left.reject(caller.reason);
      };
      caller.addEventListener("abort", leave, { once: true });
      callers++;
      clearTimeout(grace);
      try {
        return await Promise.race([answer, left.promise]);
      } finally {
        caller.removeEventListener("abort", leave);
        callers--;
        if (callers === 0 && running) {
          grace = setTimeout(() => {
            stop.abort(new Error("No caller came back for the answer."));
          }, callerGraceMs).unref();
        }
      }
    },
  };
}
