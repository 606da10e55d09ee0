/** A younger measurement is reused: the interval would be too short for a share. */
const freshMs = 100;

/** Percent of one processor between two measurements. */
export class CpuShare {
  #last: { readonly atMs: number; readonly cpuMs: number };
  #percent: number | undefined;

  /** @param startedMs - start of the first period, on the clock of `performance.now()`, which begins with the program. */
  constructor(startedMs: number = performance.now()) {
    this.#last = { atMs: startedMs, cpuMs: 0 };
  }

  /** @param cpuMs - processor time so far; an ended child may make it smaller, or count twice for a moment. */
  measure(cpuMs: number): number {
    const now = performance.now();
    const elapsedMs = now - this.#last.atMs;
    if (this.#percent === undefined || elapsedMs >= freshMs) {
      this.#percent = Math.round((Math.max(0, cpuMs - this.#last.cpuMs) / Math.max(1, elapsedMs)) * 1000) / 10;
      this.#last = { atMs: now, cpuMs };
    }
    return this.#percent;
  }
}
