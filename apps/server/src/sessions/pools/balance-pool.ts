import type { PooledSessions } from "../browsers/pooled-sessions.ts";
import type { SessionRow } from "../browsers/session-store.ts";
import type { LockedPool } from "./locked-pool.ts";
import { planFor, type PoolBrowser, takeFromRate } from "./plan.ts";
import type { PoolRow } from "./pool-row.ts";

/** A browser unused for this long is replaced, because its network state and Chromium version become stale. */
const staleMs = 24 * 60 * 60 * 1000;

export interface ThisServer {
  readonly serverId: string;
  readonly pooled: Pick<PooledSessions, "isDraining" | "isRunning" | "of" | "room" | "rowFor">;
  /** True while starts of this pool fail. */
  readonly isPaused: boolean;
}

/** What the server does after the transaction. */
export interface Balanced {
  readonly pool: PoolRow;
  readonly grants: readonly Grant[];
  /** Stored as starting. */
  readonly starts: readonly SessionRow[];
  /** Browsers of any server that stay; others end. */
  readonly kept: ReadonlySet<string>;
  /** When the fill rate allows the next start; `undefined` = no start is due. */
  readonly nextAtMs: number | undefined;
}

export interface Grant {
  readonly waiter: string;
  readonly row: SessionRow;
}

interface Usable {
  readonly browsers: readonly PoolBrowser[];
  /** Starts that do not count against the fill rate. */
  readonly credits: number;
}

/** Ends unusable browsers, leases warm ones of this server to its callers, and fills free slots. */
export async function balancePool(locked: LockedPool, here: ThisServer): Promise<Balanced> {
  const { pool } = locked;
  const { browsers, credits } = await endUnusable(locked, here);
  const size = locked.isOpen ? pool.size : 0;
  const plan = planFor(here.serverId, { size, browsers, waiters: await locked.waiters() });
  const grants = await grant(locked, plan.lease);
  const room = here.isPaused ? 0 : here.pooled.room();
  const replaced = plan.replace.slice(0, room);
  const ended = [...plan.discard, ...replaced];
  await locked.end(ended, "deleted");
  const { count, nextAtMs } = await takeStarts(locked, credits, Math.min(plan.start, room - replaced.length));
  const starts = Array.from({ length: replaced.length + count }, () => here.pooled.rowFor(pool, pool.config));
  for (const row of starts) await locked.insertStarting(row);
  const kept = new Set(browsers.map(({ id }) => id));
  for (const id of ended) kept.delete(id);
  const present = browsers.filter(({ id }) => kept.has(id));
  const warm = present.filter(({ state }) => state === "warm").length;
  const leased = present.filter(({ state }) => state === "leased").length;
  await locked.report({ size, available: warm - grants.length, acquired: leased + grants.length }, here.isPaused);
  return { pool, grants, starts, kept, nextAtMs };
}

async function endUnusable(locked: LockedPool, { serverId, pooled }: ThisServer): Promise<Usable> {
  const { browsers, pool } = locked;
  const mine = browsers.filter(({ server }) => server === serverId);
  const running = new Set(pooled.of(pool.id));
  // Their start or end was lost.
  const lost = mine.filter(({ id }) => !running.has(id)).map(({ id }) => id);
  const oldest = Date.now() - staleMs;
  const stale = mine
    .filter(
      ({ created_at, state }) =>
        (state === "warm" && Date.parse(created_at) < oldest) || (pooled.isDraining && state !== "leased"),
    )
    .map(({ id }) => id);
  await locked.end(lost, "instance_lost");
  await locked.end(stale, "deleted");
  const outdated = await locked.outdated();
  await locked.end(outdated, "deleted");
  const gone = new Set([...lost, ...stale, ...outdated]);
  return {
    browsers: browsers
      .filter(({ id }) => !gone.has(id))
      // A session that is ending cannot be leased; its row will say so shortly.
      .map((browser) =>
        browser.server === serverId && browser.state === "warm" && !pooled.isRunning(browser.id)
          ? { ...browser, state: "leased" }
          : browser,
      ),
    // Another server replaces them at once.
    credits: Math.min(pool.size, pool.credits + outdated.length + (pooled.isDraining ? stale.length : 0)),
  };
}

async function grant(
  locked: LockedPool,
  leases: readonly { readonly browser: string; readonly waiter: string }[],
): Promise<Grant[]> {
  const grants: Grant[] = [];
  for (const { browser, waiter } of leases) {
    const row = await locked.lease(browser);
    if (row === undefined) continue;
    await locked.removeWaiter(waiter);
    grants.push({ waiter, row });
  }
  return grants;
}

/** Takes starts from the credits first, then from the fill rate. */
async function takeStarts(
  locked: LockedPool,
  credits: number,
  wanted: number,
): Promise<{ readonly count: number; readonly nextAtMs: number | undefined }> {
  const { config, credits: before, fill_at, size } = locked.pool;
  const byCredit = Math.min(wanted, credits);
  const rate = { size, percentPerMinute: config.fill_rate_per_minute, fillAtMs: Date.parse(fill_at) };
  const byRate = takeFromRate(rate, wanted - byCredit, Date.now());
  if (byCredit > 0 || byRate.count > 0 || credits !== before)
    await locked.setFill({ credits: credits - byCredit, fillAtMs: byRate.fillAtMs });
  return { count: byCredit + byRate.count, nextAtMs: byRate.nextAtMs };
}
