import type { SessionOptions } from "../options/session-options.ts";

type Timeouts = Pick<SessionOptions, "connect_timeout_seconds" | "disconnect_timeout_seconds">;

/** Counts the CDP and BiDi clients of a session, and calls `onAbsent` when none came in time or all have left. */
export class ClientPresence {
  readonly #timeouts: () => Timeouts;
  readonly #onAbsent: () => void;
  #clients = 0;
  #hasCome = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(timeouts: () => Timeouts, onAbsent: () => void) {
    this.#timeouts = timeouts;
    this.#onAbsent = onAbsent;
    this.#wait(timeouts().connect_timeout_seconds);
  }

  /** @returns ends the count of this client; only the first call counts. */
  enter(): () => void {
    this.#clients += 1;
    this.#hasCome = true;
    clearTimeout(this.#timer);
    let isHere = true;
    return () => {
      if (!isHere) return;
      isHere = false;
      this.#clients -= 1;
      this.look();
    };
  }

  /** Begins the wait after the last client; also after a change of its timeout. */
  look(): void {
    // The wait for the first client has its own timeout.
    if (!this.#hasCome && this.#timeouts().connect_timeout_seconds !== undefined) return;
    clearTimeout(this.#timer);
    if (this.#clients === 0) this.#wait(this.#timeouts().disconnect_timeout_seconds);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #wait(seconds: number | undefined): void {
    if (seconds === undefined || this.#isClosed) return;
    this.#timer = setTimeout(this.#onAbsent, seconds * 1000).unref();
  }
}
