import type { SettingsInForce } from "../../config/settings-in-force.ts";
import type { OverloadRules } from "./overload-guard.ts";
import type { RateLimitRules } from "./rate-limits.ts";

export function rateRulesOf(settings: SettingsInForce): RateLimitRules {
  return settings.live<RateLimitRules>({
    perKey: (inForce) => inForce.rate_limit_per_key,
    perOrganization: (inForce) => inForce.rate_limit_per_organization,
    refusedPerAddress: (inForce) => inForce.rate_limit_per_address,
  });
}

export function overloadRulesOf(settings: SettingsInForce): OverloadRules {
  return settings.live<OverloadRules>({
    maxRequests: (inForce) => inForce.max_requests,
    maxStarting: (inForce) => inForce.max_starting_sessions,
    maxDelayMs: (inForce) => inForce.max_event_loop_delay_ms,
    maxMemoryMb: (inForce) => inForce.max_memory_mb,
  });
}
