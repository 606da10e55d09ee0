import type { AuditExportDestinationsTable, Database } from "@shoal/database";
import { type Selectable, sql } from "kysely";
import { newestFirst } from "../../http/paging.ts";

export type DestinationRow = Selectable<AuditExportDestinationsTable>;
export type DestinationChanges = Partial<
  Pick<DestinationRow, "bucket" | "prefix" | "region" | "role_arn" | "kms_key_id" | "status">
>;

export interface PendingObject {
  readonly first: number;
  readonly last: number;
  /** Without the prefix. */
  readonly name: string;
}

/** Longer than the work between two steps: assuming the role and writing one object. */
export const leaseMs = 90_000;

/** Advisory lock for adding destinations: "shoa", and "l" and 12. */
const adding = sql`select pg_advisory_xact_lock(1936223073, 27660)`;

const inMs = (ms: number) => sql<string>`clock_timestamp() + make_interval(secs => ${ms / 1000})`;

export class DestinationStore {
  readonly #query: Database["query"];
  readonly #serverId: string;
  readonly #free = { lease_server: null, lease_until: null };

  constructor({ query }: Database, serverId: string) {
    this.#query = query;
    this.#serverId = serverId;
  }

  /** @returns `undefined` when `max` destinations exist. */
  async insert(
    row: Pick<DestinationRow, "id" | "bucket" | "prefix" | "region" | "role_arn" | "kms_key_id" | "external_id">,
    max: number,
  ): Promise<DestinationRow | undefined> {
    return this.#query.transaction().execute(async (transaction) => {
      await adding.execute(transaction);
      const { count } = await transaction
        .selectFrom("audit_export_destinations")
        .select(({ fn }) => fn.countAll<number>().as("count"))
        .executeTakeFirstOrThrow();
      if (count >= max) return undefined;
      return transaction.insertInto("audit_export_destinations").values(row).returningAll().executeTakeFirstOrThrow();
    });
  }

  find(id: string): Promise<DestinationRow | undefined> {
    return this.#query.selectFrom("audit_export_destinations").selectAll().where("id", "=", id).executeTakeFirst();
  }

  /** Newest first; one row more than the limit when there are more. */
  list(window: { readonly limit: number; readonly offset: number }): Promise<DestinationRow[]> {
    return newestFirst(this.#query.selectFrom("audit_export_destinations").selectAll(), window).execute();
  }

  /** @returns `undefined` when the row was changed or deleted after it was read. */
  async update(row: DestinationRow, changes: DestinationChanges): Promise<DestinationRow | undefined> {
    const now = sql<string>`clock_timestamp()`;
    return (
      this.#query
        .updateTable("audit_export_destinations")
        // The change may have fixed the cause of earlier failures.
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
  }

  async delete(id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#query
      .deleteFrom("audit_export_destinations")
      .where("id", "=", id)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  /** Leases an active destination that is due and that no other server leases. */
  async claim(): Promise<DestinationRow | undefined> {
    return this.#query
      .updateTable("audit_export_destinations")
      .set({ lease_server: this.#serverId, lease_until: inMs(leaseMs) })
      .where("id", "=", (due) =>
        due
          .selectFrom("audit_export_destinations")
          .select("id")
          .where("status", "=", "active")
          // The column rounds to milliseconds, up to half a millisecond into the future.
          .where("next_attempt_at", "<=", sql<string>`clock_timestamp() + interval '1 millisecond'`)
          .where(sql<boolean>`coalesce(lease_until, '-infinity') <= clock_timestamp()`)
          .orderBy("next_attempt_at")
          .limit(1)
          .forUpdate()
          .skipLocked(),
      )
      .returningAll()
      .executeTakeFirst();
  }

  /**
   * Before the write. Like every step, it renews the lease, and returns `undefined` when the destination was changed,
   * paused, deleted or leased by another server.
   */
  begin(row: DestinationRow, { first, last, name }: PendingObject): Promise<DestinationRow | undefined> {
    return this.#held(row)
      .set({ pending_first: first, pending_last: last, pending_name: name, lease_until: inMs(leaseMs) })
      .returningAll()
      .executeTakeFirst();
  }

  advance(row: DestinationRow, { last }: PendingObject): Promise<DestinationRow | undefined> {
    return this.#held(row)
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
      .executeTakeFirst();
  }

  /** Ends the lease; the destination is due again after `afterMs`. */
  async finish(row: DestinationRow, afterMs: number): Promise<void> {
    await this.#mine(row)
      .set({ ...this.#free, next_attempt_at: inMs(afterMs) })
      .execute();
  }

  async fail(
    row: DestinationRow,
    { afterMs, message }: { readonly message: string; readonly afterMs: number },
  ): Promise<void> {
    await this.#mine(row)
      .set({
        ...this.#free,
        consecutive_failures: sql<number>`consecutive_failures + 1`,
        last_error: message,
        last_error_at: sql<string>`clock_timestamp()`,
        next_attempt_at: inMs(afterMs),
      })
      .execute();
  }

  /** Ends the lease; the destination is due at once. */
  async release(row: DestinationRow): Promise<void> {
    await this.#query
      .updateTable("audit_export_destinations")
      .set(this.#free)
      .where("id", "=", row.id)
      .where("lease_server", "=", this.#serverId)
      .execute();
  }

  /** Ends leases from an earlier run of this server. */
  async releaseAll(): Promise<void> {
    await this.#query
      .updateTable("audit_export_destinations")
      .set(this.#free)
      .where("lease_server", "=", this.#serverId)
      .execute();
  }

  /** Matches while this server leases the row and no user changed it. */
  #mine(row: DestinationRow) {
    return this.#query
      .updateTable("audit_export_destinations")
      .where("id", "=", row.id)
      .where("revision", "=", row.revision)
      .where("status", "=", "active")
      .where("lease_server", "=", this.#serverId);
  }

  #held(row: DestinationRow) {
    return this.#mine(row).where("exported_sequence", "=", row.exported_sequence);
  }
}
