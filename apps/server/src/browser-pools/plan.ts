/** A pool as the plan looks at it: everything under its lock. */
export interface PoolState {
  /** Browsers that are wanted, warm and leased ones together; 0 while the project is archived. */
  readonly size: number;
  /** Browsers of the pool that have not ended, oldest first. */
  readonly browsers: readonly PoolBrowser[];
  /** Who waits, first come first. */
  readonly waiters: readonly { readonly id: string; readonly server: string }[];
}

export interface PoolBrowser {
  readonly id: string;
  /** Where it runs; it can only be leased there. */
  readonly server: string;
  readonly state: "starting" | "warm" | "leased";
}

/** What one server is to do now. */
export interface Plan {
  /** Warm browsers of this server, and the waiters that get them. */
  readonly lease: readonly { readonly browser: string; readonly waiter: string }[];
  /** Browsers of any server that are too many, those that are still starting first. */
  readonly discard: readonly string[];
  /** Warm browsers of other servers that end so that this one may start its own for those who wait here. */
  readonly replace: readonly string[];
  /** Slots that this server may fill, beside those of `replace`. */
  readonly start: number;
}

/**
 * Says what a server is to do for a pool: its waiters get its warm browsers, first come first; a free slot goes to the server of whoever has waited longest
 * without a browser on the way, and to any server when nobody waits. A server whose waiters have none takes the place of a warm browser that nobody on
 * another server waits for. Every server comes to the same division of the slots, so that two never start for the same one.
 */
export function planFor(server: string, { size, browsers: all, waiters }: PoolState): Plan {
  const excess = Math.max(0, all.length - size);
  const unleased = all.filter(({ state }) => state !== "leased");
  const discard = [...unleased.filter(({ state }) => state === "starting"), ...unleased.filter(({ state }) => state === "warm")]
    .slice(0, excess)
    .map(({ id }) => id);
  const browsers = all.filter(({ id }) => !discard.includes(id));

  const warmHere = browsers.filter((browser) => browser.server === server && browser.state === "warm").map(({ id }) => id);
  const mine = waiters.filter((waiter) => waiter.server === server);
  const lease = mine.slice(0, warmHere.length).map(({ id: waiter }, index) => ({ browser: warmHere[index] ?? "", waiter }));
  const leased = new Set(lease.map(({ browser }) => browser));

  // What is promised: each waiter has the next warm or starting browser of its own server.
  const spare = browsers.filter(({ state }) => state !== "leased");
  const uncovered: string[] = [];
  for (const waiter of waiters) {
    const index = spare.findIndex((browser) => browser.server === waiter.server);
    if (index === -1) uncovered.push(waiter.server);
    else spare.splice(index, 1);
  }
  const idle = spare.filter(({ id, state }) => state === "warm" && !leased.has(id));

  const free = Math.max(0, size - browsers.length);
  const forWaiters = uncovered.slice(0, free);
  const replaceable = idle.filter((browser) => browser.server !== server);
  // A pool that is too large, because more are leased than it may have now, starts none.
  const replace = (browsers.length > size ? [] : uncovered)
    .slice(free, free + idle.length)
    .flatMap((waiting) => (waiting === server ? (replaceable.shift()?.id ?? []) : []));
  return { lease, discard, replace, start: forWaiters.filter((waiting) => waiting === server).length + (free - forWaiters.length) };
}

/** A fill rate, in the form in which it is kept: the moment at which it would be used up, had every start waited for its turn. */
export interface FillRate {
  readonly size: number;
  /** Percent of `size` that may be started in a minute. */
  readonly percentPerMinute: number;
  /** Epoch milliseconds. */
  readonly fillAtMs: number;
}

/**
 * How many browsers the rate allows now, up to `wanted`: a minute's worth at once, at least one, then one after the other.
 *
 * @returns the new `fillAtMs`, and when the next one may start; `undefined` = never, or nothing is left to start.
 */
export function takeFromRate(
  rate: FillRate,
  wanted: number,
  nowMs: number,
): { readonly count: number; readonly fillAtMs: number; readonly nextAtMs: number | undefined } {
  const perMinute = (rate.size * rate.percentPerMinute) / 100;
  if (perMinute <= 0) return { count: 0, fillAtMs: rate.fillAtMs, nextAtMs: undefined };
  const everyMs = 60_000 / perMinute;
  const aheadMs = (Math.max(1, Math.floor(perMinute)) - 1) * everyMs;
  // A clock that was set back must not stop the pool for as long as it was wrong.
  let fillAtMs = Math.min(Math.max(rate.fillAtMs, nowMs), nowMs + aheadMs + everyMs);
  let count = 0;
  while (count < wanted && fillAtMs - nowMs <= aheadMs + 1) {
    fillAtMs += everyMs;
    count += 1;
  }
  return { count, fillAtMs, nextAtMs: count < wanted ? fillAtMs - aheadMs : undefined };
}
