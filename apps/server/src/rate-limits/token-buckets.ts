import { LRUCache } from "lru-cache";

/** What is left of a subject's limit. */
export interface Allowance {
  /** Requests a minute. */
  readonly limit: number;
  /** Whole requests that may be sent at once. Below zero where other servers have let more through. */
  readonly remaining: number;
  /** Milliseconds until one may be sent; 0 = now. */
  readonly waitMs: number;
  /** Milliseconds until all of `limit` may be sent at once. */
  readonly resetMs: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

/**
 * A bucket of tokens for each subject: it holds as many as the limit a minute and fills evenly, so a burst of a minute's requests is let
 * through, and then one at a time. Subjects that were not seen for longest are forgotten, their buckets full again.
 */
export interface TokenBuckets {
  /** Looks, and takes nothing. `undefined` = there is no limit. */
  look(subject: string, nowMs: number): Allowance | undefined;
  /** Takes one token, as {@link look} has allowed. */
  take(subject: string, nowMs: number): void;
  /** Takes what was let through elsewhere. */
  charge(subject: string, tokens: number, nowMs: number): void;
}

const minuteMs = 60_000;
const maxSubjects = 20_000;

/** @param limitPerMinute - read at each use; 0 = no limit. */
export function createTokenBuckets(limitPerMinute: () => number): TokenBuckets {
  const buckets = new LRUCache<string, Bucket>({ max: maxSubjects });

  function filled(subject: string, limit: number, nowMs: number): Bucket {
    const bucket = buckets.get(subject);
    if (bucket === undefined) {
      const full = { tokens: limit, atMs: nowMs };
      buckets.set(subject, full);
      return full;
    }
    // The clock is monotonic, but a limit may have been lowered since.
    bucket.tokens = Math.min(limit, bucket.tokens + (Math.max(0, nowMs - bucket.atMs) * limit) / minuteMs);
    bucket.atMs = nowMs;
    return bucket;
  }

  return {
    look(subject, nowMs) {
      const limit = limitPerMinute();
      if (limit === 0) return undefined;
      const { tokens } = filled(subject, limit, nowMs);
      const msPerToken = minuteMs / limit;
      return { limit, remaining: Math.floor(tokens), waitMs: tokens >= 1 ? 0 : (1 - tokens) * msPerToken, resetMs: (limit - tokens) * msPerToken };
    },
    take(subject, nowMs) {
      const limit = limitPerMinute();
      if (limit > 0) filled(subject, limit, nowMs).tokens -= 1;
    },
    charge(subject, tokens, nowMs) {
      const limit = limitPerMinute();
      if (limit === 0) return;
      const bucket = filled(subject, limit, nowMs);
      // A debt of more than a minute would outlast its cause.
      bucket.tokens = Math.max(-limit, bucket.tokens - tokens);
    },
  };
}
