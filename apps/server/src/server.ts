import { createEgressProbe, createOutboundRule } from "@shoal/placement";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createApp } from "./app.ts";
import { createApiKeyStore } from "./api-keys/api-key-store.ts";
import { createApiKeys } from "./api-keys/api-keys.ts";
import { createKeyUses } from "./api-keys/key-uses.ts";
import { openExports } from "./audit-export/open-exports.ts";
import { createAuditLogs } from "./audit-logs/audit-logs.ts";
import { createAuditChain } from "./audit-logs/chain.ts";
import { openHeadWitness } from "./audit-logs/head-witness.ts";
import { noteOf } from "./audit-logs/follow.ts";
import { createAuditRecorder } from "./audit-logs/recorder.ts";
import { createAuthenticator, type KeyRow } from "./auth/access.ts";
import { createBrowserPools } from "./browser-pools/pools.ts";
import { createSessionStore } from "./browsers/session-store.ts";
import { createSessions } from "./browsers/sessions.ts";
import { serveUpgrades, type UpgradeRoutes } from "./browsers/upgrade.ts";
import { openBlobs } from "./blobs/open-blobs.ts";
import { type Config, type ConfigSources, loadConfig } from "./config/config.ts";
import { adminKeyPath } from "./data-dir/admin-key.ts";
import { openDataDir, readServerSecret, refuseUnfinishedRestore } from "./data-dir/data-dir.ts";
import { followRequests, type InFlight } from "./drain.ts";
import { createIssuingKeys } from "./auth/issuing-keys.ts";
import { keyStreams } from "./auth/key-streams.ts";
import { type KeyConnection, KeyWatch } from "./auth/key-watch.ts";
import { createChromeStore } from "./extensions/chrome-store.ts";
import { createExtensions } from "./extensions/extensions.ts";
import { createIdempotency } from "./idempotency/idempotency.ts";
import { listen, tryAddress } from "./listen.ts";
import { createLiveViewAddresses } from "./live-view/live-view-address.ts";
import { createLog, partLog, setLevel } from "./log.ts";
import { createOverloadGuard } from "./overload/overload-guard.ts";
import { endStalledRequests } from "./overload/stalled-requests.ts";
import { createParsePool } from "./parsing/parse-pool.ts";
import { createProfileStates } from "./profiles/profile-states.ts";
import { createProfiles } from "./profiles/profiles.ts";
import { createSessionProfiles } from "./profiles/session-profiles.ts";
import { openObservation } from "./observation/observation.ts";
import { openOrganization } from "./organization/organization.ts";
import { createProjectLookup } from "./projects/project-lookup.ts";
import { createProjectStore } from "./projects/project-store.ts";
import { createProjects } from "./projects/projects.ts";
import { exitTemplates } from "./proxies/exits.ts";
import { createProxies } from "./proxies/proxies.ts";
import { refuseSharedHost } from "./public-url/content-origin.ts";
import { createRequestOrigins } from "./public-url/request-origin.ts";
import { createRateLimits } from "./rate-limits/rate-limits.ts";
import { shareUses } from "./rate-limits/shared-uses.ts";
import { createReadCache } from "./read-cache.ts";
import { joinReplicas } from "./replicas/join.ts";
import { replicaAddress } from "./replicas/replica-address.ts";
import { createReplayAddresses } from "./replays/replay-address.ts";
import { createReplayStore } from "./replays/replay-store.ts";
import type { RunningServer, StartOptions } from "./running-server.ts";
import { createSecrets } from "./secrets.ts";
import { createReadiness } from "./service/readiness.ts";
import { settleAdminKey } from "./start/admin-key.ts";
import { settleAuditHead } from "./start/audit-head.ts";
import { Cleanup } from "./start/cleanup.ts";
import { openParts, type Started } from "./start/open-parts.ts";
import { writeReadyFile } from "./start/ready-file.ts";
import { createRules } from "./start/rules.ts";
import { startSweeps } from "./start/sweeps.ts";
import { createTelemetryStore } from "./telemetry/telemetry-store.ts";
import { createTelemetryDestinations } from "./telemetry-destinations/destinations.ts";
import { createTelemetryExports, type TelemetryExports } from "./telemetry-export/exports.ts";

const hourMs = 60 * 60 * 1000;

/**
 * Starts the service.
 *
 * @throws {StartError} when it cannot start; nothing is left behind then.
 */
export async function startServer(config: Config, options: StartOptions = {}): Promise<RunningServer> {
  const log = await createLog(config, options.logTo);
  const cleanup = new Cleanup(log);
  try {
    await tryAddress(config.host, config.port);
    const dataDir = await openDataDir(config.data_dir);
    cleanup.add("the data folder", () => {
      dataDir.release();
    });
    refuseUnfinishedRestore(dataDir.path);
    return await start({ config, dataDir, log, cleanup }, options);
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

async function start(started: Started, { aroundPlacement = (placement) => placement, database: given }: StartOptions): Promise<RunningServer> {
  const { config, dataDir, log, cleanup } = started;
  refuseSharedHost(config);
  const rules = createRules(config);
  // A script that waits for it must not read that of an earlier run.
  if (config.ready_file !== undefined) rmSync(config.ready_file, { force: true });
  const serverSecret = readServerSecret(dataDir.path, config.secret_key);
  const secrets = createSecrets(serverSecret);
  const { database, placement: bare } = await openParts(started, given);
  const origins = createRequestOrigins({
    publicUrl: config.public_url,
    trustedProxies: config.trusted_proxies,
    headers: config.trusted_proxy_headers,
  });
  const observation = await openObservation({
    config,
    database,
    serverId: dataDir.serverId,
    traffic: () => bare.traffic(),
    inFlight: () => live.inFlight,
    sockets: () => live.upgrades?.count() ?? 0,
    telemetryExports: () => live.telemetryExports?.totals(),
    clientIpOf: (request) => origins.clientIpOf(request),
    log,
  });
  cleanup.add("metrics, traces and the access log", () => observation.close());
  // They come into being later in the start.
  const live: {
    inFlight?: InFlight;
    upgrades?: UpgradeRoutes;
    telemetryExports?: TelemetryExports;
    keyConnections?: () => Iterable<KeyConnection>;
  } = {};
  const overload = createOverloadGuard({
    rules: rules.overload,
    inFlight: () => live.inFlight,
    onRefused: (why) => {
      observation.refused(why);
    },
  });
  cleanup.add("the watch for overload", () => {
    overload.close();
  });
  const placement = overload.counting(observation.placement(aroundPlacement(bare)));

  const isLive = () => database.isListening();
  const lookup = createProjectLookup(database, isLive);
  const keyStore = createApiKeyStore(database);
  const keys = createReadCache<KeyRow>({
    max: 10_000,
    isLive,
    isPrivate: database.isJoined,
    load: (hash) => keyStore.findByHash(hash),
    idOf: (key) => key.id,
  });
  const keysById = createReadCache<KeyRow>({
    max: 10_000,
    isLive,
    isPrivate: database.isJoined,
    load: (id) => keyStore.findActive(id),
    idOf: (key) => key.id,
  });
  const keyWatch = new KeyWatch({ keys: keysById, connections: () => live.keyConnections?.() ?? [], log });
  cleanup.add("the watch of API keys", () => {
    keyWatch.close();
  });
  function forgetKey(id: string): void {
    keys.forget(id);
    keysById.forget(id);
    keyWatch.look();
  }
  const apiKeys = createApiKeys(keyStore, lookup, (id) =>
    database.afterwards(() => {
      forgetKey(id);
    }),
  );
  const projects = createProjects(createProjectStore(database), (changed) => {
    for (const id of changed.projects) lookup.forget(id);
    for (const id of changed.keys ?? []) forgetKey(id);
  });
  const chain = createAuditChain(database, { secrets, witness: openHeadWitness(dataDir.path, secrets, log), log });
  const recorder = createAuditRecorder(chain, log);
  cleanup.add("the audit log", () => recorder.close());
  const keyUses = createKeyUses(database, log);
  cleanup.add("the last uses of keys", () => keyUses.close());
  const blobs = await openBlobs(config, dataDir.path);
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
  const outbound = createOutboundRule({ allowPrivateHosts: config.allow_private_hosts });
  const telemetryDestinations = createTelemetryDestinations({ database, secrets, rule: outbound, isLive });
  cleanup.add(
    "the change feed",
    database.onChange((change) => {
      if (change === undefined || change.table === "telemetry_destinations") telemetryDestinations.forget(change?.id);
      if (change === undefined) for (const cache of [keys, keysById, profiles, lookup]) cache.forgetAll();
      else if (change.table === "api_keys") forgetKey(change.id);
      else if (change.table === "profiles") profiles.forget(change.id);
      else if (change.table === "projects") lookup.forget(change.id);
    }),
  );

  const sessionStore = observation.sessionStore(createSessionStore(database));
  const lost = await sessionStore.endLost(dataDir.serverId);
  if (lost > 0) observation.sessionsEnded("instance_lost", lost);
  if (lost > 0) log.warn({ sessions: lost }, "sessions of an earlier run that was not stopped properly were ended as instance_lost");
  const replicas = await joinReplicas({
    database,
    serverId: dataDir.serverId,
    region: config.region,
    serverSecret,
    log,
    onGivenUp: () => {
      sessions.giveUp();
    },
  });
  cleanup.add("the connections to other servers", () => replicas.close());
  const { limits } = rules.sessions;
  const organization = await openOrganization(database, limits);
  const parsing = createParsePool();
  cleanup.add("the parse workers", () => parsing.close());
  const telemetry = createTelemetryStore({
    directory: join(dataDir.path, "telemetry"),
    retentionMs: config.telemetry_retention_days * 24 * hourMs,
    parsing,
    log,
  });
  const telemetryExports = createTelemetryExports({
    destinations: telemetryDestinations,
    rule: outbound,
    store: telemetry,
    serverId: dataDir.serverId,
    log,
  });
  live.telemetryExports = telemetryExports;
  cleanup.add("the export of telemetry", () => telemetryExports.close());
  const extensions = createExtensions({ database, blobs: blobs("extensions") });
  const replays = createReplayStore({
    directory: join(dataDir.path, "replays"),
    retentionDays: config.replay_retention_days,
    quota: { maxRunning: config.replay_max_running, maxBytes: config.replay_max_gib * 2 ** 30 },
    log,
  });
  const proxies = createProxies({
    database,
    secrets,
    probe: createEgressProbe({ allowPrivateHosts: config.allow_private_hosts, log: partLog(log, "proxy checks") }),
    templates: exitTemplates(config),
    checkUrl: config.proxy_check_url,
  });
  const sessions = createSessions({
    profiles: createSessionProfiles({ database, profiles, states: profileStates, checkpointMs: config.profile_checkpoint_seconds * 1000, log }),
    store: sessionStore,
    placement,
    proxies,
    extensions,
    telemetry,
    destinations: telemetryDestinations,
    exports: telemetryExports,
    replays,
    others: replicas.others,
    isPeer: replicas.isPeer,
    isDoubtful: replicas.isDoubtful,
    serverId: dataDir.serverId,
    region: config.region,
    rules: rules.sessions,
    log,
  });
  const browserPools = await createBrowserPools({ database, sessions, sessionStore, serverId: dataDir.serverId, region: config.region, limits, log });

  const liveViews = createLiveViewAddresses(secrets, config.live_view_hours);
  const idempotency = createIdempotency({
    database,
    secrets,
    serverId: dataDir.serverId,
    region: config.region,
    retentionMs: config.idempotency_retention_hours * hourMs,
    log,
  });
  cleanup.add("the memory of answers", () => {
    idempotency.close();
  });
  const sweeps = startSweeps({ database, extensions, profileStates, idempotency, chain, replays, telemetry, rules, log });
  cleanup.add("the regular sweeps", () => sweeps.close());
  const exports = await openExports({ config, database, serverId: dataDir.serverId, log });
  cleanup.add("exports of the audit log", () => exports.close());

  let draining = false;
  const isDraining = () => draining;
  const rateLimits = createRateLimits(rules.rates);
  if (!database.embedded) {
    const shared = shareUses(database, rateLimits, dataDir.serverId, log);
    cleanup.add("rate limits across servers", () => shared.stop());
  }
  const forwarding = replicas.forwardingFrom(origins);
  const authenticator = replicas.trusting(
    createAuthenticator({
      keys,
      projects: lookup,
      origins,
      limits: rateLimits,
      onUse: (keyId) => {
        keyUses.note(keyId);
      },
    }),
  );
  const issuingKeys = createIssuingKeys(keysById);
  const app = createApp({
    apiKeys,
    issuingKeys,
    authenticator,
    browserPools,
    auditLogs: createAuditLogs({ database, chain, recorder }),
    chromeStore: createChromeStore(config.chrome_store_url),
    contentUrl: config.content_url && new URL(config.content_url).origin,
    exportDestinations: exports.destinations,
    extensions,
    hasManagedProxies: Object.keys(exitTemplates(config)).length > 0,
    idempotency,
    liveViews,
    liveViewFrameAncestors: config.live_view_frame_ancestors,
    maxSessions: limits.perOrganization,
    organization,
    origins,
    overload,
    parsing,
    rateLimits,
    profiles,
    profileStates,
    projects,
    proxies,
    replays,
    replayAddresses: createReplayAddresses(secrets),
    readiness: createReadiness({ database, placement, chromium: config.chromium, isDraining }),
    replicas: forwarding,
    regions: replicas.regions,
    serveReplicas: (served) => {
      replicas.serve(served, sessions);
    },
    secrets,
    sessions,
    sessionStore,
    telemetry,
    telemetryDestinations,
    log,
    isDraining,
    unknownFields: config.unknown_fields,
    observe: (routes) => {
      observation.join(routes, (request) => {
        authenticator.countRefused(request);
      });
    },
  });
  observation.follow(app.server);
  const inFlight = followRequests(app.server, log, (request, response, durationMs) => {
    const note = noteOf(request, response, durationMs);
    if (note !== undefined) recorder.note(note);
    observation.requestEnded(request, response, durationMs);
  });
  const upgrades = serveUpgrades(app.server, {
    sessions,
    secrets,
    issuingKeys,
    authenticator,
    origins,
    liveViews,
    replicas: forwarding,
    recorder,
    timeoutMs: config.websocket_timeout_seconds * 1000,
    log,
  });
  Object.assign(live, {
    inFlight,
    upgrades,
    *keyConnections() {
      yield* keyStreams(inFlight.responses());
      yield* upgrades.keyConnections();
    },
  });
  app.server.maxConnections = config.max_connections;
  const stalled = endStalledRequests(app.server, inFlight, () => rules.inForce().request_stall_seconds, log);
  cleanup.add("the watch for stalled requests", () => {
    stalled.close();
  });
  cleanup.add("the HTTP server", async () => {
    await browserPools.close();
    await sessions.close();
    upgrades.close();
    await app.close();
  });

  const metricsUrl = await observation.listen();
  const baseUrl = await listen(app, config.host, config.port);
  await replicas.announce(config.replica_url ?? replicaAddress(baseUrl, config.host));
  await settleAuditHead({ config, chain, recorder, log }, baseUrl);
  const { apiKey, isNew } = await settleAdminKey({ config, apiKeys, recorder, log }, baseUrl);
  overload.reset();
  if (config.ready_file !== undefined) {
    const path = config.ready_file;
    cleanup.add("the ready file", () => {
      rmSync(path, { force: true });
    });
    writeReadyFile(path, { base_url: baseUrl, api_key: apiKey ?? null, pid: process.pid });
  }
  log.info(
    {
      base_url: baseUrl,
      region: config.region,
      placement: placement.kind,
      database: database.embedded ? "embedded" : "external",
      data_dir: config.data_dir,
    },
    "the service answers",
  );

  let closing: Promise<void> | undefined;
  async function close(graceMs: number): Promise<void> {
    draining = true;
    log.info({}, "the service stops");
    const shutdownMs = rules.inForce().shutdown_seconds * 1000;
    const deadline = setTimeout(() => {
      sessions.cut();
    }, shutdownMs);
    // Who waits for a browser would hold the stop up.
    await browserPools.close();
    app.server.close();
    const left = await inFlight.settle(Math.min(graceMs, shutdownMs));
    if (left > 0) log.warn({ requests: left }, "requests were cut off: they took longer than drain_seconds");
    await cleanup.run();
    clearTimeout(deadline);
    log.info({}, "the service has stopped");
    log.flush();
  }
  return {
    baseUrl,
    apiKey,
    newAdminKey: isNew && apiKey !== undefined ? { apiKey, path: adminKeyPath(config.data_dir) } : undefined,
    placement: placement.kind,
    metricsUrl,
    log,
    reload(next) {
      const report = rules.take(next);
      setLevel(log, rules.inForce().log_level);
      observation.reopen();
      log.info(
        { applied: report.applied, needs_restart: report.needRestart },
        report.needRestart.length === 0 ? "the settings were read again" : "the settings were read again; some need a restart",
      );
      return report;
    },
    sessionCount: () => sessions.count(),
    close: (graceMs = rules.inForce().drain_seconds * 1000) => (closing ??= close(graceMs)),
  };
}

/** Starts the service from flags, environment and config file: {@link loadConfig}, then {@link startServer}. */
export async function serve(sources: ConfigSources = {}): Promise<RunningServer> {
  return startServer(loadConfig(sources));
}
