import { containsFolded, type Database, folded, type Tables } from "@shoal/database";
import type { ListBrowserPools } from "@shoal/schemas";
import { sql, type Transaction } from "kysely";
import type * as z from "zod/mini";
import { withoutLargePolicies } from "../browsers/listed-policies.ts";
import type { SessionRow } from "../browsers/session-store.ts";
import { defaultRegion } from "../config/settings.ts";
import { emptyPage, isStorable, newestFirst } from "../paging.ts";
import { explainSessionLimit, type SessionLimits } from "../projects/session-limits.ts";
import type { PoolBrowser } from "./plan.ts";
import type { PoolConfig } from "./pool-config.ts";

/** A pool as it lies in the database. */
export interface PoolRow {
  readonly id: string;
  readonly project_id: string;
  readonly name: string | null;
  readonly size: number;
  readonly config: PoolConfig;
  readonly credits: number;
  readonly fill_at: string;
  readonly created_at: string;
  /** Whose servers fill it. */
  readonly region: string;
}

/** A pool and how many browsers it has. */
export interface CountedPool extends PoolRow {
  readonly available: number;
  readonly acquired: number;
}

const otherColumns = ["id", "project_id", "name", "size", "credits", "fill_at", "created_at", "region"] as const;
const columns = [...otherColumns, "config"] as const;

/** `config` is what {@link insertPool} wrote. */
function toRow<Row extends Omit<PoolRow, "config"> & { readonly config: Record<string, unknown> }>(row: Row): Row & PoolRow {
  return row as unknown as Row & PoolRow;
}

/** A pool that nobody else changes or leases from until the transaction ends. */
export interface LockedPool {
  readonly pool: PoolRow;
  /** Whether its project takes new work. */
  readonly isOpen: boolean;
  /** Those that have not ended, oldest first. */
  readonly browsers: readonly (PoolBrowser & { readonly created_at: string })[];
}

/** The queries behind pools. */
export function createPoolStore({ query }: Database) {
  const counted = (isList = false) =>
    query
      .selectFrom("browser_pools")
      .select([
        ...otherColumns,
        isList ? withoutLargePolicies<"config", Record<string, unknown>>("config") : "config",
        sql<number>`(select count(*) from sessions where pool_id = browser_pools.id and ended_at is null and pool_state = 'warm')`.as("available"),
        sql<number>`(select count(*) from sessions where pool_id = browser_pools.id and ended_at is null and pool_state = 'leased')`.as("acquired"),
      ]);

  return {
    /** @throws {ServiceError} 429 when the limits have no room. */
    async insert(row: Pick<PoolRow, "id" | "project_id" | "name" | "region" | "size" | "config">, limits: SessionLimits): Promise<CountedPool> {
      return query
        .transaction()
        .execute(async (transaction) => {
          await admit(transaction, row.project_id, limits, row.size);
          const inserted = await transaction
            .insertInto("browser_pools")
            .values({ ...row, config: JSON.stringify(row.config) })
            .returning(columns)
            .executeTakeFirstOrThrow();
          return { ...toRow(inserted), available: 0, acquired: 0 };
        })
        .catch((error: unknown) => {
          throw explainSessionLimit(error);
        });
    },

    /** By id, or else by name. */
    async find(projectId: string, idOrName: string): Promise<CountedPool | undefined> {
      if (!isStorable(idOrName)) return undefined;
      const rows = await counted()
        .where("project_id", "=", projectId)
        .where((where) => where.or([where("id", "=", idOrName), where("name", "=", idOrName)]))
        .execute();
      const found = rows.find((row) => row.id === idOrName) ?? rows[0];
      return found && toRow(found);
    },

    /** Newest first, one row more than the limit where there are more; without large policies. */
    async list(projectId: string, { query: part, name, region, limit, offset }: z.output<typeof ListBrowserPools>): Promise<readonly CountedPool[]> {
      if (!isStorable(part) || !isStorable(name)) return emptyPage<CountedPool>().items;
      let rows = counted(true).where("project_id", "=", projectId);
      if (part !== undefined) rows = rows.where((where) => where.or([containsFolded("name_folded", part), where("id", "=", part)]));
      if (name !== undefined) rows = rows.where("name_folded", "=", folded(name));
      if (region !== undefined) rows = rows.where("region", "=", region);
      const found = await newestFirst(rows, { limit, offset }).execute();
      return found.map((row) => toRow(row));
    },

    /** Gives a region to the pools that were made while no server had any, once no server is left without: nobody else would fill them any more. */
    async adopt(serverId: string, region: string): Promise<void> {
      if (region === defaultRegion) return;
      await query
        .updateTable("browser_pools")
        .set({ region })
        .where("region", "=", defaultRegion)
        .where((where) =>
          where.not(
            where.exists(
              where
                .selectFrom("servers")
                .select("id")
                .where("id", "<>", serverId)
                .where(sql<boolean>`coalesce(servers.region, ${defaultRegion}) = ${defaultRegion}`),
            ),
          ),
        )
        .execute();
    },

    /** Ids of a region's pools that may need something: browsers are missing or too many, or somebody waits. */
    async needy(region: string): Promise<string[]> {
      const rows = await query
        .selectFrom("browser_pools")
        .select("id")
        .where("region", "=", region)
        .where(
          sql<boolean>`(size <> (select count(*) from sessions where pool_id = browser_pools.id and ended_at is null)
            or exists (select 1 from browser_pool_waiters where pool_id = browser_pools.id)
            or (config @> '{"refresh_on_profile_update": true}' and exists (
              select 1 from sessions join profiles on profiles.id = sessions.profile_id
              where pool_id = browser_pools.id and ended_at is null and pool_state = 'warm' and profile_version is distinct from profiles.version))
            or exists (select 1 from projects where projects.id = browser_pools.project_id and (status <> 'active' or deleted_at is not null)))`,
        )
        .execute();
      return rows.map(({ id }) => id);
    },

    /** Changes a pool. @throws {ServiceError} 429 when it is to be larger than the limits allow. @returns `undefined` when it is gone. */
    async update(
      id: string,
      limits: SessionLimits,
      change: (row: PoolRow) => Pick<PoolRow, "name" | "size" | "config">,
    ): Promise<PoolRow | undefined> {
      return query
        .transaction()
        .execute(async (transaction) => {
          const before = await transaction.selectFrom("browser_pools").select(columns).where("id", "=", id).forUpdate().executeTakeFirst();
          if (before === undefined) return undefined;
          const after = change(toRow(before));
          if (after.size > before.size) await admit(transaction, before.project_id, limits, after.size - before.size);
          const row = await transaction
            .updateTable("browser_pools")
            .set({ name: after.name, size: after.size, config: JSON.stringify(after.config) })
            .where("id", "=", id)
            .returning(columns)
            .executeTakeFirst();
          return row && toRow(row);
        })
        .catch((error: unknown) => {
          throw explainSessionLimit(error);
        });
    },

    /** Puts a caller at the end of the queue. */
    async wait(waiter: string, poolId: string, serverId: string, expiresAt: Date): Promise<void> {
      await query.insertInto("browser_pool_waiters").values({ id: waiter, pool_id: poolId, server_id: serverId, expires_at: expiresAt }).execute();
    },

    /** @returns whether it was still waiting. */
    async leave(waiter: string): Promise<boolean> {
      const { numDeletedRows } = await query.deleteFrom("browser_pool_waiters").where("id", "=", waiter).executeTakeFirst();
      return numDeletedRows > 0n;
    },

    /** Forgets whoever waited on this server in an earlier life, and on servers that are gone. */
    async forgetWaiters(serverId: string | undefined): Promise<void> {
      await query
        .deleteFrom("browser_pool_waiters")
        .where((where) =>
          where.or([
            where("expires_at", "<", sql<string>`now()`),
            where("server_id", "not in", where.selectFrom("servers").select("id")),
            ...(serverId === undefined ? [] : [where("server_id", "=", serverId)]),
          ]),
        )
        .execute();
    },

    /** Runs `work` while nobody else changes the pool or leases from it. @returns `undefined` when there is no such pool. */
    async locked<Result>(id: string, work: (locked: LockedPool, transaction: Transaction<Tables>) => Promise<Result>): Promise<Result | undefined> {
      return query.transaction().execute(async (transaction) => {
        const found = await transaction.selectFrom("browser_pools").select(columns).where("id", "=", id).forUpdate().executeTakeFirst();
        if (found === undefined) return undefined;
        const pool = toRow(found);
        const project = await transaction
          .selectFrom("projects")
          .select(["status", "deleted_at"])
          .where("id", "=", pool.project_id)
          .executeTakeFirst();
        const browsers = await transaction
          .selectFrom("sessions")
          .select(["id", "server_id as server", "pool_state as state", "created_at"])
          .where("pool_id", "=", id)
          .where("ended_at", "is", null)
          .orderBy("created_at")
          .orderBy("id")
          .execute();
        const known = browsers.flatMap(({ state, ...browser }) => (state === null ? [] : [{ ...browser, state }]));
        return work({ pool, isOpen: project?.status === "active" && project.deleted_at === null, browsers: known }, transaction);
      });
    },
  };
}
export type PoolStore = ReturnType<typeof createPoolStore>;

async function admit(transaction: Transaction<Tables>, projectId: string, limits: SessionLimits, wanted: number): Promise<void> {
  await sql`select shoal_admit_sessions(${projectId}::text, ${limits.perProject}::int, ${limits.perOrganization}::int, ${wanted}::bigint)`.execute(
    transaction,
  );
}

/** What is done to a pool under its lock. */
export const underLock = {
  /** Who waits, first come first. */
  async waiters(transaction: Transaction<Tables>, poolId: string): Promise<{ readonly id: string; readonly server: string }[]> {
    return transaction
      .selectFrom("browser_pool_waiters")
      .select(["id", "server_id as server"])
      .where("pool_id", "=", poolId)
      .where("expires_at", ">", sql<string>`now()`)
      .orderBy("place")
      .execute();
  },

  /** @returns the session as it is now; `undefined` when it has just ended. */
  async lease(transaction: Transaction<Tables>, pool: PoolRow, sessionId: string): Promise<SessionRow | undefined> {
    return transaction
      .updateTable("sessions")
      .set({ pool_state: "leased", pool_name: pool.name, timeout_seconds: pool.config.timeout_seconds, created_at: new Date() })
      .where("id", "=", sessionId)
      .where("ended_at", "is", null)
      .where("pool_state", "=", "warm")
      .returningAll()
      .executeTakeFirst();
  },

  async served(transaction: Transaction<Tables>, waiter: string): Promise<void> {
    await transaction.deleteFrom("browser_pool_waiters").where("id", "=", waiter).execute();
  },

  async end(transaction: Transaction<Tables>, ids: readonly string[], reason: "deleted" | "instance_lost"): Promise<void> {
    if (ids.length === 0) return;
    await transaction
      .updateTable("sessions")
      .set({ ended_at: new Date(), ended_reason: reason })
      .where("id", "in", ids)
      .where("ended_at", "is", null)
      .execute();
  },

  /** Warm browsers whose profile has changed since they started with it, where the pool wants them replaced. */
  async outdated(transaction: Transaction<Tables>, pool: PoolRow): Promise<string[]> {
    if (pool.config.refresh_on_profile_update !== true) return [];
    const rows = await transaction
      .selectFrom("sessions")
      .innerJoin("profiles", "profiles.id", "sessions.profile_id")
      .select("sessions.id")
      .where("pool_id", "=", pool.id)
      .where("ended_at", "is", null)
      .where("pool_state", "=", "warm")
      .where(sql<boolean>`profile_version is distinct from profiles.version`)
      .execute();
    return rows.map(({ id }) => id);
  },

  async setFill(transaction: Transaction<Tables>, poolId: string, fill: { readonly credits: number; readonly fillAtMs: number }): Promise<void> {
    await transaction
      .updateTable("browser_pools")
      .set({ credits: fill.credits, fill_at: new Date(fill.fillAtMs) })
      .where("id", "=", poolId)
      .execute();
  },

  async insertStarting(transaction: Transaction<Tables>, row: SessionRow): Promise<void> {
    const { ended_at: _endedAt, ended_reason: _reason, proxy: _proxy, ...stored } = row;
    await transaction
      .insertInto("sessions")
      .values({
        ...stored,
        options: sql`${JSON.stringify(row.options)}::jsonb`,
        tags: sql`${JSON.stringify(row.tags)}::jsonb`,
        viewport: row.viewport && sql`${JSON.stringify(row.viewport)}::jsonb`,
      })
      .execute();
  },

  async remove(transaction: Transaction<Tables>, poolId: string): Promise<void> {
    await transaction.deleteFrom("browser_pools").where("id", "=", poolId).execute();
  },
};

/** A started browser can be leased from now on. @returns whether it still runs. */
export async function markWarm({ query }: Database, sessionId: string): Promise<boolean> {
  const { numUpdatedRows } = await query
    .updateTable("sessions")
    .set({ pool_state: "warm" })
    .where("id", "=", sessionId)
    .where("ended_at", "is", null)
    .where("pool_state", "=", "starting")
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
