import type { Placement } from "@shoal/placement";
import type { AuditRecorder } from "../audit/logs/recorder.ts";
import { clusterFeature } from "../cluster/feature.ts";
import type { ServerAddresses } from "../cluster/server-addresses.ts";
import type { Host } from "../host/host.ts";
import type { RequestOrigins } from "../http/request-origin.ts";
import type { ResourceFeatures } from "../resources/features.ts";
import type { ParsePool } from "../storage/parsing/parse-pool.ts";
import { SessionFiles } from "../storage/session-files/session-files.ts";
import type { usageFeature } from "../usage/feature.ts";
import type { SessionSigner } from "./browsers/handlers.ts";
import type { OpenForHosts } from "./browsers/options/exit-headers.ts";
import type { SessionStore } from "./browsers/session-store.ts";
import type { Sessions } from "./browsers/sessions.ts";
import { downloadsFeature } from "./downloads/feature.ts";
import { evidenceFeature } from "./evidence/feature.ts";
import { type FlowNeeds, flowsFeature } from "./flows/feature.ts";
import { openSessionStore, sessionsFeature } from "./feature.ts";
import { networkRecordingsFeature } from "./network-recordings/feature.ts";
import { snapshotsFeature } from "./snapshots/feature.ts";
import { liveViewsFeature } from "./handoff/feature.ts";
import type { DirectPlane } from "./instance-plane/direct.ts";
import { directFeature } from "./instance-plane/feature.ts";
import type { LiveViewAddresses, LoginWaits } from "./live-view/live-view-address.ts";
import { browserPoolsFeature } from "./pools/feature.ts";
import { renderFeature } from "./render/feature.ts";
import { replaysFeature } from "./replays/feature.ts";
import { searchFeature } from "./search/feature.ts";
import type { ChooseVaults } from "./browsers/start/session-choices.ts";
import { telemetryFeature } from "./telemetry/feature.ts";
import { uploadsFeature } from "./uploads/feature.ts";
import type { SessionUploads } from "./uploads/session-uploads.ts";

/** The way of requests to one session. */
interface Routing extends DirectPlane {
  readonly replaysFor: Parameters<typeof replaysFeature>[1]["accessOf"];
  readonly downloadsFor: Parameters<typeof downloadsFeature>[1]["accessOf"];
  readonly requireFilesHere: Parameters<typeof replaysFeature>[1]["atHome"];
}

export interface SessionRoomNeeds extends Pick<Parameters<typeof replaysFeature>[1], "page"> {
  readonly addresses: ServerAddresses;
  readonly liveViews: LiveViewAddresses;
  readonly openForHosts: OpenForHosts;
  readonly openSecret: FlowNeeds["openSecret"];
  readonly presentAccess: FlowNeeds["presentAccess"];
  readonly chooseVaults: ChooseVaults;
  readonly loginWaits: LoginWaits;
  readonly observation: Parameters<typeof openSessionStore>[1];
  readonly origins: RequestOrigins;
  readonly parsing: ParsePool;
  readonly placement: Placement;
  readonly recorder: Pick<AuditRecorder, "note">;
  readonly replayAddresses: Parameters<typeof replaysFeature>[1]["addresses"];
  readonly resources: ResourceFeatures;
  /** Known once the service answers. */
  readonly routing: () => Routing;
  readonly serverSecret: string;
  readonly signer: SessionSigner;
  readonly usage: ReturnType<typeof usageFeature>["provides"];
}

interface FileNeeds {
  readonly idHere: Sessions["idHere"];
  readonly store: SessionStore;
  readonly onFiles: (sessionId: string) => void;
}

/** Files that outlive their session. */
async function fileFeatures(host: Host, needs: SessionRoomNeeds, { idHere, onFiles, store }: FileNeeds) {
  const { page, parsing, replayAddresses, resources, routing, usage } = needs;
  const { blobs, config, database, secrets } = host;
  const files = new SessionFiles({
    database,
    secrets,
    blobs: blobs("sessions"),
    isUploading: config.blob_store_url !== undefined,
  });
  const telemetry = telemetryFeature(host, {
    ...resources.telemetryDestinations.provides,
    files,
    parsing,
    sessions: { idHere },
  });
  const downloads = downloadsFeature(host, { files, accessOf: (...of) => routing().downloadsFor(...of) });
  const replays = replaysFeature(host, {
    page,
    addresses: replayAddresses,
    files,
    accessOf: (...of) => routing().replaysFor(...of),
    atHome: (...of) => routing().requireFilesHere(...of),
    nameOf: async (sessionId) => (await store.find(undefined, sessionId, true))?.name ?? undefined,
    onFilm: onFiles,
  });
  usage.addStoredFiles(() => downloads.provides.usedBytes());
  usage.addStoredFiles(() => replays.provides.store.usedBytes());
  const networkRecordings = await networkRecordingsFeature(host);
  return { files, stored: { telemetry, downloads, replays, networkRecordings, snapshots: snapshotsFeature(host) } };
}

function storesOf({
  downloads,
  networkRecordings,
  replays,
  snapshots,
  telemetry,
}: Awaited<ReturnType<typeof fileFeatures>>["stored"]) {
  return {
    telemetry: telemetry.provides.store,
    replays: replays.provides.store,
    downloads: downloads.provides,
    networkRecordings: networkRecordings.provides,
    snapshots: snapshots.provides,
  };
}

function directFeatureOf({ routing }: Pick<SessionRoomNeeds, "routing">) {
  return directFeature({
    instanceFor: (request, way) => routing().instanceFor(request, way),
    socketsOf: (request, sessionId) => routing().socketsOf(request, sessionId),
  });
}

/** Sessions, and everything that belongs to one. Registers the server. */
export async function sessionFeatures(host: Host, needs: SessionRoomNeeds) {
  const { liveViews, loginWaits, origins, recorder, resources, signer } = needs;
  const { issuingKeys, keyScopes, lookup } = resources.apiKeys.provides;
  const store = await openSessionStore(host, needs.observation);
  const cluster = await clusterFeature(host, {
    ...needs,
    sessions: () => sessions,
    onGivenUp: () => {
      sessions.giveUp();
    },
  });
  const { replicas } = cluster.provides;
  const onFiles = (sessionId: string): void => {
    uploads.add(sessionId);
  };
  const { files, stored } = await fileFeatures(host, needs, {
    store,
    onFiles,
    idHere: (projectId, idOrName, kind) => sessions.idHere(projectId, idOrName, kind),
  });
  const { downloads, replays, telemetry } = stored;
  const core = sessionsFeature(host, {
    ...resources.profiles.provides,
    ...replicas,
    store,
    placement: needs.placement,
    projects: lookup,
    proxies: resources.proxies.provides,
    botIdentities: resources.botIdentity.provides,
    openForHosts: needs.openForHosts,
    chooseVaults: needs.chooseVaults,
    extensions: resources.extensions.provides,
    destinations: resources.telemetryDestinations.provides.destinations,
    ...storesOf(stored),
    exports: telemetry.provides.exports,
    files,
    onFiles,
    usage: needs.usage.meter,
    signer,
  });
  const { gate, rules, signInBrowsers } = core.provides;
  const sessions: Sessions = core.provides.sessions;
  const upload = uploadsFeature(host, {
    files,
    kinds: [replays.provides.store, telemetry.provides.store, downloads.provides],
    isRunning: (id) => sessions.isHere(id),
  });
  const uploads: SessionUploads = upload.provides;
  const pools = await browserPoolsFeature(host, {
    limits: rules.limits,
    regions: replicas.regions,
    sessions,
    sessionStore: store,
    signer,
  });
  const people = liveViewsFeature(host, {
    addresses: liveViews,
    gate,
    issuingKeys,
    keyScopes,
    logins: loginWaits,
    origins,
    recorder,
    recordingOf: (sessionId) => replays.provides.recordingOf(sessionId),
    sessions,
    signInBrowsers,
    store,
  });
  return {
    cluster,
    uploads: upload,
    ...stored,
    sessions: core,
    liveViews: people,
    pools,
    ...(await useFeatures(host, needs, { sessions, stored, gate, signInBrowsers, ...people.provides, ...replicas })),
  };
}

interface Usable extends Omit<FlowNeeds, "openSecret" | "presentAccess" | "recorder"> {
  readonly stored: Awaited<ReturnType<typeof fileFeatures>>["stored"];
}

/** Features that use sessions, and that no other one needs. */
async function useFeatures(host: Host, needs: SessionRoomNeeds, { stored, ...usable }: Usable) {
  const { sessions } = usable;
  const render = renderFeature(host, { sessions });
  return {
    direct: directFeatureOf(needs),
    flows: await flowsFeature(host, {
      ...usable,
      openSecret: needs.openSecret,
      presentAccess: needs.presentAccess,
      recorder: needs.recorder,
    }),
    render,
    search: searchFeature(host, { parsing: needs.parsing, renders: render.provides }),
    evidence: evidenceFeature(host, { sessions, stores: storesOf(stored) }),
  };
}

export type SessionFeatures = Awaited<ReturnType<typeof sessionFeatures>>;
