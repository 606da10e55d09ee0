import type { Database } from "@shoal/database";
import type { Placement } from "@shoal/placement";
import { join } from "node:path";
import { joinReplicas, type Replicas } from "../../cluster/join.ts";
import type { ProjectLookup } from "../../http/auth/project-lookup.ts";
import { partLog } from "../../log/log.ts";
import type { Observation } from "../../observability/observation.ts";
import { SessionProfiles } from "../../sessions/browsers/session-profiles.ts";
import { SignInBrowsers } from "../../sessions/live-view/sign-in-browsers.ts";
import { SessionStore } from "../../sessions/browsers/session-store.ts";
import { InvokedSessions } from "../../sessions/browsers/invoked-sessions.ts";
import { Sessions } from "../../sessions/browsers/sessions.ts";
import { type BrowserPools, openBrowserPools } from "../../sessions/pools/pools.ts";
import { HandoffGate } from "../../sessions/handoff/handoff-gate.ts";
import { Handoffs } from "../../sessions/handoff/handoffs.ts";
import { LiveViewLinks } from "../../sessions/handoff/live-view-links.ts";
import { DownloadStore } from "../../sessions/downloads/download-store.ts";
import { createReplayStore, type ReplayStore } from "../../sessions/replays/replay-store.ts";
import { StoredReplays } from "../../sessions/replays/stored-replays.ts";
import { SessionUploads } from "../../sessions/uploads/session-uploads.ts";
import type { Secrets } from "../../storage/secrets.ts";
import type { Rules } from "../rules.ts";
import type { Started } from "./open-parts.ts";
import type { ResourceParts } from "./open-resources.ts";

export interface SessionParts {
  readonly browserPools: BrowserPools;
  readonly invokedSessions: InvokedSessions;
  readonly downloads: DownloadStore;
  readonly replays: ReplayStore;
  readonly replicas: Replicas;
  readonly sessionHandoffs: Handoffs;
  readonly liveViewLinks: LiveViewLinks;
  readonly sessions: Sessions;
  readonly sessionStore: SessionStore;
  readonly signInBrowsers: SignInBrowsers;
  readonly uploads: SessionUploads;
}

export async function openSessions(
  { config, dataDir, log, cleanup, otherServers }: Started,
  parts: {
    readonly database: Database;
    readonly placement: Placement;
    readonly observation: Observation;
    readonly resources: ResourceParts;
    readonly projects: ProjectLookup;
    readonly rules: Rules;
    readonly secrets: Secrets;
    readonly serverSecret: string;
  },
): Promise<SessionParts> {
  const { database, observation, placement, projects, resources, rules, secrets, serverSecret } = parts;
  const { serverId } = dataDir;
  const { region } = config;
  const sessionStore = new SessionStore(database, observation.sessions);
  const lost = await sessionStore.endLost(serverId);
  if (lost > 0) {
    observation.sessionsEnded("instance_lost", lost);
    log.warn({ sessions: lost }, "ended sessions of an earlier run that did not stop properly as instance_lost");
  }
  const replicas = await joinReplicas({
    database,
    serverId,
    region,
    addresses: otherServers,
    serverSecret,
    log,
    onGivenUp: () => {
      sessions.giveUp();
    },
  });
  cleanup.add("the connections to other servers", () => replicas.close());
  const downloads = new DownloadStore({
    directory: join(dataDir.path, "downloads"),
    retentionHours: config.download_retention_hours,
    maxBytes: config.download_max_gib * 2 ** 30,
    secrets,
    stored: resources.sessionFiles,
    log,
  });
  const replays = createReplayStore({
    directory: join(dataDir.path, "replays"),
    retentionDays: config.replay_retention_days,
    quota: { maxRunning: config.replay_max_running, maxBytes: config.replay_max_gib * 2 ** 30 },
    stored: new StoredReplays(resources.sessionFiles),
    onFilm: (id) => {
      uploads.add(id);
    },
    log,
  });
  const uploads = new SessionUploads({
    files: resources.sessionFiles,
    kinds: [replays, resources.telemetry, downloads],
    isRunning: (id) => sessions.isHere(id),
    log: partLog(log, "uploads"),
  });
  observation.gauge("shoal_draining", "1 while this server starts no sessions, before it stops.", () =>
    sessions.isDraining ? 1 : 0,
  );
  observation.gauge(
    "shoal_session_capacity",
    "Sessions that this server may run at once (max_sessions).",
    () => rules.sessions.maxSessions,
  );
  observation.gauge(
    "shoal_session_uploads_waiting",
    "Sessions of this server whose files are not in the store yet.",
    () => uploads.waiting,
  );
  const {
    botIdentities,
    extensions,
    profiles,
    profileStates,
    proxies,
    telemetry,
    telemetryDestinations,
    telemetryExports,
    usage,
  } = resources;
  usage.addStoredFiles(() => downloads.usedBytes());
  usage.addStoredFiles(() => replays.usedBytes());
  const gate = new HandoffGate(database);
  const sessions = new Sessions({
    handoffs: gate,
    profiles: new SessionProfiles({
      database,
      profiles,
      states: profileStates,
      checkpointMs: config.profile_checkpoint_seconds * 1000,
      log,
    }),
    store: sessionStore,
    placement,
    projects,
    proxies,
    botIdentities,
    extensions,
    telemetry,
    destinations: telemetryDestinations,
    exports: telemetryExports,
    replays,
    downloads,
    files: resources.sessionFiles,
    onFiles: (id) => {
      uploads.add(id);
    },
    usage: usage.meter,
    others: replicas.others,
    isPeer: replicas.isPeer,
    isDoubtful: replicas.isDoubtful,
    serverId,
    region,
    rules: rules.sessions,
    log,
  });
  cleanup.add(
    "the change feed of network rules",
    database.onChange((change) => {
      if (change === undefined || change.table === "projects") void sessions.projectRules.changed(change?.id);
    }),
  );
  const { limits } = rules.sessions;
  const browserPools = await openBrowserPools({ database, sessions, sessionStore, serverId, region, limits, log });
  const invokedSessions = new InvokedSessions({ database, sessions, serverId, log });
  cleanup.add("the sessions of invocations", () => {
    invokedSessions.close();
  });
  const sessionHandoffs = new Handoffs({ database, gate, sessions, sessionStore, log });
  cleanup.add("the handoffs to persons", () => {
    sessionHandoffs.close();
  });
  const liveViewLinks = new LiveViewLinks({ database, sessions });
  void uploads.addLeft().catch((error: unknown) => {
    log.warn({ err: error }, "the files that an earlier run left could not be listed");
  });
  return {
    browserPools,
    downloads,
    invokedSessions,
    liveViewLinks,
    replays,
    replicas,
    sessionHandoffs,
    sessions,
    sessionStore,
    signInBrowsers: new SignInBrowsers((projectId, idOrName, includeEnded) =>
      sessionStore.find(projectId, idOrName, includeEnded),
    ),
    uploads,
  };
}
