import type { ResolvedAddress, ResolveName } from "./egress-policy.ts";
import { lookup } from "node:dns/promises";
import pLimit from "p-limit";

const keptMs = 5_000;
const maxKept = 2_000;
/**
 * The service has another resolver than the sessions, and both use one pool of threads (`UV_THREADPOOL_SIZE`), half of which
 * may look names up: `shoal serve` has 32.
 */
const maxRunning = 12;

/** Caches results and errors for five seconds, because browsers open several connections to a host at once. */
export function createNameResolver(resolve: ResolveName = (name) => lookup(name, { all: true })): ResolveName {
  const kept = new Map<string, { readonly answer: Promise<readonly ResolvedAddress[]>; readonly until: number }>();
  const limit = pLimit(maxRunning);
  return (name) => {
    const now = performance.now();
    const known = kept.get(name);
    if (known !== undefined && known.until > now) return known.answer;
    kept.delete(name);
    // Maps iterate in insertion order, so the first key is the oldest.
    const oldest = kept.size >= maxKept ? kept.keys().next().value : undefined;
    if (oldest !== undefined) kept.delete(oldest);
    const answer = limit(() => resolve(name));
    answer.catch(() => undefined);
    kept.set(name, { answer, until: now + keptMs });
    return answer;
  };
}
