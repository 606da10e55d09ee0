import { isLasting } from "@shoal/router";

/** How long work goes on that nobody waits for, in milliseconds: a client that has lost its connection comes back within 4 s at its first retries. */
export const callerGraceMs = 5_000;

/** Work that several callers may wait for, and that outlives the last of them by {@link callerGraceMs}. */
export interface SharedCall {
  /** Whether it has not ended yet. */
  readonly running: boolean;
  /** What the work gives. Rejects with what the work does, or with what `cutOff` made where it was stopped for want of callers. */
  readonly answer: Promise<unknown>;
  /**
   * Waits for the answer.
   *
   * @param caller - aborted when the one who waits leaves.
   * @throws the reason of `caller` when that leaves before.
   */
  join(caller: AbortSignal): Promise<unknown>;
}

/**
 * Begins work at once; somebody is expected to join it in the same turn of the event loop.
 *
 * @param work - is to reject when its signal is aborted, unless it has been done all the same. A refusal that lasts is told as it is.
 * @param cutOff - makes what further callers get of work that was stopped.
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
  // It may fail while nobody waits.
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
            stop.abort(new Error("Nobody has come back for the answer."));
          }, callerGraceMs).unref();
        }
      }
    },
  };
}
