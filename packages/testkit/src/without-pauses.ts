const lookEveryMs = 5;

/**
 * Runs `work`, and runs it again after a run in which this thread paused for longer than `limitMs`. For parts whose timers
 * run in the thread of the test: after a pause, a timer ends before bytes that had arrived earlier are read, so neither a
 * success nor a failure of this run says anything.
 * @throws {unknown} the error of a run without a long pause.
 */
export async function withoutPauses<T>(limitMs: number, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const pauses = new Pauses();
    try {
      const value = await work();
      if (pauses.end() <= limitMs) return value;
    } catch (error) {
      if (pauses.end() <= limitMs) throw error;
    }
  }
}

/** Measures the longest time between two looks of a timer. */
class Pauses {
  readonly #timer = setInterval(() => {
    this.#look();
  }, lookEveryMs);
  #lookedMs = performance.now();
  #longestMs = 0;

  #look(): void {
    const nowMs = performance.now();
    this.#longestMs = Math.max(this.#longestMs, nowMs - this.#lookedMs);
    this.#lookedMs = nowMs;
  }

  end(): number {
    clearInterval(this.#timer);
    this.#look();
    return this.#longestMs;
  }
}
