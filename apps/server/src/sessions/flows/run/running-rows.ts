/** The rows of a project that run at the same time; rows that wait for a person do not count. */
export class RunningRows {
  readonly #most: number;
  #running = 0;
  readonly #line = new Set<() => void>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Waits for a place, until {@link RunningRows.leave}. @throws the reason of the signal, without a place. */
  async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#running < this.#most) {
      this.#running += 1;
      return;
    }
    const { promise, reject, resolve } = Promise.withResolvers<undefined>();
    const giveUp = (): void => {
      this.#line.delete(admit);
      reject(signal.reason as Error);
    };
    const admit = (): void => {
      signal.removeEventListener("abort", giveUp);
      resolve(undefined);
    };
    this.#line.add(admit);
    signal.addEventListener("abort", giveUp, { once: true });
    await promise;
  }

  /** The row ends, or waits for a person. */
  leave(): void {
    this.#running -= 1;
    const [next] = this.#line;
    if (next === undefined || this.#running >= this.#most) return;
    this.#line.delete(next);
    this.#running += 1;
    next();
  }

  /** The row goes on after a wait: at once, because its browser ends when it is idle. New rows wait longer then. */
  goOn(): void {
    this.#running += 1;
  }
}
