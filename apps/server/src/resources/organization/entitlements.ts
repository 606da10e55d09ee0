import type { contract } from "@shoal/contract";
import type { OrgEntitlements } from "@shoal/schemas";
import type { InvocationLimits } from "../../storage/errors/invocation-limits.ts";
import type { SessionLimits } from "../../storage/errors/session-limits.ts";

const day = 24 * 60 * 60;
export const defaultHealthCheckSeconds = 3600;

export interface Provided {
  readonly sessions: Pick<SessionLimits, "perOrganization">;
  readonly invocations: InvocationLimits;
  readonly replayRetentionDays: number;
  readonly hasManagedProxies: boolean;
  /** Whether a provider for searches is configured. */
  readonly hasSearch: boolean;
  /** Shortest time between two checks of a connection. */
  readonly minHealthCheckSeconds: number;
}

/** Lists everything that is implemented and configured. @param works - whether an operation has a handler. */
export function entitlementsOf(
  works: (name: keyof typeof contract) => boolean,
  { hasManagedProxies, hasSearch, invocations, minHealthCheckSeconds, replayRetentionDays, sessions }: Provided,
): OrgEntitlements {
  const feature = (name: keyof typeof contract) => ({ enabled: works(name) });
  return {
    plan: { id: "ENTERPRISE", effective_id: "ENTERPRISE", is_trialing: false, status: null, trial_ends_at: null },
    features: {
      browser_extensions: { ...feature("uploadExtension"), max_stored_per_org: null },
      browser_pools: feature("createBrowserPool"),
      browser_replays: { ...feature("startReplay"), retention_days: replayRetentionDays },
      credential_providers: feature("createCredentialProvider"),
      credentials: feature("createCredential"),
      custom_proxies: feature("createProxy"),
      file_io: feature("readFile"),
      gpu: { enabled: false },
      managed_auth: {
        ...feature("createAuthConnection"),
        health_check_interval_default_seconds: Math.max(defaultHealthCheckSeconds, minHealthCheckSeconds),
        health_check_interval_max_seconds: day,
        health_check_interval_min_seconds: minHealthCheckSeconds,
        max_connections: null,
      },
      managed_proxies: { enabled: hasManagedProxies },
      // A profile without saved state is only a name.
      profiles: feature("downloadProfile"),
      proxy_bypass_hosts: feature("createProxy"),
      search: { enabled: hasSearch && works("createSearch") },
      vaults: feature("createVault"),
    },
    limits: {
      max_concurrent_browsers: sessions.perOrganization,
      max_concurrent_invocations: invocations.perOrganization,
      default_max_concurrent_invocations_per_app:
        invocations.perApp || invocations.perProject || invocations.perOrganization,
      max_vaults: null,
    },
  };
}
