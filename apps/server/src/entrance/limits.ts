import type { Feature } from "../host/feature.ts";
import type { Host } from "../host/host.ts";
import type { InFlight } from "../http/in-flight.ts";
import { overloadRulesOf, rateRulesOf } from "../http/limits/limit-rules.ts";
import { createOverloadGuard } from "../http/limits/overload-guard.ts";
import { createRateLimits } from "../http/limits/rate-limits.ts";
import { shareUses } from "../http/limits/shared-uses.ts";

/** Limits of the whole server, and of each key. */
export function limitsFeature(
  { cleanup, database, log, serverId, settings }: Host,
  needs: { readonly inFlight: InFlight; readonly onRefused: (why: string) => void },
) {
  const overload = createOverloadGuard({
    rules: overloadRulesOf(settings),
    inFlight: () => needs.inFlight,
    onRefused: needs.onRefused,
  });
  cleanup.add("the watch for overload", () => {
    overload.close();
  });
  const rateLimits = createRateLimits(rateRulesOf(settings));
  if (!database.embedded) {
    const shared = shareUses({ database, log, serverId }, rateLimits);
    cleanup.add("rate limits across servers", () => shared.stop());
  }
  return { provides: { overload, rateLimits } } satisfies Feature;
}
