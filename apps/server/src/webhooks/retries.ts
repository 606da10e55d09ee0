/** Milliseconds before the retries of a delivery, 2.5 days in all. */
const delaysMs = [5, 60, 300, 1800, 7200, 18_000, 36_000, 36_000, 43_200, 86_400].map((seconds) => seconds * 1000);
const maxRetryAfterMs = 24 * 60 * 60 * 1000;
/** Part of a delay that is added at random, so that retries of many deliveries spread. */
const jitter = 0.2;

/**
 * Returns the milliseconds before a retry; `undefined` after the last one.
 * @param retries - earlier ones.
 * @param retryAfterMs - the receiver's request; it can only delay the retry.
 */
export function retryDelayMs(retries: number, retryAfterMs = 0, random = Math.random()): number | undefined {
  const delay = delaysMs[retries];
  return delay === undefined ? undefined : Math.max(delay * (1 + jitter * random), retryAfterMs);
}

/** Returns the milliseconds of a `retry-after` header, at most a day; `undefined` if it is absent or invalid. */
export function retryAfterOf(header: string | undefined, nowMs = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(maxRetryAfterMs, Math.max(0, ms));
}
