import type { SessionRules } from "../browsers/session-runner.ts";
import type { Config } from "../config/config.ts";
import { compareSettings, pickLive, type ReloadReport } from "../config/reload.ts";
import type { OverloadRules } from "../overload/overload-guard.ts";
import type { RateLimitRules } from "../rate-limits/rate-limits.ts";

/** Settings as the parts of the service read them each time, so that they can change while it runs. */
export interface Rules {
  readonly sessions: SessionRules;
  readonly rates: RateLimitRules;
  readonly overload: OverloadRules;
  /** What holds now; differs from the settings of the start once others were taken. */
  inForce(): Config;
  /** Takes those of `next` that can change while the service runs. */
  take(next: Config): ReloadReport;
}

export function createRules(config: Config): Rules {
  let inForce = config;
  const sessions = sessionRulesOf(config);
  const rates = rateRulesOf(config);
  const overload = overloadRulesOf(config);
  return {
    sessions,
    rates,
    overload,
    inForce: () => inForce,
    take(next) {
      const report = compareSettings(inForce, next);
      inForce = { ...inForce, ...pickLive(next) };
      const { limits, ...others } = sessionRulesOf(inForce);
      Object.assign(sessions, others);
      // The object itself is what pools and the organisation hold.
      Object.assign(sessions.limits, limits);
      Object.assign(rates, rateRulesOf(inForce));
      Object.assign(overload, overloadRulesOf(inForce));
      return report;
    },
  };
}

function sessionRulesOf(config: Config): SessionRules {
  return {
    maxSessions: config.max_sessions,
    limits: { perProject: config.max_sessions_per_project, perOrganization: config.max_sessions_per_organization },
    idleTimeoutSeconds: config.idle_timeout_seconds,
    maxMemoryBytes: config.session_memory_max_mb === 0 ? Infinity : config.session_memory_max_mb * 2 ** 20,
  };
}

function rateRulesOf(config: Config): RateLimitRules {
  return { perKey: config.rate_limit_per_key, perOrganization: config.rate_limit_per_organization, refusedPerAddress: config.rate_limit_per_address };
}

function overloadRulesOf(config: Config): OverloadRules {
  return {
    maxRequests: config.max_requests,
    maxStarting: config.max_starting_sessions,
    maxDelayMs: config.max_event_loop_delay_ms,
    maxMemoryMb: config.max_memory_mb,
  };
}
