import type { Page } from "@shoal/contract";
import type { Database } from "@shoal/database";
import { createId } from "@shoal/primitives";
import type {
  BrowserPool,
  CreateBrowserPool,
  ListBrowserPools,
  ReleaseBrowser,
  UpdateBrowserPool,
} from "@shoal/schemas";
import { isDeepStrictEqual } from "node:util";
import type * as z from "zod/mini";
import { RegionElsewhere } from "../../cluster/elsewhere.ts";
import { toPage } from "../../http/paging.ts";
import type { Log } from "../../log/log.ts";
import { isUniqueViolation } from "../../storage/errors/database-errors.ts";
import type { SessionLimits } from "../../storage/errors/session-limits.ts";
import type { SessionView } from "../browsers/running-session.ts";
import type { SessionStore } from "../browsers/session-store.ts";
import type { Sessions } from "../browsers/sessions.ts";
import { explainDestination } from "../telemetry/export/choice.ts";
import { Keeper } from "./keeper.ts";
import { changedConfig, checkConfig, configOf, toPool } from "./pool-config.ts";
import { inUse, nameTaken, notFound, staleNetwork } from "./pool-errors.ts";
import { type Acquire, PoolLeases } from "./pool-leases.ts";
import type { CountedPool } from "./pool-row.ts";
import { PoolStore } from "./pool-store.ts";
import { PoolWaiters } from "./pool-waiters.ts";

export interface BrowserPoolsParts {
  readonly database: Database;
  readonly sessions: Sessions;
  readonly sessionStore: SessionStore;
  readonly serverId: string;
  readonly region: string;
  readonly limits: SessionLimits;
  readonly log: Log;
}

/** Forgets the callers of an earlier run of this server, and starts to fill the pools. */
export async function openBrowserPools(parts: BrowserPoolsParts): Promise<BrowserPools> {
  const store = new PoolStore(parts.database);
  const waiters = new PoolWaiters(parts.database);
  await waiters.removeLost(parts.serverId);
  await store.adopt(parts.serverId, parts.region);
  const keeper = new Keeper({ ...parts, store, waiters });
  return new BrowserPools(parts, { keeper, leases: new PoolLeases({ ...parts, keeper, store, waiters }), store });
}

export class BrowserPools {
  readonly #database: Database;
  readonly #sessions: Sessions;
  readonly #region: string;
  readonly #limits: SessionLimits;
  readonly #keeper: Keeper;
  readonly #leases: PoolLeases;
  readonly #store: PoolStore;

  constructor(
    { database, limits, region, sessions }: BrowserPoolsParts,
    { keeper, leases, store }: { readonly keeper: Keeper; readonly leases: PoolLeases; readonly store: PoolStore },
  ) {
    this.#database = database;
    this.#sessions = sessions;
    this.#region = region;
    this.#limits = limits;
    this.#keeper = keeper;
    this.#leases = leases;
    this.#store = store;
  }

  /** @returns {@link RegionElsewhere} when the request chooses another region. */
  async create(projectId: string, request: z.output<typeof CreateBrowserPool>): Promise<BrowserPool | RegionElsewhere> {
    if (request.region !== undefined && request.region !== this.#region)
      return new RegionElsewhere({ region: request.region, path: "/browser_pools", isAsked: true });
    const foundNow = await checkConfig(this.#sessions, projectId, request);
    const row = {
      id: createId(),
      project_id: projectId,
      name: request.name ?? null,
      region: this.#region,
      size: request.size,
      config: configOf(request, foundNow),
    };
    try {
      const pool = await this.#store.insert(row, this.#limits);
      await this.#database.afterwards(() => void this.#keeper.look(pool.id));
      return toPool(pool);
    } catch (error) {
      throw explainName(request.name, error);
    }
  }

  async list(projectId: string, filter: z.output<typeof ListBrowserPools>): Promise<Page<BrowserPool>> {
    return toPage(await this.#store.list(projectId, filter), filter, toPool);
  }

  async get(projectId: string, idOrName: string): Promise<BrowserPool> {
    return toPool(await this.#existing(projectId, idOrName));
  }

  async update(projectId: string, idOrName: string, request: z.output<typeof UpdateBrowserPool>): Promise<BrowserPool> {
    const { id, config } = await this.#existing(projectId, idOrName);
    const foundNow = await checkConfig(this.#sessions, projectId, request, config);
    const name = request.name === "" ? undefined : request.name;
    let discards = request.discard_all_idle;
    try {
      const row = await this.#store.update(id, this.#limits, (before) => {
        const { expected_network: expected } = request;
        if (expected !== undefined && !isDeepStrictEqual(expected, before.config.network ?? {})) throw staleNetwork();
        const changed = changedConfig(before.config, request, foundNow);
        const lists = [before.config, changed].map(({ network }) => network?.allowed_hosts);
        discards ||= !isDeepStrictEqual(lists[0], lists[1]);
        return { name: name ?? before.name, size: request.size ?? before.size, config: changed };
      });
      if (row === undefined) throw notFound(idOrName);
    } catch (error) {
      throw explainName(name, error);
    }
    if (discards) await this.#discardWarm(id);
    else await this.#keeper.look(id);
    return this.get(projectId, id);
  }

  /** @param force - also ends leased browsers. @throws {ServiceError} 409 `pool_in_use`. */
  async delete(projectId: string, idOrName: string, force: boolean): Promise<void> {
    const { id } = await this.#existing(projectId, idOrName);
    const leased = await this.#store.locked(id, async (locked) => {
      const count = locked.browsers.filter(({ state }) => state === "leased").length;
      if (count > 0 && !force) return count;
      await locked.end(
        locked.browsers.map((browser) => browser.id),
        "deleted",
      );
      await locked.remove();
      return 0;
    });
    if (leased === undefined) throw notFound(idOrName);
    if (leased > 0) throw inUse(idOrName, leased);
    await this.#keeper.look(id);
  }

  /**
   * In the order of the requests.
   * @returns `undefined` after the timeout or if the caller is gone; {@link RegionElsewhere} if the pool is elsewhere.
   */
  async acquire(
    projectId: string,
    idOrName: string,
    request: Acquire,
    signal: AbortSignal,
  ): Promise<SessionView | RegionElsewhere | undefined> {
    const pool = await this.#existing(projectId, idOrName);
    // Its browsers run in that region, and callers wait where they run.
    if (pool.region !== this.#region)
      return new RegionElsewhere({ region: pool.region, path: `/browser_pools/${pool.id}/acquire`, isAsked: false });
    return this.#leases.acquire(pool, { ...request, asked: idOrName }, signal);
  }

  /** Ends the browser, so that the next caller gets nothing of it; with `reuse`, a clean one replaces it at once. */
  async release(projectId: string, idOrName: string, request: z.output<typeof ReleaseBrowser>): Promise<void> {
    const { id } = await this.#existing(projectId, idOrName);
    await this.#leases.release(id, { ...request, asked: idOrName });
  }

  /** Replaces the warm browsers. */
  async flush(projectId: string, idOrName: string): Promise<void> {
    await this.#discardWarm((await this.#existing(projectId, idOrName)).id);
  }

  get isDraining(): boolean {
    return this.#sessions.isDraining;
  }

  /** For a server that drains: another server of the pool's region has its browsers. @throws {ServiceError} 404. */
  async elsewhere(projectId: string, idOrName: string): Promise<RegionElsewhere> {
    const { id, region } = await this.#existing(projectId, idOrName);
    return new RegionElsewhere({ region, path: `/browser_pools/${id}/acquire`, isAsked: false });
  }

  /** Refuses waiting callers, and ends the browsers of this server that wait in pools, so that other servers fill them. */
  drain(): void {
    this.#leases.close();
    for (const id of this.#sessions.pooled.pools()) void this.#keeper.look(id);
  }

  /** Aborted when waiting callers are refused. */
  get closing(): AbortSignal {
    return this.#leases.closing;
  }

  /** Refuses waiting callers and stops filling pools; their browsers end with the sessions. */
  async close(): Promise<void> {
    this.#leases.close();
    await this.#keeper.close();
  }

  async #existing(projectId: string, idOrName: string): Promise<CountedPool> {
    const row = await this.#store.find(projectId, idOrName);
    if (row === undefined) throw notFound(idOrName);
    return row;
  }

  /** Ends warm and starting browsers; the database notifies their servers. */
  async #discardWarm(id: string): Promise<void> {
    await this.#store.locked(id, (locked) =>
      locked.end(
        locked.browsers.filter(({ state }) => state !== "leased").map((browser) => browser.id),
        "deleted",
      ),
    );
    await this.#keeper.look(id);
  }
}

function explainName(name: string | undefined, error: unknown): unknown {
  return name !== undefined && isUniqueViolation(error) ? nameTaken(name) : explainDestination(error);
}
