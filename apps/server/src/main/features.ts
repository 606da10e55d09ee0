import type { Placement } from "@shoal/placement";
import { appFeatures } from "../deployed-apps/features.ts";
import { invocationRulesOf } from "../deployed-apps/invocations/invocation-rules.ts";
import { auditExportFeature } from "../audit/export/feature.ts";
import { auditLogFeature } from "../audit/logs/feature.ts";
import { credentialsFeature } from "../auth/credentials/feature.ts";
import { authFeatures } from "../auth/features.ts";
import { createOpenForHosts, createOpenSecret } from "../auth/logins/stored-secret.ts";
import { createChooseVaults } from "../auth/vaults/vaults.ts";
import { WaitingLogins } from "../auth/flows/waiting-logins.ts";
import { People } from "../console/people.ts";
import { createPresentAccess } from "../console/present-access.ts";
import { replayPage } from "../console/pages/page-template.ts";
import { limitsFeature } from "../entrance/limits.ts";
import type { SessionRouting } from "../entrance/session-routing.ts";
import type { Feature } from "../host/feature.ts";
import type { Host } from "../host/host.ts";
import { observabilityFeature } from "../observability/feature.ts";
import { type ResourceFeatures, resourceFeatures } from "../resources/features.ts";
import type { Sessions } from "../sessions/browsers/sessions.ts";
import { sessionFeatures } from "../sessions/features.ts";
import { createLiveViewAddresses } from "../sessions/live-view/live-view-address.ts";
import { createReplayAddresses } from "../sessions/replays/replay-address.ts";
import { sessionRulesOf } from "../sessions/session-rules.ts";
import type { ExportTotals } from "../sessions/telemetry/export/exports.ts";
import { ParsePool } from "../storage/parsing/parse-pool.ts";
import { usageFeature } from "../usage/feature.ts";
import { webhooksFeature } from "../webhooks/feature.ts";
import { openEntry } from "./entry.ts";
import { isImplemented } from "./implemented.ts";
import type { StartOptions } from "./running-server.ts";
import type { Started, StartedHost } from "./start/start-host.ts";
import { Traffic } from "./traffic.ts";

interface Observed {
  readonly bare: Placement;
  readonly telemetryExports: () => ExportTotals;
}

/** What counts and limits everything above it. @returns a placement that both see. */
async function observed(host: Host, { inFlight, origins, sockets }: Traffic, { bare, telemetryExports }: Observed) {
  const observability = await observabilityFeature(host, {
    traffic: () => bare.traffic(),
    warm: () => bare.warm(),
    inFlight: () => inFlight,
    sockets: () => sockets.count(),
    telemetryExports,
    clientIpOf: (request) => origins.clientIpOf(request),
  });
  const observation = observability.provides;
  const onRefused = (why: string): void => {
    observation.refused(why);
  };
  return { observability, observation, limits: limitsFeature(host, { inFlight, onRefused }) };
}

/** Addresses that the service hands out, and what opens them. */
function addressesOf({ config, database, secrets }: Host) {
  return {
    contentUrl: config.content_url && new URL(config.content_url).origin,
    liveViews: createLiveViewAddresses(secrets, config.live_view_hours),
    loginWaits: new WaitingLogins(database),
    replayAddresses: createReplayAddresses(secrets),
  };
}

function openParsing({ cleanup }: Host) {
  const parsing = new ParsePool();
  cleanup.add("the parse workers", () => parsing.close());
  return parsing;
}

/** Sessions and logins use them. */
function credentialsOf(host: Host, { apiKeys }: ResourceFeatures, people: People) {
  const credentials = credentialsFeature(host);
  const { provides } = credentials;
  return {
    credentials,
    openForHosts: createOpenForHosts(provides),
    openSecret: createOpenSecret(provides),
    presentAccess: createPresentAccess(apiKeys.provides, people),
    chooseVaults: createChooseVaults(host.database),
  };
}

/** Opens every feature, those below first. `host.cleanup` closes what they open, in reverse order. @throws {StartError} */
export async function openFeatures(
  { addresses }: Started,
  { host, placement: bare, serverSecret }: StartedHost,
  { aroundPlacement = (placement) => placement, appRuntime: runtime, ...ports }: StartOptions,
) {
  const { database, secrets, settings } = host;
  const traffic = new Traffic(host);
  const { boxes, inFlight, localUrl, origins, sockets } = traffic;
  const parsing = openParsing(host);
  const telemetryExports = () => room.telemetry.provides.exports.totals();
  const { limits, observability, observation } = await observed(host, traffic, { bare, telemetryExports });
  const placement = limits.provides.overload.counting(observation.placement(aroundPlacement(bare)));
  const people = new People(database);
  const resources = await resourceFeatures(host, {
    keys: { inFlight, keyConnections: () => sockets.keyConnections(), people },
    organization: {
      invocations: invocationRulesOf(settings).limits,
      sessions: sessionRulesOf(settings).limits,
      works: isImplemented,
    },
    profiles: { parsing, sessions: { saveProfile: (...of) => sessions.saveProfile(...of) } },
    localUrl,
  });
  const auditLog = auditLogFeature(host);
  const usage = usageFeature(host, (charges) => {
    observation.usageCharged(charges);
  });
  const given = addressesOf(host);
  const known = {
    ...given,
    ...credentialsOf(host, resources, people),
    origins,
    parsing,
    people,
    placement,
    recorder: auditLog.provides.recorder,
    resources,
    signer: { ...given, profiles: resources.profiles.provides.profiles, secrets },
  };
  const room = await sessionFeatures(host, {
    ...known,
    addresses,
    observation,
    page: (request) => replayPage(request, origins),
    routing: () => routing,
    serverSecret,
    usage: usage.provides,
  });
  const sessions: Sessions = room.sessions.provides.sessions;
  const { isDoubtful } = room.cluster.provides.replicas;
  const apps = await appFeatures(host, { ...known, boxes, flows: room.flows.provides, isDoubtful, runtime, sessions });
  const auth = await authFeatures(host, { ...ports, ...known, sessions: room });
  const entry = openEntry(host, {
    ...known,
    signInLinks: auth.signInLinks.provides,
    limits: limits.provides,
    onEnd: (request, response, durationMs) => {
      for (const feature of all) feature.requestEnded?.(request, response, durationMs);
    },
    sessions: room,
    traffic,
  });
  const routing: SessionRouting = entry.routing;
  // Hooks run in this order; `stop` in the reverse one.
  const features = {
    observability,
    limits,
    ...resources,
    auditLog,
    usage,
    webhooks: webhooksFeature(host),
    ...room,
    ...entry.features,
    ...auth,
    ...apps,
    auditExport: await auditExportFeature(host),
  };
  const all: readonly Feature[] = Object.values(features);
  return { features, all, entrance: entry.entrance, routing, placement, signer: known.signer, traffic };
}

export type OpenedFeatures = Awaited<ReturnType<typeof openFeatures>>;
