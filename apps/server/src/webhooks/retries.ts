/** Milliseconds before the retries of a delivery, 2.5 days in all. */
const delaysMs = [5, 60, 300, 1800, 7200, 18_000, 36_000, 36_000, 43_200, 86_400].map((seconds) => seconds * 1000);
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
