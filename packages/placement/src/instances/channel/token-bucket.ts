/** Allows `burst` tokens at once, then one every `everyMs` milliseconds. */
export class TokenBucket {
  readonly #burst: number;
  readonly #everyMs: number;
  #tokens: number;
  #countedAtMs = performance.now();

  constructor(burst: number, everyMs: number) {
    this.#burst = burst;
    this.#everyMs = everyMs;
    this.#tokens = burst;
  }

  take(): boolean {
    const now = performance.now();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#countedAtMs) / this.#everyMs);
    this.#countedAtMs = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
