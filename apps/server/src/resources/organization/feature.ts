import { exitTemplates } from "../../config/exits.ts";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import type { SessionLimits } from "../../storage/errors/session-limits.ts";
import { entitlementsOf, type Provided } from "./entitlements.ts";
import { organizationHandlers } from "./handlers.ts";
import { openOrganization } from "./organization.ts";

interface OrganizationNeeds extends Pick<Provided, "invocations"> {
  readonly sessions: SessionLimits;
  /** Whether an operation has a handler. */
  readonly works: Parameters<typeof entitlementsOf>[0];
}

export async function organizationFeature(
  { config, database, settings }: Host,
  { invocations, sessions, works }: OrganizationNeeds,
) {
  const minHealthCheckSeconds = () => settings.inForce.min_health_check_seconds;
  const entitlements = () =>
    entitlementsOf(works, {
      hasManagedProxies: Object.keys(exitTemplates(config)).length > 0,
      hasSearch: config.search_brave_key !== undefined || config.search_searxng_url !== undefined,
      invocations,
      minHealthCheckSeconds: minHealthCheckSeconds(),
      sessions,
      replayRetentionDays: config.replay_retention_days,
    });
  const organization = await openOrganization(database, { limits: sessions, minHealthCheckSeconds });
  return {
    handlers: organizationHandlers(organization, entitlements),
  } satisfies Feature;
}
