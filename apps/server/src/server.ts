import { type Database, DatabaseError, openDatabase } from "@shoal/database";
import { createEgressProbe, createOutboundRule, createPlacement, type Placement, PlacementError, type PlacementKind } from "@shoal/placement";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { DestinationStream } from "pino";
import { createApp } from "./app.ts";
import { createApiKeyStore } from "./api-keys/api-key-store.ts";
import { type ApiKeys, createApiKeys } from "./api-keys/api-keys.ts";
import { createKeyUses } from "./api-keys/key-uses.ts";
import { openExports } from "./audit-export/open-exports.ts";
import { createAuditLogs } from "./audit-logs/audit-logs.ts";
import { createAuditChain } from "./audit-logs/chain.ts";
import { noteOf } from "./audit-logs/follow.ts";
import { createAuditRecorder } from "./audit-logs/recorder.ts";
import { createAuthenticator, type KeyRow } from "./auth/access.ts";
import { createBrowserPools } from "./browser-pools/pools.ts";
import { createSessionStore } from "./browsers/session-store.ts";
import { createSessions } from "./browsers/sessions.ts";
import { serveUpgrades, type UpgradeRoutes } from "./browsers/upgrade.ts";
import { openBlobs } from "./blobs/open-blobs.ts";
import { type Config, type ConfigSources, loadConfig } from "./config/config.ts";
import { compareSettings, pickLive, type ReloadReport } from "./config/reload.ts";
import { adminKeyPath, readAdminKey, writeAdminKey } from "./data-dir/admin-key.ts";
import { type DataDir, openDataDir, readServerSecret, refuseUnfinishedRestore, writePrivateFile } from "./data-dir/data-dir.ts";
import { followRequests, type InFlight } from "./drain.ts";
import { createChromeStore } from "./extensions/chrome-store.ts";
import { createExtensions } from "./extensions/extensions.ts";
import { createIdempotency } from "./idempotency/idempotency.ts";
import { isLoopback, listen, tryAddress } from "./listen.ts";
import { createLiveViewAddresses } from "./live-view/live-view-address.ts";
import { createLog, type Log, partLog, setLevel } from "./log.ts";
import { createOverloadGuard, type OverloadRules } from "./overload/overload-guard.ts";
import { endStalledRequests } from "./overload/stalled-requests.ts";
import { createProfileStates } from "./profiles/profile-states.ts";
import { createProfiles } from "./profiles/profiles.ts";
import { createSessionProfiles } from "./profiles/session-profiles.ts";
import { openObservation } from "./observation/observation.ts";
import { openOrganization } from "./organization/organization.ts";
import { createProjectLookup } from "./projects/project-lookup.ts";
import { createProjectStore } from "./projects/project-store.ts";
import { createProjects } from "./projects/projects.ts";
import { type ExitTemplates, type ProvidedType, providedTypes } from "./proxies/exits.ts";
import { createProxies } from "./proxies/proxies.ts";
import { createRequestOrigins } from "./public-url/request-origin.ts";
import { createRateLimits, type RateLimitRules } from "./rate-limits/rate-limits.ts";
import { shareUses } from "./rate-limits/shared-uses.ts";
import { createReadCache } from "./read-cache.ts";
import { startJobs } from "./replicas/jobs.ts";
import { joinReplicas } from "./replicas/join.ts";
import { replicaAddress } from "./replicas/replica-address.ts";
import { createReplayAddresses } from "./replays/replay-address.ts";
import { createReplayStore } from "./replays/replay-store.ts";
import { createSecrets } from "./secrets.ts";
import { createReadiness } from "./service/readiness.ts";
import { StartError } from "./start-error.ts";
import { createTelemetryStore } from "./telemetry/telemetry-store.ts";
import { createTelemetryDestinations } from "./telemetry-destinations/destinations.ts";
import { createTelemetryExports, type TelemetryExports } from "./telemetry-export/exports.ts";

const hourMs = 60 * 60 * 1000;

/** A service that answers. */
export interface RunningServer {
  /** Where it listens: `http://127.0.0.1:7777`. */
  readonly baseUrl: string;
  /** The organisation-wide key that is stored in the data folder; absent when that file was lost. */
  readonly apiKey: string | undefined;
  /** The admin key, when this start made it: show it once. It also lies, mode 0600, in `path`. */
  readonly newAdminKey: { readonly apiKey: string; readonly path: string } | undefined;
  /** Where sessions run; `process` isolates nothing. */
  readonly placement: PlacementKind;
  /** Where Prometheus finds the metrics; absent unless they have a port of their own. */
  readonly metricsUrl: string | undefined;
  readonly log: Log;
  /**
   * Takes other settings while it runs: those of `reloadable`, and opens the access log anew. The others hold until a restart.
   *
   * @param config - all of the settings, as `loadConfig` reads them.
   */
  reload(config: Config): ReloadReport;
  /**
   * Takes no more requests, finishes those in flight, ends every session as `server_stopped`, and lets go of the database and the data folder.
   * May be called again.
   *
   * @param graceMs - how long requests in flight may take; `drain_seconds` when absent.
   */
  close(graceMs?: number): Promise<void>;
}

/** What must be undone, last first, when a start fails or the service stops. */
class Cleanup {
  readonly #steps: { readonly name: string; readonly undo: () => unknown }[] = [];
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  add(name: string, undo: () => unknown): void {
    this.#steps.push({ name, undo });
  }

  async run(): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step.undo();
      } catch (error) {
        this.#log.error({ err: error }, `${step.name} did not stop cleanly`);
      }
    }
  }
}

function toStartError(error: unknown): unknown {
  if (DatabaseError.isInstance(error)) return new StartError(error.message, { hint: error.hint, cause: error });
  if (!PlacementError.isInstance(error)) return error;
  const hints: Readonly<Record<string, string>> = {
    no_chromium: "Install one (on Debian: apt install chromium-headless-shell), or name it with --chromium or SHOAL_CHROMIUM. `shoal doctor` shows what was looked at.",
    no_isolation: "Install bubblewrap, or choose --placement process, which isolates nothing. `shoal doctor` examines the machine.",
  };
  return new StartError(error.message, { hint: hints[error.code] ?? "`shoal doctor` examines the machine.", cause: error });
}

/** What a program that embeds the service may bring along. */
export interface StartOptions {
  /** Takes the log instead of stderr. */
  readonly logTo?: DestinationStream;
  /** Used instead of the one that the settings name; closed with the service. */
  readonly database?: Database;
}

interface Started {
  readonly config: Config;
  readonly dataDir: DataDir;
  readonly log: Log;
  readonly cleanup: Cleanup;
}

async function openParts({ config, dataDir, log, cleanup }: Started, given: Database | undefined): Promise<{ database: Database; placement: Placement }> {
  const [database, placement] = await Promise.allSettled([
    given ?? openDatabase({ ...(config.database_url !== undefined && { url: config.database_url }), dataDir: join(dataDir.path, "database"), log: partLog(log, "database") }),
    createPlacement({
      kind: config.placement,
      sessionsDir: dataDir.sessionsDir,
      warm: config.warm,
      ...(config.session_memory_mb > 0 && { sessionMemoryBytes: config.session_memory_mb * 2 ** 20 }),
      ...(config.session_disk_mb > 0 && { sessionDiskBytes: config.session_disk_mb * 2 ** 20 }),
      ...(config.chromium !== undefined && { chromium: config.chromium }),
      allowPrivateHosts: config.allow_private_hosts,
      log: partLog(log, "placement"),
    }),
  ]);
  if (database.status === "fulfilled") cleanup.add("the database", () => database.value.close());
  if (placement.status === "fulfilled") cleanup.add("the placement", () => placement.value.close());
  if (database.status === "rejected") throw toStartError(database.reason);
  if (placement.status === "rejected") throw toStartError(placement.reason);
  return { database: database.value, placement: placement.value };
}

/** The placement itself warns that it isolates nothing; beyond loopback a warning is not enough. */
function refuseUnsafe(config: Config, kind: PlacementKind): void {
  if (kind === "process" && !isLoopback(config.host) && !config.unsafe_no_isolation) {
    throw new StartError(`The process placement isolates nothing: whoever can reach ${config.host} with a key could read this user's files and run programs as this user.`, {
      hint: "Install bubblewrap for the sandbox placement, listen on 127.0.0.1, or accept the risk with --unsafe-no-isolation.",
    });
  }
}

/** The stored admin key, brought up to date; a new one where there never was any, or when the settings ask for it. */
async function settleAdminKey(config: Config, apiKeys: ApiKeys, baseUrl: string, log: Log): Promise<{ apiKey: string | undefined; isNew: boolean }> {
  const reachable = config.public_url ?? baseUrl;
  const stored = readAdminKey(config.data_dir);
  if (!config.new_admin_key && stored !== undefined && (await apiKeys.isAdmin(stored.api_key))) {
    if (stored.base_url !== reachable) writeAdminKey(config.data_dir, { ...stored, base_url: reachable });
    return { apiKey: stored.api_key, isNew: false };
  }
  if (!config.new_admin_key && !(await apiKeys.isEmpty())) {
    log.warn({}, `${adminKeyPath(config.data_dir)} holds no valid admin key; start once with --new-admin-key to get another`);
    return { apiKey: undefined, isNew: false };
  }
  const apiKey = await apiKeys.createAdmin();
  writeAdminKey(config.data_dir, { base_url: reachable, api_key: apiKey });
  return { apiKey, isNew: true };
}

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
    const dataDir = openDataDir(config.data_dir);
    cleanup.add("the data folder", () => { dataDir.release(); });
    refuseUnfinishedRestore(dataDir.path);
    return await start({ config, dataDir, log, cleanup }, options.database);
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

async function start(started: Started, given: Database | undefined): Promise<RunningServer> {
  const { config, dataDir, log, cleanup } = started;
  /** What holds now; differs from `config` once settings were read again. */
  let inForce = config;
  // A script that waits for it must not read that of an earlier run.
  if (config.ready_file !== undefined) rmSync(config.ready_file, { force: true });
  const serverSecret = readServerSecret(dataDir.path, config.secret_key);
  const secrets = createSecrets(serverSecret);
  const { database, placement: bare } = await openParts(started, given);
  refuseUnsafe(config, bare.kind);
  const origins = createRequestOrigins({ publicUrl: config.public_url, trustedProxies: config.trusted_proxies, headers: config.trusted_proxy_headers });
  const observation = await openObservation({ config, database, serverId: dataDir.serverId, traffic: () => bare.traffic(), inFlight: () => live.inFlight, sockets: () => live.upgrades?.count() ?? 0, telemetryExports: () => live.telemetryExports?.totals(), clientIpOf: (request) => origins.clientIpOf(request), log });
  cleanup.add("metrics, traces and the access log", () => observation.close());
  // They come into being later in the start.
  const live: { inFlight?: InFlight; upgrades?: UpgradeRoutes; telemetryExports?: TelemetryExports } = {};
  const overloadRules = overloadRulesOf(config);
  const overload = createOverloadGuard({ rules: overloadRules, inFlight: () => live.inFlight, onRefused: (why) => { observation.refused(why); } });
  cleanup.add("the watch for overload", () => { overload.close(); });
  const placement = overload.counting(observation.placement(bare));

  const isLive = () => database.isListening();
  const lookup = createProjectLookup(database, isLive);
  const keyStore = createApiKeyStore(database);
  const keys = createReadCache<KeyRow>({ max: 10_000, isLive, load: (hash) => keyStore.findByHash(hash), idOf: (key) => key.id });
  const apiKeys = createApiKeys(keyStore, lookup, (id) => { keys.forget(id); });
  const projects = createProjects(createProjectStore(database), (changed) => {
    for (const id of changed.projects) lookup.forget(id);
    for (const id of changed.keys ?? []) keys.forget(id);
  });
  const chain = createAuditChain(database, secrets);
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
    onChange: (id) => { profiles.forget(id); },
    log,
  });
  const profiles = createProfiles(database, isLive, profileStates);
  const outbound = createOutboundRule({ allowPrivateHosts: config.allow_private_hosts });
  const telemetryDestinations = createTelemetryDestinations({ database, secrets, rule: outbound, isLive });
  cleanup.add("the change feed", database.onChange((change) => {
    if (change === undefined || change.table === "telemetry_destinations") telemetryDestinations.forget(change?.id);
    if (change === undefined) for (const cache of [keys, profiles, lookup]) cache.forgetAll();
    else if (change.table === "api_keys") keys.forget(change.id);
    else if (change.table === "profiles") profiles.forget(change.id);
    else if (change.table === "projects") lookup.forget(change.id);
  }));

  const sessionStore = observation.sessionStore(createSessionStore(database));
  const lost = await sessionStore.endLost(dataDir.serverId);
  if (lost > 0) observation.sessionsEnded("instance_lost", lost);
  if (lost > 0) log.warn({ sessions: lost }, "sessions of an earlier run that was not stopped properly were ended as instance_lost");
  const replicas = await joinReplicas({ database, serverId: dataDir.serverId, region: config.region, serverSecret, log, onGivenUp: () => { sessions.giveUp(); } });
  cleanup.add("the connections to other servers", () => replicas.close());
  const limits = { perProject: config.max_sessions_per_project, perOrganization: config.max_sessions_per_organization };
  const sessionRules = { maxSessions: config.max_sessions, limits, idleTimeoutSeconds: config.idle_timeout_seconds, maxMemoryBytes: config.session_memory_max_mb === 0 ? Infinity : config.session_memory_max_mb * 2 ** 20 };
  const organization = await openOrganization(database, limits);
  const telemetry = createTelemetryStore({ directory: join(dataDir.path, "telemetry"), retentionMs: config.telemetry_retention_days * 24 * hourMs, log });
  const telemetryExports = createTelemetryExports({ destinations: telemetryDestinations, rule: outbound, store: telemetry, serverId: dataDir.serverId, log });
  live.telemetryExports = telemetryExports;
  cleanup.add("the export of telemetry", () => telemetryExports.close());
  const extensions = createExtensions({ database, blobs: blobs("extensions") });
  const replays = createReplayStore({ directory: join(dataDir.path, "replays"), retentionDays: config.replay_retention_days, log });
  const proxies = createProxies({
    database,
    secrets,
    probe: createEgressProbe({ allowPrivateHosts: config.allow_private_hosts, log: partLog(log, "proxy checks") }),
    templates: templatesOf(config),
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
    rules: sessionRules,
    log,
  });
  const browserPools = await createBrowserPools({ database, sessions, sessionStore, serverId: dataDir.serverId, region: config.region, limits, log });

  const liveViews = createLiveViewAddresses(secrets, config.live_view_hours);
  const idempotency = createIdempotency({ database, secrets, serverId: dataDir.serverId, retentionMs: config.idempotency_retention_hours * hourMs, log });
  const jobs = startJobs(
    database,
    [
      { name: "archives that belong to no extension", everyMs: hourMs, run: () => extensions.sweep() },
      { name: "states that belong to no profile", everyMs: hourMs, run: () => profileStates.sweep() },
      { name: "old idempotency keys", everyMs: hourMs, run: () => idempotency.sweep() },
      { name: "old entries of the audit log", everyMs: hourMs, run: () => chain.dropBefore(new Date(Date.now() - inForce.audit_retention_days * 24 * hourMs)) },
    ],
    { log, lookEveryMs: hourMs / 6 },
  );
  cleanup.add("the regular jobs", () => jobs.close());
  const exports = await openExports({ config, database, serverId: dataDir.serverId, log });
  cleanup.add("exports of the audit log", () => exports.close());
  // What lies in this server's own folder.
  const sweeping = setInterval(() => {
    replays.sweep().catch((error: unknown) => { log.warn({ err: error }, "old recordings could not be removed"); });
    telemetry.sweep().catch((error: unknown) => { log.warn({ err: error }, "old telemetry could not be removed"); });
  }, hourMs);
  cleanup.add("the hourly sweep", () => { clearInterval(sweeping); });

  let draining = false;
  const isDraining = () => draining;
  const rateRules = rateRulesOf(config);
  const rateLimits = createRateLimits(rateRules);
  if (!database.embedded) {
    const shared = shareUses(database, rateLimits, dataDir.serverId, log);
    cleanup.add("rate limits across servers", () => shared.stop());
  }
  const forwarding = replicas.forwardingFrom(origins);
  const authenticator = replicas.trusting(createAuthenticator({ keys, projects: lookup, origins, limits: rateLimits, onUse: (keyId) => { keyUses.note(keyId); } }));
  const app = createApp({
    apiKeys,
    authenticator,
    browserPools,
    auditLogs: createAuditLogs({ database, chain, recorder }),
    chromeStore: createChromeStore(config.chrome_store_url),
    exportDestinations: exports.destinations,
    extensions,
    hasManagedProxies: Object.keys(templatesOf(config)).length > 0,
    idempotency,
    liveViews,
    liveViewFrameAncestors: config.live_view_frame_ancestors,
    maxSessions: limits.perOrganization,
    organization,
    origins,
    overload,
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
    serveReplicas: (served) => { replicas.serve(served, sessions); },
    secrets,
    sessions,
    sessionStore,
    telemetry,
    telemetryDestinations,
    log,
    isDraining,
    observe: (routes) => { observation.join(routes, (request) => { authenticator.countRefused(request); }); },
  });
  observation.follow(app.server);
  const inFlight = followRequests(app.server, log, (request, response, durationMs) => {
    const note = noteOf(request, response, durationMs);
    if (note !== undefined) recorder.note(note);
    observation.requestEnded(request, response, durationMs);
  });
  const upgrades = serveUpgrades(app.server, { sessions, secrets, authenticator, origins, liveViews, replicas: forwarding, log });
  Object.assign(live, { inFlight, upgrades });
  app.server.maxConnections = config.max_connections;
  const stalled = endStalledRequests(app.server, inFlight, () => inForce.request_stall_seconds, log);
  cleanup.add("the watch for stalled requests", () => { stalled.close(); });
  cleanup.add("the HTTP server", async () => {
    await browserPools.close();
    await sessions.close();
    upgrades.close();
    await app.close();
  });

  const metricsUrl = await observation.listen();
  const baseUrl = await listen(app, config.host, config.port);
  await replicas.announce(config.replica_url ?? replicaAddress(baseUrl, config.host));
  const { apiKey, isNew } = await settleAdminKey(config, apiKeys, baseUrl, log);
  if (config.ready_file !== undefined) {
    const path = config.ready_file;
    cleanup.add("the ready file", () => { rmSync(path, { force: true }); });
    writeReadyFile(path, { base_url: baseUrl, api_key: apiKey ?? null, pid: process.pid });
  }
  log.info({ base_url: baseUrl, region: config.region, placement: placement.kind, database: database.embedded ? "embedded" : "external", data_dir: config.data_dir }, "the service answers");

  let closing: Promise<void> | undefined;
  async function close(graceMs: number): Promise<void> {
    draining = true;
    log.info({}, "the service stops");
    // Who waits for a browser would hold the stop up.
    await browserPools.close();
    app.server.close();
    const left = await inFlight.settle(graceMs);
    if (left > 0) log.warn({ requests: left }, "requests were cut off: they took longer than drain_seconds");
    await cleanup.run();
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
      const report = compareSettings(inForce, next);
      inForce = { ...inForce, ...pickLive(next) };
      setLevel(log, next.log_level);
      Object.assign(sessionRules, { maxSessions: next.max_sessions, idleTimeoutSeconds: next.idle_timeout_seconds });
      limits.perProject = next.max_sessions_per_project;
      Object.assign(rateRules, rateRulesOf(next));
      Object.assign(overloadRules, overloadRulesOf(next));
      observation.reopen();
      log.info({ applied: report.applied, needs_restart: report.needRestart }, report.needRestart.length === 0 ? "the settings were read again" : "the settings were read again; some need a restart");
      return report;
    },
    close: (graceMs = inForce.drain_seconds * 1000) => (closing ??= close(graceMs)),
  };
}

function overloadRulesOf(config: Config): OverloadRules {
  return { maxRequests: config.max_requests, maxStarting: config.max_starting_sessions, maxDelayMs: config.max_event_loop_delay_ms, maxMemoryMb: config.max_memory_mb };
}

function rateRulesOf(config: Config): RateLimitRules {
  return { perKey: config.rate_limit_per_key, perOrganization: config.rate_limit_per_organization, refusedPerAddress: config.rate_limit_per_address };
}

function templatesOf(config: Config): ExitTemplates {
  const templates: Partial<Record<ProvidedType, string>> = {};
  for (const type of providedTypes) {
    const template = config[`proxy_${type}`];
    if (template !== undefined) templates[type] = template;
  }
  return templates;
}

function writeReadyFile(path: string, content: { readonly base_url: string; readonly api_key: string | null; readonly pid: number }): void {
  try {
    writePrivateFile(path, `${JSON.stringify(content)}\n`);
  } catch (error) {
    throw new StartError(`The ready file ${path} cannot be written: ${error instanceof Error ? error.message : String(error)}.`, { hint: "Name a file in a folder that exists and is writable with --ready-file.", cause: error });
  }
}

/** Starts the service from flags, environment and config file: {@link loadConfig}, then {@link startServer}. */
export async function serve(sources: ConfigSources = {}): Promise<RunningServer> {
  return startServer(loadConfig(sources));
}
