const maxWaitMs = 60_000;

/** 0.5 s, 1 s, 2 s, … 8 s, minus up to a quarter as jitter. */
export function backoffMs(retries: number): number {
  return Math.min(500 * 2 ** retries, 8000) * (1 - Math.random() / 4);
}

/** Returns the delay before the next attempt; `undefined` when the service requests more than a minute, which is the caller's decision. */
export function delayMs(retries: number, askedMs: number | undefined): number | undefined {
  if (askedMs === undefined) return backoffMs(retries);
  return askedMs > maxWaitMs ? undefined : askedMs;
}
