import type { Log } from "../../log/log.ts";
import { Lookout } from "../../work/lookout.ts";
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
  readonly #lookout: Lookout;

  constructor(parts: InvocationQueueParts) {
    this.#parts = parts;
    this.#lookout = new Lookout({
      everyMs: lookEveryMs,
      look: () => this.#take(),
      log: parts.log,
      problem: "waiting invocations could not be taken",
    });
  }

  look(): void {
    this.#lookout.look();
  }

  close(): Promise<void> {
    return this.#lookout.close();
  }

  async #take(): Promise<void> {
    const { hasRoom, limits, serverId, start, store } = this.#parts;
    if (!(await store.hasWaiting())) return;
    while (!this.#lookout.isClosed && hasRoom()) {
      const row = await store.take(serverId, limits);
      if (row === undefined) return;
      start(row);
    }
  }
}
