export class Pace {
  readonly #burst: number;
  readonly #perSecond: number;
  #left: number;
  #atMs = performance.now();

  constructor(options: { readonly burst: number; readonly perSecond: number }) {
    this.#burst = options.burst;
    this.#perSecond = options.perSecond;
    this.#left = options.burst;
  }

  /** Returns the milliseconds to wait before reading more; 0 within the burst. */
  spend(amount: number): number {
    const now = performance.now();
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#atMs) / 1000) * this.#perSecond) - amount;
    this.#atMs = now;
    return this.#left >= 0 ? 0 : (-this.#left / this.#perSecond) * 1000;
  }
}
