import type { Page } from "@shoal/contract";
import type { Database } from "@shoal/database";
import { badInput, ServiceError } from "@shoal/router";
import type { AcquireBrowser, BrowserPool, CreateBrowserPool, ListBrowserPools, ReleaseBrowser, UpdateBrowserPool } from "@shoal/schemas";
import type * as z from "zod/mini";
import { RegionElsewhere } from "../browsers/session-errors.ts";
import type { SessionStore } from "../browsers/session-store.ts";
import type { SessionView } from "../browsers/running-session.ts";
import type { Sessions } from "../browsers/sessions.ts";
import { isUniqueViolation } from "../database-errors.ts";
import { createId } from "../ids.ts";
import type { Log } from "../log.ts";
import { isStorable, toPage } from "../paging.ts";
import type { SessionLimits } from "../projects/session-limits.ts";
import { explainDestination } from "../telemetry-export/choice.ts";
import { createKeeper, type Granted, giveBack } from "./keeper.ts";
import { changedConfig, checkConfig, configOf, fillSeconds, toPool } from "./pool-config.ts";
import { type CountedPool, createPoolStore, underLock } from "./pool-store.ts";

/** The browser pools of every project. */
export interface BrowserPools {
  create(projectId: string, request: z.output<typeof CreateBrowserPool>): Promise<BrowserPool>;
  list(projectId: string, filter: z.output<typeof ListBrowserPools>): Promise<Page<BrowserPool>>;
  /** By id, or else by name. */
  get(projectId: string, idOrName: string): Promise<BrowserPool>;
  update(projectId: string, idOrName: string, request: z.output<typeof UpdateBrowserPool>): Promise<BrowserPool>;
  delete(projectId: string, idOrName: string, force: boolean): Promise<void>;
  /** Leases a browser; those who wait get theirs in the order in which they came. @returns `undefined` when none came in time, or the caller has gone. */
  acquire(projectId: string, idOrName: string, request: z.output<typeof AcquireBrowser>, signal: AbortSignal): Promise<SessionView | undefined>;
  /** Gives a leased browser back: it ends, so that nothing of it reaches the next caller, and with `reuse` a clean one takes its place at once. */
  release(projectId: string, idOrName: string, request: z.output<typeof ReleaseBrowser>): Promise<void>;
  /** Ends the warm browsers. */
  flush(projectId: string, idOrName: string): Promise<void>;
  /** Aborted when those who wait are sent away. */
  readonly closing: AbortSignal;
  /** Sends those who wait away and keeps the pools no more; their browsers end with the sessions. May be called again. */
  close(): Promise<void>;
}

/** Beyond the wait itself, for a server that is slow to take its waiter back. */
const waiterSlackMs = 30_000;

function notFound(idOrName: string): ServiceError {
  return new ServiceError(
    404,
    "not_found",
    `Browser pool ${idOrName} was not found in this project. List the pools with browserPools.list, or create it with browserPools.create.`,
  );
}

function nameTaken(name: string): ServiceError {
  return new ServiceError(
    409,
    "name_taken",
    `A browser pool named ${JSON.stringify(name)} exists in this project already. Choose another name, or use that pool.`,
  );
}

function sessionNameTaken(name: string): ServiceError {
  return new ServiceError(409, "name_taken", `A running session of this project is named ${name} already. Choose another name, or end that session.`);
}

function stopping(): ServiceError {
  return new ServiceError(503, "shutting_down", "The server is stopping. Repeat the request in a moment.", { retryAfterSeconds: 2 });
}

export async function createBrowserPools(parts: {
  readonly database: Database;
  readonly sessions: Sessions;
  readonly sessionStore: SessionStore;
  readonly serverId: string;
  readonly region: string;
  readonly limits: SessionLimits;
  readonly log: Log;
}): Promise<BrowserPools> {
  const { database, sessions, sessionStore, serverId, region, limits, log } = parts;
  const store = createPoolStore(database);
  await store.forgetWaiters(serverId);
  await store.adopt(serverId, region);
  const keeper = createKeeper({ database, store, sessions, serverId, region, log });
  const closing = new AbortController();

  async function existing(projectId: string, idOrName: string): Promise<CountedPool> {
    const row = await store.find(projectId, idOrName);
    if (row === undefined) throw notFound(idOrName);
    return row;
  }

  /** Ends warm browsers, and those that are becoming so, wherever they run: their servers hear of it. */
  async function discardWarm(id: string): Promise<void> {
    await store.locked(id, ({ browsers }, transaction) =>
      underLock.end(
        transaction,
        browsers.filter(({ state }) => state !== "leased").map((browser) => browser.id),
        "deleted",
      ),
    );
    await keeper.look(id);
  }

  /** @param seconds - 0 = what one look finds. @returns `undefined` when nothing came in time, or the caller has gone. */
  async function waitForBrowser(poolId: string, seconds: number, signal: AbortSignal): Promise<Granted | undefined> {
    const waiter = createId();
    const granted = Promise.withResolvers<Granted | undefined>();
    const over = Promise.withResolvers<undefined>();
    const forget = keeper.expect(waiter, granted.resolve);
    const giveUp = (): void => {
      over.resolve(undefined);
    };
    const enough = AbortSignal.any([signal, closing.signal]);
    enough.addEventListener("abort", giveUp, { once: true });
    let timer: NodeJS.Timeout | undefined;
    try {
      await store.wait(waiter, poolId, serverId, new Date(Date.now() + seconds * 1000 + waiterSlackMs));
      const looked = keeper.look(poolId);
      if (enough.aborted) giveUp();
      else if (seconds > 0) timer = setTimeout(giveUp, seconds * 1000);
      else void looked.then(giveUp);
      const came = await Promise.race([granted.promise, over.promise]);
      if (came !== undefined || (await store.leave(waiter))) return came;
      // It was given a browser at this very moment, or the pool is gone.
      return await Promise.race([granted.promise, keeper.look(poolId).then(() => undefined)]);
    } finally {
      clearTimeout(timer);
      enough.removeEventListener("abort", giveUp);
      forget();
    }
  }

  return {
    async create(projectId, request) {
      if (request.region !== undefined && request.region !== region)
        throw new RegionElsewhere({ region: request.region, path: "/browser_pools", isAsked: true });
      const foundNow = await checkConfig(sessions, projectId, request);
      const row = {
        id: createId(),
        project_id: projectId,
        name: request.name ?? null,
        region,
        size: request.size,
        config: configOf(request, foundNow),
      };
      try {
        const pool = await store.insert(row, limits);
        await database.afterwards(() => void keeper.look(pool.id));
        return toPool(pool);
      } catch (error) {
        throw request.name !== undefined && isUniqueViolation(error) ? nameTaken(request.name) : explainDestination(error);
      }
    },

    async list(projectId, filter) {
      return toPage(await store.list(projectId, filter), filter, toPool);
    },

    get: async (projectId, idOrName) => toPool(await existing(projectId, idOrName)),

    async update(projectId, idOrName, request) {
      const { id, config } = await existing(projectId, idOrName);
      const foundNow = await checkConfig(sessions, projectId, request, config);
      const name = request.name === "" ? undefined : request.name;
      try {
        const row = await store.update(id, limits, (before) => ({
          name: name ?? before.name,
          size: request.size ?? before.size,
          config: changedConfig(before.config, request, foundNow),
        }));
        if (row === undefined) throw notFound(idOrName);
      } catch (error) {
        throw name !== undefined && isUniqueViolation(error) ? nameTaken(name) : explainDestination(error);
      }
      if (request.discard_all_idle) await discardWarm(id);
      else await keeper.look(id);
      return toPool(await existing(projectId, id));
    },

    async delete(projectId, idOrName, force) {
      const { id } = await existing(projectId, idOrName);
      const leased = await store.locked(id, async ({ browsers }, transaction) => {
        const count = browsers.filter(({ state }) => state === "leased").length;
        if (count > 0 && !force) return count;
        await underLock.end(
          transaction,
          browsers.map((browser) => browser.id),
          "deleted",
        );
        await underLock.remove(transaction, id);
        return 0;
      });
      if (leased === undefined) throw notFound(idOrName);
      if (leased > 0)
        throw new ServiceError(
          409,
          "pool_in_use",
          `${String(leased)} ${leased === 1 ? "browser" : "browsers"} of pool ${idOrName} ${leased === 1 ? "is" : "are"} leased. Release them first with browserPools.release, or end them too with force: true.`,
        );
      await keeper.look(id);
    },

    async acquire(projectId, idOrName, request, signal) {
      const pool = await existing(projectId, idOrName);
      // Its browsers run there, and whoever waits for one waits where it runs.
      if (pool.region !== region) throw new RegionElsewhere({ region: pool.region, path: `/browser_pools/${pool.id}/acquire`, isAsked: false });
      const { name, tags, start_url, telemetry } = request;
      if (!isStorable(start_url)) {
        throw badInput("body.start_url: must not hold a NUL character");
      }
      await sessions.pooled.checkTelemetry(projectId, telemetry, pool.config.telemetry_destination_id);
      const taken = async (): Promise<boolean> => {
        const other = name === undefined ? undefined : await sessionStore.find(projectId, name, false);
        return other !== undefined && other.name === name;
      };
      if (name !== undefined && (await taken())) throw sessionNameTaken(name);
      for (const deadline = Date.now() + (request.acquire_timeout_seconds ?? fillSeconds(pool.config)) * 1000; ;) {
        const granted = await waitForBrowser(pool.id, Math.max(0, (deadline - Date.now()) / 1000), signal);
        if (granted === undefined) {
          if (closing.signal.aborted) throw stopping();
          // A pool that was deleted meanwhile is no reason to ask again.
          if ((await store.find(projectId, pool.id)) === undefined) throw notFound(idOrName);
          return undefined;
        }
        const back = async (): Promise<void> => {
          await giveBack(store, pool.id, granted.row.id);
          void keeper.look(pool.id);
        };
        if (signal.aborted || closing.signal.aborted) {
          await back();
          if (closing.signal.aborted) throw stopping();
          return undefined;
        }
        try {
          const leased = await sessions.pooled.lease(granted.row, { telemetry, ...(start_url && { start_url }) });
          const row =
            name === undefined && tags === undefined
              ? leased
              : await sessionStore.update(granted.row.id, { ...(name !== undefined && { name }), ...(tags && { tags }) });
          if (row !== undefined) {
            sessions.pooled.rename(row);
            return sessions.pooled.show(row);
          }
        } catch (error) {
          await back();
          if (name !== undefined && isUniqueViolation(error)) throw sessionNameTaken(name);
          if (ServiceError.isInstance(error) && error.status !== 409 && error.status !== 404) throw error;
          log.warn({ session_id: granted.row.id, err: error }, "a browser of a pool ended before it could be handed out");
        }
        if (Date.now() >= deadline) return undefined;
      }
    },

    async release(projectId, idOrName, { session_id, reuse }) {
      const { id } = await existing(projectId, idOrName);
      if (!isStorable(session_id) || !(await giveBack(store, id, session_id, reuse))) {
        throw new ServiceError(
          404,
          "not_found",
          `Browser ${session_id} is not leased from pool ${idOrName}. It may have been released, or have ended with its timeout.`,
        );
      }
      sessions.pooled.end(session_id, "deleted");
      void keeper.look(id);
    },

    async flush(projectId, idOrName) {
      await discardWarm((await existing(projectId, idOrName)).id);
    },

    closing: closing.signal,
    async close() {
      closing.abort();
      await keeper.close();
    },
  };
}
