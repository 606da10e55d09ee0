import type { contract } from "@shoal/contract";
import type { OrgEntitlements } from "@shoal/schemas";

const day = 24 * 60 * 60;

/** What the operator of the service has provided. */
export interface Provided {
  /** Sessions of the organisation at once. */
  readonly maxSessions: number;
  /** Days that recordings are kept. */
  readonly replayRetentionDays: number;
  /** Whether there is an upstream provider for any type of proxy. */
  readonly hasManagedProxies: boolean;
}

/**
 * What can be used: there is no plan to buy, so everything that works.
 *
 * @param works - whether an operation has a handler.
 */
export function entitlementsOf(
  works: (name: keyof typeof contract) => boolean,
  { hasManagedProxies, maxSessions, replayRetentionDays }: Provided,
): OrgEntitlements {
  const feature = (name: keyof typeof contract) => ({ enabled: works(name) });
  const invocations = works("createInvocation") ? maxSessions : 0;
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
        health_check_interval_default_seconds: day,
        health_check_interval_max_seconds: day,
        health_check_interval_min_seconds: 300,
        max_connections: null,
      },
      managed_proxies: { enabled: hasManagedProxies },
      // A profile without state is a name.
      profiles: feature("downloadProfile"),
      proxy_bypass_hosts: feature("createProxy"),
    },
    limits: {
      max_concurrent_browsers: maxSessions,
      max_concurrent_invocations: invocations,
      default_max_concurrent_invocations_per_app: invocations,
    },
  };
}
