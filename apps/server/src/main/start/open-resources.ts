import { createEgressProbe, createOutboundRule } from "@shoal/placement";
import type { Database } from "@shoal/database";
import { join } from "node:path";
import { openProviders, type ProviderParts } from "../../auth/providers/open-providers.ts";
import { exitTemplates } from "../../config/exits.ts";
import { partLog } from "../../log/log.ts";
import { Connections } from "../../auth/connections/connections.ts";
import { createCredentials, type Credentials } from "../../auth/credentials/credentials.ts";
import { credentialHandlers } from "../../auth/credentials/handlers.ts";
import { BotIdentities } from "../../resources/bot-identity/bot-identities.ts";
import { botIdentityHandlers } from "../../resources/bot-identity/handlers.ts";
import { createChromeStore, type ChromeStore } from "../../resources/extensions/chrome-store.ts";
import { createExtensions, type Extensions } from "../../resources/extensions/extensions.ts";
import { extensionHandlers } from "../../resources/extensions/handlers.ts";
import { openOrganization, type Organization } from "../../resources/organization/organization.ts";
import { createProfileStates, type ProfileStates } from "../../resources/profiles/profile-states.ts";
import { createProfiles, type Profiles } from "../../resources/profiles/profiles.ts";
import { proxyHandlers } from "../../resources/proxies/handlers.ts";
import { createProxies, type Proxies } from "../../resources/proxies/proxies.ts";
import {
  createTelemetryDestinations,
  type TelemetryDestinations,
} from "../../resources/telemetry-destinations/destinations.ts";
import { telemetryDestinationHandlers } from "../../resources/telemetry-destinations/handlers.ts";
import { createTelemetryExports, type TelemetryExports } from "../../sessions/telemetry/export/exports.ts";
import { createTelemetryStore, type TelemetryStore } from "../../sessions/telemetry/telemetry-store.ts";
import { StoredTelemetry } from "../../sessions/telemetry/stored-telemetry.ts";
import { SessionFiles } from "../../storage/session-files/session-files.ts";
import type { Blobs } from "../../storage/blobs/blobs.ts";
import { type BlobArea, openBlobs } from "../../storage/blobs/open-blobs.ts";
import { createParsePool, type ParsePool } from "../../storage/parsing/parse-pool.ts";
import type { Envelopes } from "../../storage/envelopes/envelopes.ts";
import type { Secrets } from "../../storage/secrets.ts";
import { openWebhooks, type WebhookParts } from "../../webhooks/open-webhooks.ts";
import { openUsage, type UsageParts } from "../../usage/open-usage.ts";
import type { Rules } from "../rules.ts";
import type { Started } from "./open-parts.ts";

const dayMs = 24 * 60 * 60 * 1000;

export interface ResourceParts
  extends Pick<ProviderParts, "credentialLookup">, Pick<WebhookParts, "webhookDeliveries"> {
  readonly blobs: (area: BlobArea) => Blobs;
  readonly botIdentities: BotIdentities;
  readonly connections: Connections;
  readonly credentials: Credentials;
  readonly extensions: Extensions;
  readonly hasManagedProxies: boolean;
  readonly organization: Organization;
  readonly resourceHandlers: ReturnType<typeof handlersOf>;
  readonly parsing: ParsePool;
  readonly profiles: Profiles;
  readonly profileStates: ProfileStates;
  readonly proxies: Proxies;
  readonly sessionFiles: SessionFiles;
  readonly telemetry: TelemetryStore;
  readonly telemetryDestinations: TelemetryDestinations;
  readonly telemetryExports: TelemetryExports;
  readonly usage: UsageParts;
}

interface ResourceNeeds {
  readonly database: Database;
  readonly envelopes: Envelopes;
  readonly secrets: Secrets;
  readonly rules: Rules;
}

export async function openResources(
  started: Started,
  { database, envelopes, secrets, rules }: ResourceNeeds,
): Promise<ResourceParts> {
  const { config, dataDir, log, cleanup, otherServers } = started;
  const blobs = await openBlobs(config, dataDir.path);
  const isLive = () => database.isListening();
  const profileStates = createProfileStates({
    database,
    secrets,
    blobs: blobs("profiles"),
    keepVersions: config.profile_versions,
    maxBytes: config.profile_max_mib * 2 ** 20,
    onChange: (id) => {
      profiles.forget(id);
    },
    log,
  });
  const profiles = createProfiles(database, isLive, profileStates);
  const sessionFiles = new SessionFiles({
    database,
    secrets,
    blobs: blobs("sessions"),
    isUploading: config.blob_store_url !== undefined,
  });
  const telemetry = openTelemetry(started, { database, envelopes, sessionFiles });
  cleanup.add(
    "the change feed of profiles and destinations",
    database.onChange((change) => {
      if (change === undefined) profiles.forgetAll();
      else if (change.table === "profiles") profiles.forget(change.id);
      if (change === undefined || change.table === "telemetry_destinations")
        telemetry.telemetryDestinations.forget(change?.id);
    }),
  );
  const credentials = createCredentials({ database, envelopes });
  const extensions = createExtensions({ database, blobs: blobs("extensions") });
  const proxies = createProxies({
    database,
    envelopes,
    probe: createEgressProbe({
      allowPrivateHosts: config.allow_private_hosts,
      otherServers: otherServers.list,
      log: partLog(log, "proxy checks"),
    }),
    templates: exitTemplates(config),
    checkUrl: config.proxy_check_url,
  });
  const { credentialLookup, providerHandlers } = await openProviders(config, {
    database,
    envelopes,
    otherServers: otherServers.list,
    onClose: (what, close) => {
      cleanup.add(what, close);
    },
  });
  const { webhookDeliveries, webhookHandlers } = openWebhooks(config, {
    database,
    envelopes,
    otherServers: otherServers.list,
    retentionDays: () => rules.inForce.webhook_retention_days,
    log: partLog(log, "webhooks"),
    onClose: (what, close) => {
      cleanup.add(what, close);
    },
  });
  const botIdentities = new BotIdentities({ database, envelopes, publicUrl: config.public_url });
  const connections = new Connections({
    database,
    credentials,
    providers: credentialLookup,
    destinations: telemetry.telemetryDestinations,
    proxies,
    minCheckSeconds: () => rules.inForce.min_health_check_seconds,
  });
  const usage = openUsageOf(started, { database, rules });
  return {
    ...telemetry,
    credentialLookup,
    blobs,
    botIdentities,
    connections,
    credentials,
    extensions,
    hasManagedProxies: Object.keys(exitTemplates(config)).length > 0,
    organization: await openOrganization(database, rules.sessions.limits),
    profiles,
    profileStates,
    proxies,
    sessionFiles,
    usage,
    webhookDeliveries,
    resourceHandlers: handlersOf({
      ...telemetry,
      providerHandlers,
      webhookHandlers,
      usage,
      chromeStore: createChromeStore(config.chrome_store_url),
      botIdentities,
      credentials,
      extensions,
      proxies,
    }),
  };
}

function handlersOf(
  parts: Pick<
    ResourceParts,
    "botIdentities" | "credentials" | "extensions" | "proxies" | "telemetryDestinations" | "usage"
  > & {
    readonly chromeStore: ChromeStore;
    readonly providerHandlers: ProviderParts["providerHandlers"];
    readonly webhookHandlers: WebhookParts["webhookHandlers"];
  },
) {
  return {
    ...botIdentityHandlers(parts.botIdentities),
    ...credentialHandlers(parts.credentials),
    ...extensionHandlers(parts.extensions, parts.chromeStore),
    ...proxyHandlers(parts.proxies),
    ...telemetryDestinationHandlers(parts.telemetryDestinations),
    ...parts.providerHandlers,
    ...parts.webhookHandlers,
    ...parts.usage.handlers,
  };
}

function openUsageOf(
  { config, dataDir, log, cleanup }: Started,
  { database, rules }: Pick<ResourceNeeds, "database" | "rules">,
): UsageParts {
  return openUsage({
    database,
    serverId: dataDir.serverId,
    everyMs: config.usage_seconds * 1000,
    retentionDays: () => rules.inForce.usage_retention_days,
    log: partLog(log, "usage"),
    onClose: (what, close) => {
      cleanup.add(what, close);
    },
  });
}

function openTelemetry(
  { config, dataDir, log, cleanup, otherServers }: Started,
  {
    database,
    envelopes,
    sessionFiles,
  }: Pick<ResourceNeeds, "database" | "envelopes"> & Pick<ResourceParts, "sessionFiles">,
): Pick<ResourceParts, "parsing" | "telemetry" | "telemetryDestinations" | "telemetryExports"> {
  const rule = createOutboundRule({
    allowPrivateHosts: config.allow_private_hosts,
    otherServers: otherServers.list,
  });
  const telemetryDestinations = createTelemetryDestinations({
    database,
    envelopes,
    rule,
    isLive: () => database.isListening(),
  });
  const parsing = createParsePool();
  cleanup.add("the parse workers", () => parsing.close());
  const telemetry = createTelemetryStore({
    directory: join(dataDir.path, "telemetry"),
    retentionMs: config.telemetry_retention_days * dayMs,
    parsing,
    stored: new StoredTelemetry(sessionFiles, join(dataDir.path, "incoming-telemetry")),
    log,
  });
  const telemetryExports = createTelemetryExports({
    destinations: telemetryDestinations,
    rule,
    store: telemetry,
    serverId: dataDir.serverId,
    log,
  });
  cleanup.add("the export of telemetry", () => telemetryExports.close());
  return { parsing, telemetry, telemetryDestinations, telemetryExports };
}
