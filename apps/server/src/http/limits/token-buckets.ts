import { recentlyUsed } from "../../storage/recently-used.ts";

export interface Allowance {
  readonly limit: number;
  /** Negative if other servers admitted more. */
  readonly remaining: number;
  /** Until the next request is admitted. */
  readonly waitMs: number;
  /** Until the bucket is full. */
  readonly resetMs: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

/** The capacity of a bucket is one minute. Evicting the least recently seen subjects fills their buckets. */
export interface TokenBuckets {
  /** `undefined` = no limit. */
  look(subject: string, nowMs: number): Allowance | undefined;
  take(subject: string, nowMs: number): void;
  charge(subject: string, tokens: number, nowMs: number): void;
}

const minuteMs = 60_000;
const maxSubjects = 20_000;

/** @param limitPerMinute - read at each use; 0 = no limit. */
export function createTokenBuckets(limitPerMinute: () => number): TokenBuckets {
  const buckets = recentlyUsed<Bucket>(maxSubjects);

  function filled(subject: string, limit: number, nowMs: number): Bucket {
    const bucket = buckets.get(subject);
    if (bucket === undefined) {
      const full = { tokens: limit, atMs: nowMs };
      buckets.set(subject, full);
      return full;
    }
    // The limit may be lower than at the last use.
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
      return {
        limit,
        remaining: Math.floor(tokens),
        waitMs: tokens >= 1 ? 0 : (1 - tokens) * msPerToken,
        resetMs: (limit - tokens) * msPerToken,
      };
    },
    take(subject, nowMs) {
      const limit = limitPerMinute();
      if (limit > 0) filled(subject, limit, nowMs).tokens -= 1;
    },
    charge(subject, tokens, nowMs) {
      const limit = limitPerMinute();
      if (limit === 0) return;
      const bucket = filled(subject, limit, nowMs);
      // Limits the debt to a minute.
      bucket.tokens = Math.max(-limit, bucket.tokens - tokens);
    },
  };
}
