import type { SettingsInForce } from "../../config/settings-in-force.ts";
import type { InvocationRules } from "./invocations.ts";

export function invocationRulesOf(settings: SettingsInForce): InvocationRules {
  return {
    get maxHere() {
      return settings.inForce.max_invocations;
    },
    limits: {
      get perProject() {
        return settings.inForce.max_invocations_per_project;
      },
      get perApp() {
        return settings.inForce.max_invocations_per_app;
      },
      get perOrganization() {
        return settings.inForce.max_invocations_per_organization;
      },
    },
    get retentionMs() {
      return settings.inForce.invocation_retention_days * 24 * 60 * 60 * 1000;
    },
    warm: {
      get max() {
        return settings.inForce.warm_apps;
      },
      get idleMs() {
        return settings.inForce.warm_app_seconds * 1000;
      },
      get freeBytes() {
        return settings.inForce.warm_app_free_mb * 2 ** 20;
      },
    },
  };
}
