import type { Host } from "../host/host.ts";
import { apiKeysFeature } from "./api-keys/feature.ts";
import { botIdentityFeature } from "./bot-identity/feature.ts";
import { extensionsFeature } from "./extensions/feature.ts";
import { organizationFeature } from "./organization/feature.ts";
import { profilesFeature } from "./profiles/feature.ts";
import { projectsFeature } from "./projects/feature.ts";
import { proxiesFeature } from "./proxies/feature.ts";
import { telemetryDestinationsFeature } from "./telemetry-destinations/feature.ts";

interface ResourceNeeds {
  readonly keys: Parameters<typeof apiKeysFeature>[1];
  readonly organization: Parameters<typeof organizationFeature>[1];
  readonly profiles: Parameters<typeof profilesFeature>[1];
  /** Where this server listens. */
  readonly localUrl: () => string | undefined;
}

export async function resourceFeatures(host: Host, needs: ResourceNeeds) {
  const apiKeys = apiKeysFeature(host, needs.keys);
  return {
    apiKeys,
    projects: projectsFeature(host, apiKeys.provides),
    organization: await organizationFeature(host, needs.organization),
    profiles: profilesFeature(host, needs.profiles),
    extensions: extensionsFeature(host),
    proxies: proxiesFeature(host),
    botIdentity: botIdentityFeature(host, needs.localUrl),
    telemetryDestinations: telemetryDestinationsFeature(host),
  };
}

export type ResourceFeatures = Awaited<ReturnType<typeof resourceFeatures>>;
