import type { ResolvedAddress, ResolveName } from "./egress-policy.ts";
import { lookup } from "node:dns/promises";

const keptMs = 5_000;
const maxKept = 2_000;

/**
 * Resolves names as the host does (`/etc/hosts` included). A browser opens several connections to a host at once and asks for each:
 * answers, refusals too, are kept for five seconds.
 */
export function createNameResolver(resolve: ResolveName = (name) => lookup(name, { all: true })): ResolveName {
  const kept = new Map<string, { readonly answer: Promise<readonly ResolvedAddress[]>; readonly until: number }>();
  return (name) => {
    const now = performance.now();
    const known = kept.get(name);
    if (known !== undefined && known.until > now) return known.answer;
    kept.delete(name);
    // Oldest first: a map keeps the order in which its keys came.
    const oldest = kept.size >= maxKept ? kept.keys().next().value : undefined;
    if (oldest !== undefined) kept.delete(oldest);
    const answer = resolve(name);
    answer.catch(() => undefined);
    kept.set(name, { answer, until: now + keptMs });
    return answer;
  };
}
