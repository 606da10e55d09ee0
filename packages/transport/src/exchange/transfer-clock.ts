import type { CallBounds } from "../request/plan.ts";
import { clearDeadline, moveDeadline, type Deadline } from "./deadlines.ts";
import { timeoutError } from "./failures.ts";

/** Limits the time without progress of a transfer, after ky's part or next to it. `end` must be called. */
export class TransferClock implements Deadline {
  /** {@inheritDoc Deadline.at} */
  at = Infinity;
  readonly #bounds: CallBounds;
  readonly #controller = new AbortController();
  readonly #onAbort: (() => void) | undefined;
  #limitMs = Infinity;
  #isTotal = false;
  #waitingFor: string | (() => string) = "";
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

  /** Aborted with the caller's reason, or with a `TimeoutError`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }
  /** Restarts the timer. With `Infinity` only the call's total time counts. @param waitingFor - ends the message of the `TimeoutError`. */
  limit(limitMs: number, waitingFor: string | (() => string)): void {
    const { totalTimeoutMs = Infinity, startedAt } = this.#bounds;
    const leftMs =
      totalTimeoutMs === Infinity ? Infinity : Math.max(0, totalTimeoutMs - (performance.now() - startedAt));
    this.#waitingFor = waitingFor;
    this.#isTotal = leftMs < limitMs;
    this.#limitMs = this.#isTotal ? totalTimeoutMs : limitMs;
    moveDeadline(this, Math.min(limitMs, leftMs));
  }
  late(): void {
    const waitingFor = typeof this.#waitingFor === "string" ? this.#waitingFor : this.#waitingFor();
    const ms = this.#limitMs;
    this.abort(
      timeoutError(this.#bounds.operation, waitingFor, this.#isTotal ? { totalTimeoutMs: ms } : { timeoutMs: ms }),
    );
  }
  abort(reason: unknown): void {
    this.#controller.abort(reason);
    this.#interrupt?.();
  }
  /** Replaces the function that an abort calls. Cheaper than a listener, which each chunk would add and remove. */
  whenAborted(interrupt: (() => void) | undefined): void {
    this.#interrupt = interrupt;
  }
  end(): void {
    clearDeadline(this);
    if (this.#onAbort !== undefined) this.#bounds.signal?.removeEventListener("abort", this.#onAbort);
  }
}
