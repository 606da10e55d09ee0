import { containsFolded, type Database, folded, type Tables } from "@shoal/database";
import type { ListBrowserPools } from "@shoal/schemas";
import { type AliasedRawBuilder, type Kysely, sql, type Transaction } from "kysely";
import type * as z from "zod/mini";
import { withoutLargePolicies } from "../browsers/options/listed-policies.ts";
import { defaultRegion } from "../../config/settings/defaults.ts";
import { emptyPage, isStorable, newestFirst } from "../../http/paging.ts";
import { explainSessionLimit, type SessionLimits } from "../../storage/errors/session-limits.ts";
import { LockedPool } from "./locked-pool.ts";
import type { CountedPool, PoolRow } from "./pool-row.ts";

const otherColumns = [
  "id",
  "project_id",
  "name",
  "size",
  "credits",
  "fill_at",
  "condition",
  "created_at",
  "region",
] as const;
const columns = [...otherColumns, "config"] as const;

/** `config` has the form that `insert` wrote. */
function toRow<Row extends Omit<PoolRow, "config"> & { readonly config: Record<string, unknown> }>(
  row: Row,
): Row & PoolRow {
  return row as unknown as Row & PoolRow;
}

export class PoolStore {
  readonly #query: Kysely<Tables>;

  constructor({ query }: Database) {
    this.#query = query;
  }

  /** @throws {ServiceError} 429 if the limits do not allow it. */
  async insert(
    row: Pick<PoolRow, "id" | "project_id" | "name" | "region" | "size" | "config">,
    limits: SessionLimits,
  ): Promise<CountedPool> {
    return this.#admitting(async (transaction) => {
      await admit(transaction, row.project_id, limits, row.size);
      const inserted = await transaction
        .insertInto("browser_pools")
        .values({ ...row, config: JSON.stringify(row.config) })
        .returning(columns)
        .executeTakeFirstOrThrow();
      return { ...toRow(inserted), available: 0, acquired: 0 };
    });
  }

  async find(projectId: string, idOrName: string): Promise<CountedPool | undefined> {
    if (!isStorable(idOrName)) return undefined;
    const rows = await this.#counted("config")
      .where("project_id", "=", projectId)
      .where((where) => where.or([where("id", "=", idOrName), where("name", "=", idOrName)]))
      .execute();
    const found = rows.find((row) => row.id === idOrName) ?? rows[0];
    return found && toRow(found);
  }

  /** Newest first, with one row more than the limit if more exist; without large policies. */
  async list(
    projectId: string,
    { query: part, name, region, limit, offset }: z.output<typeof ListBrowserPools>,
  ): Promise<readonly CountedPool[]> {
    if (!isStorable(part) || !isStorable(name)) return emptyPage<CountedPool>().items;
    let rows = this.#counted(withoutLargePolicies<"config", Record<string, unknown>>("config")).where(
      "project_id",
      "=",
      projectId,
    );
    if (part !== undefined)
      rows = rows.where((where) => where.or([containsFolded("name_folded", part), where("id", "=", part)]));
    if (name !== undefined) rows = rows.where("name_folded", "=", folded(name));
    if (region !== undefined) rows = rows.where("region", "=", region);
    const found = await newestFirst(rows, { limit, offset }).execute();
    return found.map((row) => toRow(row));
  }

  /** Adopts pools from before regions once every server has a region; no other server would fill them. */
  async adopt(serverId: string, region: string): Promise<void> {
    if (region === defaultRegion) return;
    await this.#query
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
  }

  /** Returns the pools that lack browsers, have too many, or have waiting callers. */
  async needy(region: string): Promise<string[]> {
    const rows = await this.#query
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
  }

  /** Returns the ids of those whose rows say that they run. */
  async runningOf(ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const rows = await this.#query
      .selectFrom("sessions")
      .select("id")
      .where("id", "=", sql<string>`any(${ids}::text[])`)
      .where("ended_at", "is", null)
      .execute();
    return new Set(rows.map(({ id }) => id));
  }

  /** @throws {ServiceError} 429 if the limits do not allow its size. @returns `undefined` if it is gone. */
  async update(
    id: string,
    limits: SessionLimits,
    change: (row: PoolRow) => Pick<PoolRow, "name" | "size" | "config">,
  ): Promise<PoolRow | undefined> {
    return this.#admitting(async (transaction) => {
      const before = await lock(transaction, id);
      if (before === undefined) return undefined;
      const after = change(before);
      if (after.size > before.size) await admit(transaction, before.project_id, limits, after.size - before.size);
      const row = await transaction
        .updateTable("browser_pools")
        .set({ name: after.name, size: after.size, config: JSON.stringify(after.config) })
        .where("id", "=", id)
        .returning(columns)
        .executeTakeFirst();
      return row && toRow(row);
    });
  }

  /** @returns false if the browser has ended meanwhile. */
  async markWarm(sessionId: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#query
      .updateTable("sessions")
      .set({ pool_state: "warm" })
      .where("id", "=", sessionId)
      .where("ended_at", "is", null)
      .where("pool_state", "=", "starting")
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Runs `work` under the pool's lock. @returns `undefined` if the pool does not exist. */
  async locked<Result>(id: string, work: (locked: LockedPool) => Promise<Result>): Promise<Result | undefined> {
    return this.#query.transaction().execute(async (transaction) => {
      const pool = await lock(transaction, id);
      return pool && work(await LockedPool.read(transaction, pool));
    });
  }

  /** Ends a leased browser. @param reuse - starts a clean one at once. @returns false if the pool did not lease it. */
  async giveBack(poolId: string, sessionId: string, reuse = true): Promise<boolean> {
    const given = await this.locked(poolId, async (locked) => {
      if (!locked.isLeased(sessionId)) return false;
      await locked.end([sessionId], "deleted");
      if (reuse) await locked.addCredit();
      return true;
    });
    return given === true;
  }

  #counted(config: "config" | AliasedRawBuilder<Record<string, unknown>, "config">) {
    const countOf = (state: string) =>
      sql<number>`(select count(*) from sessions where pool_id = browser_pools.id and ended_at is null and pool_state = ${sql.lit(state)})`;
    return this.#query
      .selectFrom("browser_pools")
      .select([...otherColumns, config, countOf("warm").as("available"), countOf("leased").as("acquired")]);
  }

  async #admitting<Result>(work: (transaction: Transaction<Tables>) => Promise<Result>): Promise<Result> {
    return this.#query
      .transaction()
      .execute(work)
      .catch((error: unknown) => {
        throw explainSessionLimit(error);
      });
  }
}

async function lock(transaction: Transaction<Tables>, id: string): Promise<PoolRow | undefined> {
  const row = await transaction
    .selectFrom("browser_pools")
    .select(columns)
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  return row && toRow(row);
}

async function admit(
  transaction: Transaction<Tables>,
  projectId: string,
  limits: SessionLimits,
  wanted: number,
): Promise<void> {
  await sql`select shoal_admit_sessions(${projectId}::text, ${limits.perProject}::int, ${limits.perOrganization}::int, ${wanted}::bigint)`.execute(
    transaction,
  );
}
