import type { Tables } from "@shoal/database";
import { sql, type Transaction } from "kysely";
import { emitEvent } from "../../storage/events/emit-event.ts";
import type { SessionRow } from "../browsers/session-store.ts";
import type { PoolBrowser, PoolState } from "./plan.ts";
import { nextCondition, type PoolCounts } from "./pool-condition.ts";
import type { PoolRow } from "./pool-row.ts";

export type DatedBrowser = PoolBrowser & { readonly created_at: string };

/** A pool whose row is locked until the transaction ends. */
export class LockedPool {
  readonly pool: PoolRow;
  /** False if its project is archived or deleted. */
  readonly isOpen: boolean;
  /** Oldest first, as of the lock. */
  readonly browsers: readonly DatedBrowser[];
  readonly #transaction: Transaction<Tables>;

  private constructor(transaction: Transaction<Tables>, read: Pick<LockedPool, "pool" | "isOpen" | "browsers">) {
    this.pool = read.pool;
    this.isOpen = read.isOpen;
    this.browsers = read.browsers;
    this.#transaction = transaction;
  }

  /** @param pool - locked by this transaction. */
  static async read(transaction: Transaction<Tables>, pool: PoolRow): Promise<LockedPool> {
    const project = await transaction
      .selectFrom("projects")
      .select(["status", "deleted_at"])
      .where("id", "=", pool.project_id)
      .executeTakeFirst();
    const rows = await transaction
      .selectFrom("sessions")
      .select(["id", "server_id as server", "pool_state as state", "created_at"])
      .where("pool_id", "=", pool.id)
      .where("ended_at", "is", null)
      .orderBy("created_at")
      .orderBy("id")
      .execute();
    return new LockedPool(transaction, {
      pool,
      isOpen: project?.status === "active" && project.deleted_at === null,
      browsers: rows.flatMap(({ state, ...browser }) => (state === null ? [] : [{ ...browser, state }])),
    });
  }

  isLeased(sessionId: string): boolean {
    return this.browsers.some(({ id, state }) => id === sessionId && state === "leased");
  }

  async waiters(): Promise<PoolState["waiters"]> {
    return this.#transaction
      .selectFrom("browser_pool_waiters")
      .select(["id", "server_id as server"])
      .where("pool_id", "=", this.pool.id)
      .where("expires_at", ">", sql<string>`now()`)
      .orderBy("place")
      .execute();
  }

  /** @returns `undefined` if the session has just ended, or has an outdated list of allowed hosts. */
  async lease(sessionId: string): Promise<SessionRow | undefined> {
    return this.#transaction
      .updateTable("sessions")
      .set({
        pool_state: "leased",
        pool_name: this.pool.name,
        timeout_seconds: this.pool.config.timeout_seconds,
        created_at: new Date(),
      })
      .where("id", "=", sessionId)
      .where("ended_at", "is", null)
      .where("pool_state", "=", "warm")
      .where(
        sql<boolean>`coalesce(options->'allowlist'->'hosts', 'null'::jsonb) = ${JSON.stringify(this.pool.config.network?.allowed_hosts ?? null)}::jsonb`,
      )
      .returningAll()
      .executeTakeFirst();
  }

  async removeWaiter(id: string): Promise<void> {
    await this.#transaction.deleteFrom("browser_pool_waiters").where("id", "=", id).execute();
  }

  async end(ids: readonly string[], reason: "deleted" | "instance_lost"): Promise<void> {
    if (ids.length === 0) return;
    await this.#transaction
      .updateTable("sessions")
      .set({ ended_at: new Date(), ended_reason: reason })
      .where("id", "in", ids)
      .where("ended_at", "is", null)
      .execute();
  }

  /** Returns warm browsers with an outdated profile, if the pool replaces them. */
  async outdated(): Promise<string[]> {
    if (this.pool.config.refresh_on_profile_update !== true) return [];
    const rows = await this.#transaction
      .selectFrom("sessions")
      .innerJoin("profiles", "profiles.id", "sessions.profile_id")
      .select("sessions.id")
      .where("pool_id", "=", this.pool.id)
      .where("ended_at", "is", null)
      .where("pool_state", "=", "warm")
      .where(sql<boolean>`profile_version is distinct from profiles.version`)
      .execute();
    return rows.map(({ id }) => id);
  }

  async setFill(fill: { readonly credits: number; readonly fillAtMs: number }): Promise<void> {
    await this.#transaction
      .updateTable("browser_pools")
      .set({ credits: fill.credits, fill_at: new Date(fill.fillAtMs) })
      .where("id", "=", this.pool.id)
      .execute();
  }

  /** Lets the next start ignore the fill rate. */
  async addCredit(): Promise<void> {
    const { credits, fill_at, size } = this.pool;
    await this.setFill({ credits: Math.min(size, credits + 1), fillAtMs: Date.parse(fill_at) });
  }

  /** Sends an event to webhooks if the pool became full or empty, or its starts began to fail. */
  async report(counts: PoolCounts, isPaused: boolean): Promise<void> {
    const { condition: before, id, name, project_id, region } = this.pool;
    const condition = nextCondition(before, counts, isPaused);
    if (condition === before || condition === "new") return;
    await this.#transaction.updateTable("browser_pools").set({ condition }).where("id", "=", id).execute();
    await emitEvent(this.#transaction, project_id, {
      type: `browser_pool.${condition}`,
      data: { pool_id: id, name, region, ...counts },
    });
  }

  async insertStarting(row: SessionRow): Promise<void> {
    const { ended_at: _endedAt, ended_reason: _reason, proxy: _proxy, ...stored } = row;
    await this.#transaction
      .insertInto("sessions")
      .values({
        ...stored,
        options: sql`${JSON.stringify(row.options)}::jsonb`,
        tags: sql`${JSON.stringify(row.tags)}::jsonb`,
        viewport: row.viewport && sql`${JSON.stringify(row.viewport)}::jsonb`,
      })
      .execute();
  }

  async remove(): Promise<void> {
    await this.#transaction.deleteFrom("browser_pools").where("id", "=", this.pool.id).execute();
  }
}
