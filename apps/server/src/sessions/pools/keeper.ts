import type { Database } from "@shoal/database";
import { KeyedMutex } from "@shoal/primitives";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../../log/log.ts";
import type { SessionRow } from "../browsers/session-store.ts";
import type { Sessions } from "../browsers/sessions.ts";
import { type Balanced, balancePool, type Grant } from "./balance-pool.ts";
import type { PoolRow } from "./pool-row.ts";
import type { PoolStore } from "./pool-store.ts";
import type { PoolWaiters } from "./pool-waiters.ts";

/** All pools are checked at this interval, because a notification may get lost or a server may die. */
const lookEveryMs = 2_000;
const firstRetryMs = 1_000;
const maxRetryMs = 30_000;

export interface KeeperParts {
  readonly database: Database;
  readonly store: PoolStore;
  readonly waiters: PoolWaiters;
  readonly sessions: Pick<Sessions, "pooled">;
  readonly serverId: string;
  readonly region: string;
  readonly log: Log;
}

/** Fills the pools of every project with browsers of this server and leases them to the callers that wait here. */
export class Keeper {
  readonly #parts: KeeperParts;
  /** Callers of this server that wait for a browser. */
  readonly #expected = new Map<string, (row: SessionRow) => void>();
  readonly #checks = new KeyedMutex<string>();
  /** Checks that have not begun. */
  readonly #queued = new Map<string, Promise<void>>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** Pools whose latest start failed recently. */
  readonly #paused = new Set<string>();
  readonly #retryMs = new Map<string, number>();
  readonly #tasks = new Set<Promise<unknown>>();
  readonly #stop = new AbortController();
  readonly #clock: NodeJS.Timeout;
  readonly #unlisten: () => void;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#clock = setInterval(() => {
      this.#follow(this.#lookAtAll());
    }, lookEveryMs);
    this.#unlisten = parts.database.onChange((change) => {
      if (change === undefined) this.#follow(this.#lookAtAll());
      else if (change.table === "browser_pools") void this.look(change.id);
    });
  }

  /** Resolves, and never rejects, after a check that began after the call. */
  look(poolId: string): Promise<void> {
    if (this.#stop.signal.aborted) return Promise.resolve();
    const queued = this.#queued.get(poolId);
    if (queued !== undefined) return queued;
    const check = this.#checks.run(poolId, () => {
      this.#queued.delete(poolId);
      return this.#check(poolId);
    });
    this.#queued.set(poolId, check);
    this.#follow(check);
    return check;
  }

  /** Calls `grant` when a waiting caller of this server gets its browser. @returns a function that cancels this. */
  expect(waiter: string, grant: (row: SessionRow) => void): () => void {
    this.#expected.set(waiter, grant);
    return () => {
      this.#expected.delete(waiter);
    };
  }

  async close(): Promise<void> {
    this.#stop.abort();
    clearInterval(this.#clock);
    this.#unlisten();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.allSettled(this.#tasks);
  }

  /** Lets {@link close} wait for a task. */
  #follow(task: Promise<unknown>): void {
    this.#tasks.add(task);
    void task.finally(() => this.#tasks.delete(task));
  }

  async #lookAtAll(): Promise<void> {
    const { log, region, sessions, store, waiters } = this.#parts;
    try {
      await waiters.removeLost();
      // The notification of a release or of the pool's end may have been lost.
      const browsers = sessions.pooled.browsers();
      const running = await store.runningOf(browsers.map(({ id }) => id));
      const lost = browsers.filter(({ id }) => !running.has(id)).map(({ poolId }) => poolId);
      for (const id of new Set([...lost, ...(await store.needy(region))])) void this.look(id);
    } catch (error) {
      log.warn({ err: error }, "the browser pools could not be looked after");
    }
  }

  async #check(poolId: string): Promise<void> {
    if (this.#stop.signal.aborted) return;
    const { log, region, serverId, sessions, store } = this.#parts;
    const { pooled } = sessions;
    try {
      const balanced = await store.locked(poolId, async (locked) =>
        // Servers of its region fill it.
        locked.pool.region === region
          ? balancePool(locked, { serverId, pooled, isPaused: this.#paused.has(poolId) })
          : undefined,
      );
      if (balanced === undefined) for (const id of pooled.of(poolId)) pooled.end(id, "deleted");
      else this.#apply(balanced);
    } catch (error) {
      log.warn({ pool_id: poolId, err: error }, "a browser pool could not be looked after");
    }
  }

  #apply({ pool, grants, starts, kept, nextAtMs }: Balanced): void {
    const { pooled } = this.#parts.sessions;
    const ended = pooled.of(pool.id).filter((id) => !kept.has(id));
    // In the same turn, because the next check ends stored rows without a session. Shutdown does not wait for starts:
    // ending the sessions cancels them.
    for (const row of starts) void this.#start(pool, row);
    for (const id of ended) pooled.end(id, "deleted");
    for (const grant of grants) this.#grant(pool, grant);
    if (nextAtMs !== undefined) this.#lookAt(pool.id, nextAtMs);
  }

  #grant(pool: PoolRow, { row, waiter }: Grant): void {
    const grant = this.#expected.get(waiter);
    this.#expected.delete(waiter);
    if (grant !== undefined) {
      grant(row);
      return;
    }
    this.#follow(
      this.#parts.store.giveBack(pool.id, row.id).then(
        () => this.look(pool.id),
        () => undefined,
      ),
    );
  }

  #lookAt(poolId: string, atMs: number): void {
    if (this.#timers.has(poolId) || this.#stop.signal.aborted) return;
    const timer = setTimeout(
      () => {
        this.#timers.delete(poolId);
        void this.look(poolId);
      },
      Math.max(1, atMs - Date.now()),
    );
    this.#timers.set(poolId, timer);
  }

  async #start(pool: PoolRow, row: SessionRow): Promise<void> {
    const { log, sessions, store } = this.#parts;
    const { pooled } = sessions;
    try {
      await pooled.start(row, pool.config);
      this.#retryMs.delete(pool.id);
      if (await store.markWarm(row.id))
        log.debug({ pool_id: pool.id, session_id: row.id }, "a browser of a pool is warm");
      else pooled.end(row.id, "deleted");
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      pooled.end(row.id, "instance_lost");
      await this.#pauseAfter(error, pool, row);
    }
    void this.look(pool.id);
  }

  async #pauseAfter(error: unknown, { id }: PoolRow, row: SessionRow): Promise<void> {
    const waitMs = this.#retryMs.get(id) ?? firstRetryMs;
    this.#retryMs.set(id, Math.min(maxRetryMs, waitMs * 2));
    this.#parts.log.warn(
      { pool_id: id, session_id: row.id, retry_ms: waitMs, err: error },
      "a browser of a pool did not start",
    );
    this.#paused.add(id);
    await delay(waitMs, undefined, { ref: false, signal: this.#stop.signal }).catch(() => undefined);
    this.#paused.delete(id);
  }
}
