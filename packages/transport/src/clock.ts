import { clearDeadline, setDeadline, type Deadline } from "./deadlines.ts";
import { TimeoutError } from "./errors.ts";

/** What bounds a call: the caller's signal and the time for all of its attempts. */
export interface CallBounds {
  /** For messages: `profiles.get`. */
  readonly operation: string;
  readonly signal: AbortSignal | undefined;
  readonly totalTimeoutMs: number | undefined;
  /** When the call began, by `performance.now()`. */
  readonly startedAt: number;
}

/** Watches over one attempt. One timer runs at a time; `end` must be called. */
export class AttemptClock {
  readonly #bounds: CallBounds;
  readonly #controller = new AbortController();
  readonly #onAbort: (() => void) | undefined;
  #deadline: Deadline | undefined;
  #interrupt: (() => void) | undefined;

  constructor(bounds: CallBounds) {
    this.#bounds = bounds;
    const { signal } = bounds;
    if (signal === undefined) return;
    this.#onAbort = () => {
      this.abort(signal.reason);
    };
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Aborted with the caller's reason, or with a {@link TimeoutError}. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }
  /** Starts the timer anew. Without a limit only the call's total time counts. `doing` ends the message "… within 60000 ms: ". */
  limit(limitMs: number | undefined, doing: string | (() => string)): void {
    clearDeadline(this.#deadline);
    const { totalTimeoutMs, startedAt, operation } = this.#bounds;
    const leftMs = totalTimeoutMs === undefined ? undefined : Math.max(0, totalTimeoutMs - (performance.now() - startedAt));
    const total = leftMs !== undefined && (limitMs === undefined || leftMs < limitMs);
    const ms = total ? leftMs : limitMs;
    if (ms === undefined || ms === Infinity) return;
    this.#deadline = setDeadline(ms, () => {
      const what = typeof doing === "string" ? doing : doing();
      const shownMs = total ? (totalTimeoutMs ?? ms) : ms;
      this.abort(new TimeoutError(`${operation} timed out after ${shownMs} ms${total ? " in all" : ""}: ${what}. Raise ${total ? "totalTimeoutMs" : "timeoutMs"} if it needs longer.`, shownMs));
    });
  }
  /** Stops the timer; the caller's signal still counts. */
  unlimited(): void {
    clearDeadline(this.#deadline);
  }
  /** Aborts the attempt. */
  abort(reason: unknown): void {
    this.#controller.abort(reason);
    this.#interrupt?.();
  }
  /** Calls a function when the attempt is aborted, in place of the one before it: a listener on a signal costs more than a call's checks. */
  whenAborted(interrupt: (() => void) | undefined): void {
    this.#interrupt = interrupt;
  }
  /** Stops the timer and lets go of the caller's signal. */
  end(): void {
    clearDeadline(this.#deadline);
    if (this.#onAbort !== undefined) this.#bounds.signal?.removeEventListener("abort", this.#onAbort);
  }
}

/** Waits. Rejects with the reason of `signal` when that is aborted first. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = () => {
      clearTimeout(timer);
      // The caller's own reason, whatever it is.
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
