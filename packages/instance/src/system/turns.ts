import pLimit, { type LimitFunction } from "p-limit";
import pTimeout from "p-timeout";

export interface TurnsOptions {
  readonly running: number;
  readonly waiting: number;
}

/** Limits how many tasks run at once; further tasks wait in the order of their calls. */
export class Turns {
  readonly #most: number;
  readonly #limit: LimitFunction;
  #count = 0;

  constructor({ running, waiting }: TurnsOptions) {
    this.#most = running + waiting;
    this.#limit = pLimit(running);
  }

  /** Whether no further task may wait. */
  get isFull(): boolean {
    return this.#count >= this.#most;
  }

  get isIdle(): boolean {
    return this.#count === 0;
  }

  /** Returns a function that ends the turn. @throws the signal's reason when it is aborted first. */
  async take(signal: AbortSignal): Promise<() => void> {
    const turn = Promise.withResolvers<() => void>();
    this.#count++;
    void this.#limit(
      () =>
        new Promise<void>((end) => {
          turn.resolve(end);
        }),
    );
    try {
      const end = await pTimeout(turn.promise, { milliseconds: Infinity, signal });
      return () => {
        this.#count--;
        end();
      };
    } catch (error) {
      this.#count--;
      void turn.promise.then((end) => {
        end();
      });
      throw error;
    }
  }
}
