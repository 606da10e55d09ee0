import { Fifo } from "./fifo.ts";

/** How long one slice may keep the event loop. */
const sliceMs = 8;

/** Does many small synchronous jobs in order, in slices between which the event loop is free. */
export class Slices<Job> {
  readonly #run: (job: Job) => void;
  readonly #afterSlice: () => void;
  readonly #jobs = new Fifo<Job>();
  readonly #followUps = new Fifo<Job>();
  #scheduled = false;

  /**
   * @param run - does a job; must not throw.
   * @param afterSlice - called at the end of each slice.
   */
  constructor(run: (job: Job) => void, afterSlice: () => void) {
    this.#run = run;
    this.#afterSlice = afterSlice;
  }

  /** After all that was queued before. */
  push(job: Job): void {
    this.#jobs.push(job);
    this.wake();
  }

  /** Before all others, so that a job is done with what follows from it before the next begins. */
  pushFollowUp(job: Job): void {
    this.#followUps.push(job);
    this.wake();
  }

  /** Has a slice, be it an empty one, run soon. */
  wake(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#slice);
  }

  readonly #slice = (): void => {
    const until = performance.now() + sliceMs;
    for (let count = 1; ; count++) {
      const job = this.#followUps.shift() ?? this.#jobs.shift();
      if (job === undefined) break;
      this.#run(job);
      if (count % 32 === 0 && performance.now() > until) break;
    }
    this.#scheduled = false;
    if (this.#followUps.length + this.#jobs.length > 0) this.wake();
    this.#afterSlice();
  };
}

/** Resolves when the kernel's queue of file events has been read to the end that it had at the call. */
export async function systemEventsRead(): Promise<void> {
  // The queue is read in the poll phase, which lies between two check phases.
  for (let phase = 0; phase < 2; phase++) await new Promise((resolve) => setImmediate(resolve));
}
