import type { Log } from "../log/log.ts";

export interface LookoutOptions {
  /** Work also becomes due by time, and notifications may get lost. */
  readonly everyMs: number;
  /** Takes due work until none is left or no room is free. */
  readonly look: () => Promise<unknown>;
  readonly log: Pick<Log, "warn">;
  /** For the log, when a look fails. */
  readonly problem: string;
}

/** Looks for due work regularly and on request. A request during a look causes one more. */
export class Lookout {
  readonly #options: LookoutOptions;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;
  #again = false;
  #isClosed = false;

  constructor(options: LookoutOptions) {
    this.#options = options;
    this.#timer = setInterval(() => {
      this.look();
    }, options.everyMs);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  look(): void {
    if (this.#isClosed) return;
    this.#again = this.#looking !== undefined;
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined;
      if (this.#again) this.look();
    });
  }

  /** Waits for the look that runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#looking;
  }

  /** Never rejects. */
  async #lookOnce(): Promise<void> {
    const { log, look, problem } = this.#options;
    try {
      await look();
    } catch (error) {
      log.warn({ err: error }, problem);
    }
  }
}
