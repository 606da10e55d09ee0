import type { Change, Database } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import { sql } from "kysely";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../../log/log.ts";
import type { SessionView } from "./running-session.ts";
import type { Sessions } from "./sessions.ts";

/** Servers end their sessions within milliseconds; this also covers a lost connection for changes. */
const patienceMs = 10_000;
const pollMs = 50;

/** The sessions that invocations of apps started. Each server ends its own, when the invocation's row says so. */
export class InvokedSessions {
  readonly #query: Database["query"];
  readonly #sessions: Sessions;
  readonly #serverId: string;
  readonly #log: Log;
  readonly #unlisten: () => void;

  constructor(parts: {
    readonly database: Database;
    readonly sessions: Sessions;
    readonly serverId: string;
    readonly log: Log;
  }) {
    this.#query = parts.database.query;
    this.#sessions = parts.sessions;
    this.#serverId = parts.serverId;
    this.#log = parts.log;
    this.#unlisten = parts.database.onChange((change) => {
      this.#onChange(change);
    });
  }

  close(): void {
    this.#unlisten();
  }

  /** The running sessions, oldest first. */
  async list(invocationId: string): Promise<SessionView[]> {
    const rows = await this.#active(invocationId).selectAll().orderBy("created_at").orderBy("id").execute();
    return this.#sessions.views(rows);
  }

  /** Ends the running sessions on every server. Resolves when their rows have ended. @throws {ServiceError} 503 */
  async end(invocationId: string): Promise<void> {
    const { numUpdatedRows } = await this.#query
      .updateTable("sessions")
      .set({ invocation_over: true })
      .where("invocation_id", "=", invocationId)
      .where("ended_at", "is", null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return;
    await sql`select pg_notify('shoal_changes', ${`invocations:${invocationId}`})`.execute(this.#query);
    await this.#endHere(invocationId);
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const [left] = await this.#active(invocationId).select("server_id").where("invocation_over", "=", true).execute();
      if (left === undefined) return;
      if (performance.now() > deadline)
        throw new ServiceError(
          503,
          "server_unreachable",
          `Server ${left.server_id} has not ended the browsers of invocation ${invocationId} yet.`,
          { hint: "Repeat the request.", retryAfterSeconds: 2 },
        );
      await delay(pollMs);
    }
  }

  #active(invocationId: string) {
    return this.#query.selectFrom("sessions").where("invocation_id", "=", invocationId).where("ended_at", "is", null);
  }

  #onChange(change: Change | undefined): void {
    if (change !== undefined && change.table !== "invocations") return;
    const known = this.#sessions.invocations();
    for (const id of change === undefined ? known : known.has(change.id) ? [change.id] : [])
      this.#endHere(id).catch((error: unknown) => {
        this.#log.warn({ invocation_id: id, err: error }, "the sessions of an invocation could not be ended");
      });
  }

  async #endHere(invocationId: string): Promise<void> {
    const rows = await this.#query
      .selectFrom("sessions")
      .innerJoin("invocations", "invocations.id", "sessions.invocation_id")
      .select("sessions.id")
      .where("invocation_id", "=", invocationId)
      .where("sessions.server_id", "=", this.#serverId)
      .where("ended_at", "is", null)
      .where((where) => where.or([where("invocation_over", "=", true), where("invocations.status", "=", "failed")]))
      .execute();
    await Promise.all(rows.map(({ id }) => this.#sessions.endInvoked(id)));
  }
}
