import type { Database } from "@shoal/database";
import { setTimeout as delay } from "node:timers/promises";
import type { SessionRow } from "../browsers/session-store.ts";
import type { Sessions } from "../browsers/sessions.ts";
import type { Log } from "../log.ts";
import { planFor, takeFromRate } from "./plan.ts";
import { markWarm, type PoolRow, type PoolStore, underLock } from "./pool-store.ts";

/** How often pools are looked at although nothing was heard of them: a notification may get lost, a server may die. */
const lookEveryMs = 2_000;
/** After a start that failed, for the next one of that pool; twice as long each time. */
const firstRetryMs = 1_000;
const maxRetryMs = 30_000;
/** A browser that nobody leased for so long is replaced, so that what it remembers of an old network or an old Chromium does not last. */
const staleMs = 24 * 60 * 60 * 1000;

/** A browser that was leased to somebody who waited. */
export interface Granted {
  readonly row: SessionRow;
  readonly pool: PoolRow;
}

/** Keeps the pools of every project filled with browsers of this server, and hands them to those who wait here. */
export interface Keeper {
  /** Looks after a pool; resolves, and never rejects, when a look that began after the call is over. */
  look(poolId: string): Promise<void>;
  /** Calls `grant` when a waiter of this server has got its browser, until the function that it returns is called. */
  expect(waiter: string, grant: (granted: Granted) => void): () => void;
  close(): Promise<void>;
}

export function createKeeper(parts: {
  readonly database: Database;
  readonly store: PoolStore;
  readonly sessions: Sessions;
  readonly serverId: string;
  readonly region: string;
  readonly log: Log;
}): Keeper {
  const { database, store, sessions, serverId, region, log } = parts;
  const { pooled } = sessions;
  const expected = new Map<string, (granted: Granted) => void>();
  /** Looks that run, and those that follow them. */
  const looking = new Map<string, { readonly now: Promise<void>; next: Promise<void> | undefined }>();
  const timers = new Map<string, NodeJS.Timeout>();
  /** Pools whose latest start failed a moment ago. */
  const paused = new Set<string>();
  const retryMs = new Map<string, number>();
  const tasks = new Set<Promise<unknown>>();
  const stop = new AbortController();
  let closed = false;

  function follow(task: Promise<unknown>): void {
    tasks.add(task);
    void task.finally(() => tasks.delete(task));
  }

  function look(poolId: string): Promise<void> {
    if (closed) return Promise.resolve();
    const running = looking.get(poolId);
    if (running !== undefined) return (running.next ??= running.now.then(() => look(poolId)));
    const now = tend(poolId)
      .catch((error: unknown) => {
        log.warn({ pool_id: poolId, err: error }, "a browser pool could not be looked after");
      })
      .then(() => {
        looking.delete(poolId);
      });
    looking.set(poolId, { now, next: undefined });
    follow(now);
    return now;
  }

  function lookAt(poolId: string, atMs: number): void {
    if (timers.has(poolId) || closed) return;
    timers.set(
      poolId,
      setTimeout(
        () => {
          timers.delete(poolId);
          void look(poolId);
        },
        Math.max(1, atMs - Date.now()),
      ),
    );
  }

  async function start(pool: PoolRow, row: SessionRow): Promise<void> {
    try {
      await pooled.start(row, pool.config);
      retryMs.delete(pool.id);
      if (await markWarm(database, row.id)) log.debug({ pool_id: pool.id, session_id: row.id }, "a browser of a pool is warm");
      else pooled.end(row.id, "deleted");
    } catch (error) {
      if (closed) return;
      pooled.end(row.id, "instance_lost");
      const waitMs = retryMs.get(pool.id) ?? firstRetryMs;
      retryMs.set(pool.id, Math.min(maxRetryMs, waitMs * 2));
      log.warn({ pool_id: pool.id, session_id: row.id, retry_ms: waitMs, err: error }, "a browser of a pool did not start");
      paused.add(pool.id);
      await delay(waitMs, undefined, { ref: false, signal: stop.signal }).catch(() => undefined);
      paused.delete(pool.id);
    }
    void look(pool.id);
  }

  /** Does what the plan says, under the pool's lock, and then what that entails on this server. */
  async function tend(poolId: string): Promise<void> {
    const done = await store.locked(poolId, async ({ pool, isOpen, browsers }, transaction) => {
      // Servers of its own region look after it.
      if (pool.region !== region) return undefined;
      // A row of this server's that nothing runs for: its end, or its start, got lost.
      const here = new Set(pooled.of(poolId));
      const lost = browsers.filter(({ id, server }) => server === serverId && !here.has(id));
      const stale = browsers.filter(
        ({ server, state, created_at }) => server === serverId && state === "warm" && Date.parse(created_at) < Date.now() - staleMs,
      );
      await underLock.end(
        transaction,
        lost.map(({ id }) => id),
        "instance_lost",
      );
      await underLock.end(
        transaction,
        stale.map(({ id }) => id),
        "deleted",
      );
      const outdated = await underLock.outdated(transaction, pool);
      await underLock.end(transaction, outdated, "deleted");
      // Those that take their place need not wait for the fill rate.
      const credits = Math.min(pool.size, pool.credits + outdated.length);
      const gone = new Set([...[...lost, ...stale].map(({ id }) => id), ...outdated]);
      const present = browsers
        .filter(({ id }) => !gone.has(id))
        // One that is just ending is nobody's any more; its row tells so in a moment.
        .map((browser) =>
          browser.server === serverId && browser.state === "warm" && !pooled.isRunning(browser.id)
            ? { ...browser, state: "leased" as const }
            : browser,
        );

      const waiters = await underLock.waiters(transaction, poolId);
      const size = isOpen ? pool.size : 0;
      const plan = planFor(serverId, { size, browsers: present, waiters });
      const grants: { readonly waiter: string; readonly row: SessionRow }[] = [];
      for (const { browser, waiter } of plan.lease) {
        const row = await underLock.lease(transaction, pool, browser);
        if (row === undefined) continue;
        await underLock.served(transaction, waiter);
        grants.push({ waiter, row });
      }
      const room = paused.has(poolId) ? 0 : pooled.room();
      const replace = plan.replace.slice(0, room);
      await underLock.end(transaction, [...plan.discard, ...replace], "deleted");

      const mayStart = Math.min(plan.start, room - replace.length);
      const byCredit = Math.min(mayStart, credits);
      const byRate = takeFromRate(
        { size: pool.size, percentPerMinute: pool.config.fill_rate_per_minute, fillAtMs: Date.parse(pool.fill_at) },
        mayStart - byCredit,
        Date.now(),
      );
      const count = replace.length + byCredit + byRate.count;
      const rows = Array.from({ length: count }, () => pooled.rowFor(pool, pool.config));
      for (const row of rows) await underLock.insertStarting(transaction, row);
      if (byCredit > 0 || byRate.count > 0 || credits !== pool.credits)
        await underLock.setFill(transaction, poolId, { credits: credits - byCredit, fillAtMs: byRate.fillAtMs });
      const kept = new Set(present.map(({ id }) => id));
      for (const id of [...plan.discard, ...replace]) kept.delete(id);
      return { pool, grants, rows, kept, nextAtMs: byRate.nextAtMs };
    });
    if (done === undefined) {
      for (const id of pooled.of(poolId)) pooled.end(id, "deleted");
      return;
    }
    // Rows that were just stored are started before anything else may look for them.
    const ended = pooled.of(poolId).filter((id) => !done.kept.has(id));
    // Not waited for by a stop: the sessions' own end gives up a start.
    for (const row of done.rows) void start(done.pool, row);
    for (const id of ended) pooled.end(id, "deleted");
    for (const { waiter, row } of done.grants) {
      const grant = expected.get(waiter);
      expected.delete(waiter);
      if (grant !== undefined) grant({ row, pool: done.pool });
      // Nobody is there any more to take it.
      else
        follow(
          giveBack(store, poolId, row.id).then(
            () => look(poolId),
            () => undefined,
          ),
        );
    }
    if (done.nextAtMs !== undefined) lookAt(poolId, done.nextAtMs);
  }

  async function lookAtAll(): Promise<void> {
    await store.forgetWaiters(undefined);
    for (const id of await store.needy(region)) void look(id);
  }

  const clock = setInterval(() => {
    follow(
      lookAtAll().catch((error: unknown) => {
        log.warn({ err: error }, "the browser pools could not be looked after");
      }),
    );
  }, lookEveryMs);
  const unlisten = database.onChange((change) => {
    if (change === undefined) follow(lookAtAll().catch(() => undefined));
    else if (change.table === "browser_pools") void look(change.id);
  });

  return {
    look,
    expect(waiter, grant) {
      expected.set(waiter, grant);
      return () => {
        expected.delete(waiter);
      };
    },
    async close() {
      closed = true;
      stop.abort();
      clearInterval(clock);
      unlisten();
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.allSettled(tasks);
    },
  };
}

/** Ends a leased browser and has a clean one started in its place at once. @returns whether the pool had leased it. */
export async function giveBack(store: PoolStore, poolId: string, sessionId: string, reuse = true): Promise<boolean> {
  const given = await store.locked(poolId, async ({ pool, browsers }, transaction) => {
    if (!browsers.some(({ id, state }) => id === sessionId && state === "leased")) return false;
    await underLock.end(transaction, [sessionId], "deleted");
    if (reuse) await underLock.setFill(transaction, poolId, { credits: Math.min(pool.size, pool.credits + 1), fillAtMs: Date.parse(pool.fill_at) });
    return true;
  });
  return given === true;
}
