import type { Log } from "../../../log/log.ts";
import type { SessionRunner } from "../session-runner.ts";
import type { SessionStore } from "../session-store.ts";

export interface ForgottenRowsParts {
  readonly runner: Pick<SessionRunner, "sessions" | "unwritten">;
  readonly store: Pick<SessionStore, "end" | "runningOf">;
  readonly serverId: string;
  readonly log: Log;
}

/** Ends rows of sessions that no longer run on this server. An outage of the database may outlast the retries of a write. */
export class ForgottenRows {
  readonly #parts: ForgottenRowsParts;
  #suspects: ReadonlySet<string> = new Set();

  constructor(parts: ForgottenRowsParts) {
    this.#parts = parts;
  }

  /** Ends a row that two consecutive looks found without its session. Browsers of pools are the keeper's. */
  async look(): Promise<void> {
    const { log, runner, serverId, store } = this.#parts;
    for (const [id, write] of [...runner.unwritten]) {
      await write();
      runner.unwritten.delete(id);
    }
    const lost = (await store.runningOf(serverId)).filter((id) => !runner.sessions.has(id));
    const before = this.#suspects;
    this.#suspects = new Set(lost);
    for (const id of lost) {
      if (!before.has(id)) continue;
      await store.end(id, new Date().toISOString(), "instance_lost");
      log.warn({ session_id: id }, "ended a row as instance_lost: its session does not run on this server");
    }
  }
}
