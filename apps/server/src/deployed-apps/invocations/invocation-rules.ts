import type { SettingsInForce } from "../../config/settings-in-force.ts";
import type { InvocationRules } from "./invocations.ts";

export function invocationRulesOf(settings: SettingsInForce): InvocationRules {
  const limits = settings.live<InvocationRules["limits"]>({
    perProject: (inForce) => inForce.max_invocations_per_project,
    perApp: (inForce) => inForce.max_invocations_per_app,
    perOrganization: (inForce) => inForce.max_invocations_per_organization,
  });
  const warm = settings.live<InvocationRules["warm"]>({
    max: (inForce) => inForce.warm_apps,
    idleMs: (inForce) => inForce.warm_app_seconds * 1000,
    freeBytes: (inForce) => inForce.warm_app_free_mb * 2 ** 20,
  });
  return settings.live<InvocationRules>({
    maxHere: (inForce) => inForce.max_invocations,
    limits: () => limits,
    retentionMs: (inForce) => inForce.invocation_retention_days * 24 * 60 * 60 * 1000,
    warm: () => warm,
  });
}
