import type { InvocationRules } from "../apps/invocations/invocations.ts";
import type { Config } from "../config/settings.ts";
import { compareSettings, pickLive, type ReloadReport } from "../config/reload.ts";
import type { OverloadRules } from "../http/limits/overload-guard.ts";
import type { RateLimitRules } from "../http/limits/rate-limits.ts";
import type { SessionRules } from "../sessions/browsers/session-runner.ts";

/** The settings in force. Other parts read them at each use, so that a reload takes effect at once. */
export class Rules {
  #config: Config;

  constructor(config: Config) {
    this.#config = config;
  }

  readonly #current = (): Config => this.#config;

  readonly sessions: SessionRules = sessionRulesOf(this.#current);
  readonly invocations: InvocationRules = invocationRulesOf(this.#current);
  readonly rates: RateLimitRules = rateRulesOf(this.#current);
  readonly overload: OverloadRules = overloadRulesOf(this.#current);

  get inForce(): Config {
    return this.#config;
  }

  take(next: Config): ReloadReport {
    const report = compareSettings(this.#config, next);
    this.#config = { ...this.#config, ...pickLive(next) };
    return report;
  }
}

function sessionRulesOf(config: () => Config): SessionRules {
  return {
    get maxSessions() {
      return config().max_sessions;
    },
    limits: {
      get perProject() {
        return config().max_sessions_per_project;
      },
      get perOrganization() {
        return config().max_sessions_per_organization;
      },
    },
    get idleTimeoutSeconds() {
      return config().idle_timeout_seconds;
    },
    get sleepAfterSeconds() {
      return config().sleep_after_seconds;
    },
    get maxMemoryBytes() {
      const mib = config().session_memory_max_mb;
      return mib === 0 ? Infinity : mib * 2 ** 20;
    },
  };
}

function invocationRulesOf(config: () => Config): InvocationRules {
  return {
    get maxHere() {
      return config().max_invocations;
    },
    limits: {
      get perProject() {
        return config().max_invocations_per_project;
      },
      get perApp() {
        return config().max_invocations_per_app;
      },
      get perOrganization() {
        return config().max_invocations_per_organization;
      },
    },
    get retentionMs() {
      return config().invocation_retention_days * 24 * 60 * 60 * 1000;
    },
    warm: {
      get max() {
        return config().warm_apps;
      },
      get idleMs() {
        return config().warm_app_seconds * 1000;
      },
      get freeBytes() {
        return config().warm_app_free_mb * 2 ** 20;
      },
    },
  };
}

function rateRulesOf(config: () => Config): RateLimitRules {
  return {
    get perKey() {
      return config().rate_limit_per_key;
    },
    get perOrganization() {
      return config().rate_limit_per_organization;
    },
    get refusedPerAddress() {
      return config().rate_limit_per_address;
    },
  };
}

function overloadRulesOf(config: () => Config): OverloadRules {
  return {
    get maxRequests() {
      return config().max_requests;
    },
    get maxStarting() {
      return config().max_starting_sessions;
    },
    get maxDelayMs() {
      return config().max_event_loop_delay_ms;
    },
    get maxMemoryMb() {
      return config().max_memory_mb;
    },
  };
}
