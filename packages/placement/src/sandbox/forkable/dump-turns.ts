import { PlacementError } from "../../interface/placement-error.ts";

export interface DumpTurnsOptions {
  /** At a time, of all projects; each has one of them. */
  readonly maxRunning: number;
  /** Of one project. */
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
  /** For a caller that gets no turn: the longest time of one dump. */
  readonly retryAfterSeconds: number;
}

interface Waiting {
  readonly start: () => void;
}

/** Lets dumps take turns, so that slow ones of one project delay no other project. */
export class DumpTurns {
  readonly #options: DumpTurnsOptions;
  readonly #running = new Set<string>();
  /** By project; the project that had a turn last is the last one. */
  readonly #waiting = new Map<string, Set<Waiting>>();

  constructor(options: DumpTurnsOptions) {
    this.#options = options;
  }

  /** @throws {PlacementError} `no_capacity`, if the project has too many waiting dumps, or its turn takes too long. */
  async run<T>(project: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#isFree(project)) this.#running.add(project);
    else await this.#wait(project, signal);
    try {
      return await work();
    } finally {
      this.#running.delete(project);
      this.#startNext();
    }
  }

  #isFree(project: string): boolean {
    return this.#running.size < this.#options.maxRunning && !this.#running.has(project);
  }

  async #wait(project: string, signal?: AbortSignal): Promise<void> {
    const { maxWaitMs, maxWaiting } = this.#options;
    const waiting = this.#waiting.get(project) ?? new Set();
    if (waiting.size >= maxWaiting) throw this.#refusal();
    const turn = Promise.withResolvers<void>();
    const own = { start: turn.resolve };
    // Removed at once: the promise continues later, and a dump that ends meanwhile must not give it the turn.
    const leave = (reason: unknown): void => {
      if (waiting.delete(own)) turn.reject(reason);
    };
    const late = setTimeout(() => {
      leave(this.#refusal());
    }, maxWaitMs);
    const stop = (): void => {
      leave(signal?.reason);
    };
    signal?.addEventListener("abort", stop, { once: true });
    this.#waiting.set(project, waiting.add(own));
    try {
      await turn.promise;
    } finally {
      clearTimeout(late);
      signal?.removeEventListener("abort", stop);
      waiting.delete(own);
      if (waiting.size === 0 && this.#waiting.get(project) === waiting) this.#waiting.delete(project);
    }
  }

  #startNext(): void {
    for (const [project, waiting] of [...this.#waiting]) {
      if (!this.#isFree(project)) continue;
      const [next] = waiting;
      if (next === undefined) continue;
      // Taken at once: the promise continues later.
      this.#running.add(project);
      waiting.delete(next);
      this.#waiting.delete(project);
      if (waiting.size > 0) this.#waiting.set(project, waiting);
      next.start();
    }
  }

  #refusal(): PlacementError {
    const { retryAfterSeconds } = this.#options;
    return new PlacementError(
      "no_capacity",
      `Other sessions are being copied. Try again in ${String(retryAfterSeconds)} seconds.`,
      { retryAfterSeconds },
    );
  }
}
