/** Wakes one waiter. A ring while nothing waits wakes the next wait at once. */
export class Bell {
  #isRung = false;
  #wake: (() => void) | undefined;

  /** Wakes the waiter, or the next one. */
  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  /** @returns whether it rang within `ms` milliseconds. */
  async wait(ms: number): Promise<boolean> {
    if (!this.#isRung) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ms);
      this.#wake = resolve;
      await promise;
      clearTimeout(timer);
      this.#wake = undefined;
    }
    const isRung = this.#isRung;
    this.#isRung = false;
    return isRung;
  }
}
