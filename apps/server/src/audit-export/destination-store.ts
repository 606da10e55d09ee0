import type { AuditExportDestinationsTable, Database } from "@shoal/database";
import { type Selectable, sql } from "kysely";
import { newestFirst } from "../paging.ts";

export type DestinationRow = Selectable<AuditExportDestinationsTable>;
export type DestinationChanges = Partial<Pick<DestinationRow, "bucket" | "prefix" | "region" | "role_arn" | "kms_key_id" | "status">>;

/** Entries of the log that become one object. */
export interface PendingObject {
  readonly first: number;
  readonly last: number;
  /** Without the prefix. */
  readonly name: string;
}

/** Destinations as rows: what people do with them, and what those who export note of their steps. */
export interface DestinationStore {
  /** @returns `undefined` when there are `max` already. */
  insert(
    row: Pick<DestinationRow, "id" | "bucket" | "prefix" | "region" | "role_arn" | "kms_key_id" | "external_id">,
    max: number,
  ): Promise<DestinationRow | undefined>;
  find(id: string): Promise<DestinationRow | undefined>;
  /** Newest first; one more than asked for when there are more. */
  list(window: { readonly limit: number; readonly offset: number }): Promise<DestinationRow[]>;
  /** @returns `undefined` when somebody else changed it since `row` was read, or it is gone. */
  update(row: DestinationRow, changes: DestinationChanges): Promise<DestinationRow | undefined>;
  delete(id: string): Promise<boolean>;

  /** Takes an active destination that is due and that nobody exports to, for a minute. */
  claim(): Promise<DestinationRow | undefined>;
  /** Notes which entries come next, before they are written. Each of these steps holds for another minute, and gives `undefined` when the destination was changed, paused, deleted or taken by another server. */
  begin(row: DestinationRow, object: PendingObject): Promise<DestinationRow | undefined>;
  /** Notes that they were written. */
  advance(row: DestinationRow, object: PendingObject): Promise<DestinationRow | undefined>;
  /** Lets go of it until it is looked at again. */
  finish(row: DestinationRow, afterMs: number): Promise<void>;
  /** The same after a failure. */
  fail(row: DestinationRow, failure: { readonly message: string; readonly afterMs: number }): Promise<void>;
  /** Lets go of it at once. */
  release(row: DestinationRow): Promise<void>;
  /** Forgets what this server held in an earlier run. */
  releaseAll(): Promise<void>;
}

/** Longer than all that happens between two steps: taking on the role, and writing one object. */
export const leaseMs = 90_000;

/** Key of the advisory lock of whoever adds one: "shoa", and "l" and 12. */
const adding = sql`select pg_advisory_xact_lock(1936223073, 27660)`;

const inMs = (ms: number) => sql<string>`clock_timestamp() + make_interval(secs => ${ms / 1000})`;

export function createDestinationStore({ query }: Database, serverId: string): DestinationStore {
  /** The row as this server holds it, and as people left it. */
  const mine = (row: DestinationRow) =>
    query
      .updateTable("audit_export_destinations")
      .where("id", "=", row.id)
      .where("revision", "=", row.revision)
      .where("status", "=", "active")
      .where("lease_server", "=", serverId);
  /** The same, for whoever goes on from it. */
  const held = (row: DestinationRow) => mine(row).where("exported_sequence", "=", row.exported_sequence);
  const free = { lease_server: null, lease_until: null };

  return {
    async insert(row, max) {
      return query.transaction().execute(async (transaction) => {
        await adding.execute(transaction);
        const { count } = await transaction
          .selectFrom("audit_export_destinations")
          .select(({ fn }) => fn.countAll<number>().as("count"))
          .executeTakeFirstOrThrow();
        if (count >= max) return undefined;
        return transaction.insertInto("audit_export_destinations").values(row).returningAll().executeTakeFirstOrThrow();
      });
    },

    find: (id) => query.selectFrom("audit_export_destinations").selectAll().where("id", "=", id).executeTakeFirst(),

    list: (window) => newestFirst(query.selectFrom("audit_export_destinations").selectAll(), window).execute(),

    async update(row, changes) {
      const now = sql<string>`clock_timestamp()`;
      return (
        query
          .updateTable("audit_export_destinations")
          // Whoever changes it has perhaps mended it.
          .set({
            ...changes,
            revision: sql<number>`revision + 1`,
            updated_at: now,
            next_attempt_at: (changes.status ?? row.status) === "active" ? now : null,
          })
          .where("id", "=", row.id)
          .where("revision", "=", row.revision)
          .returningAll()
          .executeTakeFirst()
      );
    },

    async delete(id) {
      const { numDeletedRows } = await query.deleteFrom("audit_export_destinations").where("id", "=", id).executeTakeFirst();
      return numDeletedRows > 0n;
    },

    async claim() {
      return query
        .updateTable("audit_export_destinations")
        .set({ lease_server: serverId, lease_until: inMs(leaseMs) })
        .where("id", "=", (due) =>
          due
            .selectFrom("audit_export_destinations")
            .select("id")
            .where("status", "=", "active")
            // The column has whole milliseconds, and rounds: what is due now may seem half of one ahead.
            .where("next_attempt_at", "<=", sql<string>`clock_timestamp() + interval '1 millisecond'`)
            .where(sql<boolean>`coalesce(lease_until, '-infinity') <= clock_timestamp()`)
            .orderBy("next_attempt_at")
            .limit(1)
            .forUpdate()
            .skipLocked(),
        )
        .returningAll()
        .executeTakeFirst();
    },

    begin: (row, { first, last, name }) =>
      held(row)
        .set({ pending_first: first, pending_last: last, pending_name: name, lease_until: inMs(leaseMs) })
        .returningAll()
        .executeTakeFirst(),

    advance: (row, { last }) =>
      held(row)
        .where("pending_last", "=", last)
        .set({
          exported_sequence: last,
          pending_first: null,
          pending_last: null,
          pending_name: null,
          consecutive_failures: 0,
          last_success_at: sql<string>`clock_timestamp()`,
          lease_until: inMs(leaseMs),
        })
        .returningAll()
        .executeTakeFirst(),

    async finish(row, afterMs) {
      await mine(row)
        .set({ ...free, next_attempt_at: inMs(afterMs) })
        .execute();
    },

    async fail(row, { afterMs, message }) {
      await mine(row)
        .set({
          ...free,
          consecutive_failures: sql<number>`consecutive_failures + 1`,
          last_error: message,
          last_error_at: sql<string>`clock_timestamp()`,
          next_attempt_at: inMs(afterMs),
        })
        .execute();
    },

    async release(row) {
      await query.updateTable("audit_export_destinations").set(free).where("id", "=", row.id).where("lease_server", "=", serverId).execute();
    },

    async releaseAll() {
      await query.updateTable("audit_export_destinations").set(free).where("lease_server", "=", serverId).execute();
    },
  };
}
