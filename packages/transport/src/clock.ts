import { clearDeadline, moveDeadline, type Deadline } from "./deadlines.ts";
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
export class AttemptClock implements Deadline {
  /** {@inheritDoc Deadline.at} */
  at = Infinity;
  readonly #bounds: CallBounds;
  readonly #controller = new AbortController();
  readonly #onAbort: (() => void) | undefined;
  #limitMs = Infinity;
  /** Whether it is the call's total time that runs out first. */
  #total = false;
  #doing: string | (() => string) = "";
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
  /** Starts the timer anew. With `Infinity` only the call's total time counts. `doing` ends the message "… within 60000 ms: ". */
  limit(limitMs: number, doing: string | (() => string)): void {
    this.#doing = doing;
    this.#limitMs = limitMs;
    this.#total = false;
    let ms = limitMs;
    const { totalTimeoutMs, startedAt } = this.#bounds;
    if (totalTimeoutMs !== undefined) {
      const leftMs = Math.max(0, totalTimeoutMs - (performance.now() - startedAt));
      if (leftMs < limitMs) {
        this.#total = true;
        this.#limitMs = totalTimeoutMs;
        ms = leftMs;
      }
    }
    moveDeadline(this, ms);
  }
  /** Time is up. */
  late(): void {
    const what = typeof this.#doing === "string" ? this.#doing : this.#doing();
    const limit = `after ${this.#limitMs} ms${this.#total ? " in all" : ""}`;
    this.abort(
      new TimeoutError(
        `${this.#bounds.operation} timed out ${limit}: ${what}. Raise ${this.#total ? "totalTimeoutMs" : "timeoutMs"} if it needs longer.`,
        this.#limitMs,
      ),
    );
  }
  /** Stops the timer; the caller's signal still counts. */
  unlimited(): void {
    clearDeadline(this);
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
    clearDeadline(this);
    if (this.#onAbort !== undefined) this.#bounds.signal?.removeEventListener("abort", this.#onAbort);
  }
}

/** Waits. Rejects with the reason of `signal` when that is aborted first. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = () => {
      clearTimeout(timer);
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the caller's own reason, whatever it is
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
