export interface PoolState {
  /** Warm and leased browsers; 0 while the project is archived. */
  readonly size: number;
  /** Oldest first, without ended ones. */
  readonly browsers: readonly PoolBrowser[];
  /** First come first. */
  readonly waiters: readonly { readonly id: string; readonly server: string }[];
}

export interface PoolBrowser {
  readonly id: string;
  /** It can only be leased on this server. */
  readonly server: string;
  readonly state: "starting" | "warm" | "leased";
}

export interface Plan {
  readonly lease: readonly { readonly browser: string; readonly waiter: string }[];
  /** Surplus browsers of any server, starting ones first. */
  readonly discard: readonly string[];
  /** Warm browsers of other servers that end to make room for callers that wait here. */
  readonly replace: readonly string[];
  /** In addition to the slots of `replace`. */
  readonly start: number;
}

/**
 * Waiting callers get the warm browsers of their server, first come first. A free slot goes to the server of the caller
 * that has waited longest without a starting browser, or to any server. A server whose callers have none replaces an
 * unneeded warm browser of another server. All servers compute the same result.
 */
export function planFor(server: string, { size, browsers: all, waiters }: PoolState): Plan {
  const excess = Math.max(0, all.length - size);
  const unleased = all.filter(({ state }) => state !== "leased");
  const discard = [
    ...unleased.filter(({ state }) => state === "starting"),
    ...unleased.filter(({ state }) => state === "warm"),
  ]
    .slice(0, excess)
    .map(({ id }) => id);
  const browsers = all.filter(({ id }) => !discard.includes(id));

  const warmHere = browsers
    .filter((browser) => browser.server === server && browser.state === "warm")
    .map(({ id }) => id);
  const mine = waiters.filter((waiter) => waiter.server === server);
  const lease = mine
    .slice(0, warmHere.length)
    .map(({ id: waiter }, index) => ({ browser: warmHere[index] ?? "", waiter }));
  const leased = new Set(lease.map(({ browser }) => browser));

  // Promised browsers: each waiting caller has the next warm or starting browser of its server.
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
  // A pool with more leased browsers than its size starts none.
  const replace = (browsers.length > size ? [] : uncovered)
    .slice(free, free + idle.length)
    .flatMap((waiting) => (waiting === server ? (replaceable.shift()?.id ?? []) : []));
  return {
    lease,
    discard,
    replace,
    start: forWaiters.filter((waiting) => waiting === server).length + (free - forWaiters.length),
  };
}

/** Stored as the time at which the rate would be used up if every start had waited for its turn. */
export interface FillRate {
  readonly size: number;
  /** Percent of `size` per minute. */
  readonly percentPerMinute: number;
  readonly fillAtMs: number;
}

/**
 * Up to `wanted`: a burst of one minute, at least one, then one at a time.
 * @returns the new `fillAtMs`, and when the next browser may start; `undefined` = never, or none is missing.
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
  // A clock that was set back must not stop the pool.
  let fillAtMs = Math.min(Math.max(rate.fillAtMs, nowMs), nowMs + aheadMs + everyMs);
  let count = 0;
  while (count < wanted && fillAtMs - nowMs <= aheadMs + 1) {
    fillAtMs += everyMs;
    count += 1;
  }
  return { count, fillAtMs, nextAtMs: count < wanted ? fillAtMs - aheadMs : undefined };
}
