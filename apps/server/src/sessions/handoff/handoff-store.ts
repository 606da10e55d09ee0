import type { Database, Tables } from "@shoal/database";
import { createId } from "@shoal/primitives";
import type { RequestHandoff } from "@shoal/schemas";
import { type Selectable, sql } from "kysely";
import type * as z from "zod/mini";

export type HandoffRow = Selectable<Tables["handoffs"]>;
export type HandoffEnd = Pick<HandoffRow, "status" | "released_by" | "note">;

/** Ended handoffs of running and ended sessions. */
const keptDays = 30;

/** Without parameters: PostgreSQL finds the index of a prepared statement only by constants. */
const hasActive = sql<boolean>`status in ('requested', 'taken')`;

export function isActive({ status }: Pick<HandoffRow, "status">): boolean {
  return status === "requested" || status === "taken";
}

/** Uses the clock of the database, so that all servers agree about deadlines. */
export class HandoffStore {
  readonly #database: Pick<Database, "query">;

  constructor(database: Pick<Database, "query">) {
    this.#database = database;
  }

  /** @returns `undefined` if the session has an active one. */
  async insert(
    session: { readonly id: string; readonly project_id: string },
    keyId: string,
    { label, message, on_automation, timeout_seconds }: z.output<typeof RequestHandoff>,
  ): Promise<HandoffRow | undefined> {
    await this.expireDue();
    return this.#database.query
      .insertInto("handoffs")
      .values({
        id: createId(),
        project_id: session.project_id,
        session_id: session.id,
        key_id: keyId,
        message,
        on_automation,
        label: label ?? null,
        created_at: sql<string>`clock_timestamp()`,
        expires_at: sql<string>`clock_timestamp() + make_interval(secs => ${timeout_seconds})`,
      })
      .onConflict((conflict) => conflict.column("session_id").where(hasActive).doNothing())
      .returningAll()
      .executeTakeFirst();
  }

  find(id: string): Promise<HandoffRow | undefined> {
    return this.#database.query.selectFrom("handoffs").selectAll().where("id", "=", id).executeTakeFirst();
  }

  /** @returns the rest of its time as well, which is not negative. */
  findTimed(id: string): Promise<(HandoffRow & { readonly remaining_ms: number }) | undefined> {
    return this.#database.query
      .selectFrom("handoffs")
      .selectAll()
      .select(
        sql<number>`greatest(0, ceil(extract(epoch from expires_at - clock_timestamp()) * 1000))::int`.as(
          "remaining_ms",
        ),
      )
      .where("id", "=", id)
      .executeTakeFirst();
  }

  /** Without one whose deadline has passed. */
  active(sessionId: string): Promise<HandoffRow | undefined> {
    return this.#database.query
      .selectFrom("handoffs")
      .selectAll()
      .where("session_id", "=", sessionId)
      .where("status", "in", ["requested", "taken"])
      .where("expires_at", ">", sql<string>`clock_timestamp()`)
      .executeTakeFirst();
  }

  /** The latest one of a session. */
  latest(sessionId: string): Promise<HandoffRow | undefined> {
    return this.#database.query
      .selectFrom("handoffs")
      .selectAll()
      .where("session_id", "=", sessionId)
      .orderBy("created_at", "desc")
      .orderBy("id")
      .limit(1)
      .executeTakeFirst();
  }

  /** @returns `undefined` unless it was waiting for the person. */
  take(id: string): Promise<HandoffRow | undefined> {
    return this.#database.query
      .updateTable("handoffs")
      .set({ status: "taken", taken_at: sql<string>`clock_timestamp()` })
      .where("id", "=", id)
      .where("status", "=", "requested")
      .where("expires_at", ">", sql<string>`clock_timestamp()`)
      .returningAll()
      .executeTakeFirst();
  }

  /** @returns `undefined` if it has ended already. */
  end(id: string, end: HandoffEnd): Promise<HandoffRow | undefined> {
    return this.#database.query
      .updateTable("handoffs")
      .set({ ...end, ended_at: sql<string>`clock_timestamp()` })
      .where("id", "=", id)
      .where("status", "in", ["requested", "taken"])
      .returningAll()
      .executeTakeFirst();
  }

  /** Also those of servers that were killed. */
  async expireDue(): Promise<void> {
    await this.#database.query
      .updateTable("handoffs")
      .set({ status: "expired", ended_at: sql<string>`clock_timestamp()` })
      .where("status", "in", ["requested", "taken"])
      .where("expires_at", "<=", sql<string>`clock_timestamp()`)
      .execute();
  }

  async sweep(): Promise<void> {
    await this.#database.query
      .deleteFrom("handoffs")
      .where("ended_at", "<", sql<string>`clock_timestamp() - make_interval(days => ${keptDays})`)
      .execute();
  }
}
