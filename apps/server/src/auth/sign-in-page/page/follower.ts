import { type Api, type Connection, Refused } from "./api.ts";

export interface FollowerEvents {
  changed(connection: Connection): void;
  /** The connection to the service is lost; the page tries again. */
  offline(): void;
  /** The token is invalid or has expired. */
  expired(): void;
}

const pollMs = 2_000;

/** Shows the state of the login: at each event, and every two seconds without an event stream. */
export class Follower {
  readonly #api: Api;
  readonly #events: FollowerEvents;
  readonly #stop = new AbortController();
  #isStreaming = false;
  #looking: Promise<void> | undefined;
  #isStale = false;

  constructor(api: Api, events: FollowerEvents) {
    this.#api = api;
    this.#events = events;
  }

  start(): void {
    void this.#stream();
    void this.#poll();
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Reads the state now. Calls meanwhile cause one more reading. */
  look(): Promise<void> {
    this.#isStale = true;
    this.#looking ??= this.#lookWhileStale().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** A function, so that TypeScript does not narrow across the `await`. */
  #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #lookWhileStale(): Promise<void> {
    while (this.#isStale && !this.#isStopped()) {
      this.#isStale = false;
      try {
        const connection = await this.#api.connection();
        if (!this.#isStopped()) this.#events.changed(connection);
      } catch (error) {
        this.#failed(error);
      }
    }
  }

  #failed(error: unknown): void {
    if (this.#isStopped()) return;
    if (error instanceof Refused && [401, 404, 410].includes(error.status)) {
      this.stop();
      this.#events.expired();
    } else this.#events.offline();
  }

  async #stream(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#api.follow(() => {
          this.#isStreaming = true;
          void this.look();
        }, signal);
      } catch {
        // Polling continues meanwhile, and reports lasting problems.
      }
      this.#isStreaming = false;
      await pause(5 * pollMs, signal);
    }
  }

  async #poll(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      if (!this.#isStreaming) await this.look();
      await pause(pollMs, signal);
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
