import type { SettingsInForce } from "../../config/settings-in-force.ts";
import type { OverloadRules } from "./overload-guard.ts";
import type { RateLimitRules } from "./rate-limits.ts";

export function rateRulesOf(settings: SettingsInForce): RateLimitRules {
  return {
    get perKey() {
      return settings.inForce.rate_limit_per_key;
    },
    get perOrganization() {
      return settings.inForce.rate_limit_per_organization;
    },
    get refusedPerAddress() {
      return settings.inForce.rate_limit_per_address;
    },
  };
}

export function overloadRulesOf(settings: SettingsInForce): OverloadRules {
  return {
    get maxRequests() {
      return settings.inForce.max_requests;
    },
    get maxStarting() {
      return settings.inForce.max_starting_sessions;
    },
    get maxDelayMs() {
      return settings.inForce.max_event_loop_delay_ms;
    },
    get maxMemoryMb() {
      return settings.inForce.max_memory_mb;
    },
  };
}
