import type { Log } from "../../log/log.ts";
import type { InvocationLimits } from "../../storage/errors/invocation-limits.ts";
import type { InvocationRow, InvocationStore } from "./invocation-store.ts";

/** Covers retries that become due, ends on other servers, and lost notifications. */
const lookEveryMs = 1_000;

export interface InvocationQueueParts {
  readonly store: Pick<InvocationStore, "hasWaiting" | "take">;
  readonly serverId: string;
  readonly limits: InvocationLimits;
  /** Whether this server can run one more. */
  readonly hasRoom: () => boolean;
  readonly start: (row: InvocationRow) => void;
  readonly log: Log;
}

/** Takes waiting invocations in their order; each runs on the server that takes it first. */
export class InvocationQueue {
  readonly #parts: InvocationQueueParts;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;
  #again = false;
  #isClosed = false;

  constructor(parts: InvocationQueueParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => {
      this.look();
    }, lookEveryMs);
  }

  look(): void {
    if (this.#isClosed) return;
    this.#again = this.#looking !== undefined;
    this.#looking ??= this.#take()
      .catch((error: unknown) => {
        this.#parts.log.warn({ err: error }, "waiting invocations could not be taken");
      })
      .finally(() => {
        this.#looking = undefined;
        if (this.#again) this.look();
      });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #take(): Promise<void> {
    const { hasRoom, limits, serverId, start, store } = this.#parts;
    if (!(await store.hasWaiting())) return;
    while (!this.#isClosed && hasRoom()) {
      const row = await store.take(serverId, limits);
      if (row === undefined) return;
      start(row);
    }
  }
}
