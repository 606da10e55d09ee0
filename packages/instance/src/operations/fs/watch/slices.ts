import { Fifo } from "./fifo.ts";

const sliceMs = 8;

/** Runs small synchronous jobs in order, in slices that leave the event loop free in between. */
export class Slices<Job> {
  readonly #run: (job: Job) => void;
  readonly #afterSlice: () => void;
  readonly #jobs = new Fifo<Job>();
  readonly #followUps = new Fifo<Job>();
  #scheduled = false;

  /** @param run - must not throw. */
  constructor(run: (job: Job) => void, afterSlice: () => void) {
    this.#run = run;
    this.#afterSlice = afterSlice;
  }

  push(job: Job): void {
    this.#jobs.push(job);
    this.wake();
  }

  /** Adds a job at the front, to finish a job with its consequences before the next one. */
  pushFollowUp(job: Job): void {
    this.#followUps.push(job);
    this.wake();
  }

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

/** Resolves when all file events that are in the kernel's queue now were read. */
export async function systemEventsRead(): Promise<void> {
  // The queue is read in the poll phase, which is between two check phases.
  for (let phase = 0; phase < 2; phase++) await new Promise((resolve) => setImmediate(resolve));
}
