import type { Database } from "@shoal/database";
import type { Placement } from "@shoal/placement";
import type { FastifyInstance } from "fastify";
import { BoxConnections } from "../../http/box-connections.ts";
import { openExports } from "../../audit/export/open-exports.ts";
import { type AuditChain, createAuditChain } from "../../audit/logs/chain.ts";
import { openHeadWitness } from "../../audit/logs/head-witness.ts";
import { AuditRecorder } from "../../audit/logs/recorder.ts";
import { readServerSecret } from "../../config/data-dir.ts";
import { openChecks } from "../../auth/checks/open-checks.ts";
import { Logins } from "../../auth/logins/logins.ts";
import { openLoginModel } from "../../auth/logins/open-login-model.ts";
import { InFlight } from "../../http/in-flight.ts";
import { createOverloadGuard, type OverloadGuard } from "../../http/limits/overload-guard.ts";
import { OwnRequests } from "../../http/auth/own-requests.ts";
import { createRequestOrigins, type RequestOrigins } from "../../http/request-origin.ts";
import { type Observation, openObservation } from "../../observability/observation.ts";
import { OpenSockets } from "../../sessions/sockets/open-sockets.ts";
import { createEnvelopes, type Envelopes } from "../../storage/envelopes/envelopes.ts";
import { openMasterKeys } from "../../storage/envelopes/master-keys.ts";
import { installationOf } from "../../storage/envelopes/rewrap-command.ts";
import { createSecrets, type Secrets } from "../../storage/secrets.ts";
import { Rules } from "../rules.ts";
import type { StartOptions } from "../running-server.ts";
import { type AccessParts, openAccess } from "./open-access.ts";
import { openAppRuntime } from "./open-app-runtime.ts";
import { openApps } from "./open-apps.ts";
import { openHttp } from "./open-http.ts";
import { openParts, type Started } from "./open-parts.ts";
import { openResources, type ResourceParts } from "./open-resources.ts";
import { openSessions, type SessionParts } from "./open-sessions.ts";
import { startSweeps } from "./sweeps.ts";

interface AuditParts {
  readonly chain: AuditChain;
  readonly recorder: AuditRecorder;
}

/** Milliseconds for the answers to calls whose sessions end with the server. */
const lastAnswersMs = 1_000;

export interface Service {
  readonly access: AccessParts;
  readonly app: FastifyInstance;
  readonly audit: AuditParts;
  readonly database: Database;
  readonly draining: AbortController;
  readonly inFlight: InFlight;
  readonly observation: Observation;
  readonly overload: OverloadGuard;
  readonly placement: Placement;
  readonly rules: Rules;
  readonly sessions: SessionParts;
}

interface Basics {
  readonly boxes: BoxConnections;
  readonly draining: AbortController;
  readonly inFlight: InFlight;
  readonly origins: RequestOrigins;
  readonly ownRequests: OwnRequests;
  readonly rules: Rules;
  readonly secrets: Secrets;
  readonly serverSecret: string;
  readonly sockets: OpenSockets;
}

/** Opens every part, lowest first; `started.cleanup` closes them in reverse order. @throws {StartError} */
export async function openService(
  started: Started,
  { aroundPlacement = (placement) => placement, appRuntime, database: given }: StartOptions,
): Promise<Service> {
  const { config, dataDir, log, cleanup } = started;
  const basics = createBasics(started);
  const { boxes, draining, inFlight, rules, sockets } = basics;
  const { database, placement: bare } = await openParts(started, given);
  const envelopes = await openEnvelopes(started, { ...basics, database });
  const resources = await openResources(started, { ...basics, database, envelopes });
  const observation = await observe(started, { ...basics, database, resources, placement: bare });
  const overload = openOverload(started, { inFlight, observation, rules });
  const placement = overload.counting(observation.placement(aroundPlacement(bare)));
  const access = openAccess({ database, inFlight, sockets, log, cleanup });
  const audit = openAudit(started, { ...basics, database });
  const sessions = await openSessions(started, {
    ...basics,
    database,
    observation,
    placement,
    projects: access.lookup,
    resources,
  });
  const blobs = resources.blobs("deployments");
  const runtime = appRuntime ?? openAppRuntime(started, { placement, blobs, boxes });
  const apps = await openApps(started, { ...basics, database, envelopes, resources, runtime, sessions });
  const logins = await Logins.open({
    ...resources,
    ...sessions,
    database,
    envelopes,
    connections: resources.connections.store,
    canHide: placement.abilities.fullChromium,
    serverId: dataDir.serverId,
    isDoubtful: () => sessions.replicas.isDoubtful(),
    model: await openLoginModel(config.login_model_module, log),
    log,
  });
  const checks = await openChecks({
    ...resources,
    ...sessions,
    database,
    connections: resources.connections.store,
    logins,
    canHide: placement.abilities.fullChromium,
    rules: rules.sessions,
    maxBrowsers: () => rules.inForce.max_health_checks,
    serverId: dataDir.serverId,
    isDoubtful: () => sessions.replicas.isDoubtful(),
    isDraining: () => draining.signal.aborted || sessions.sessions.isDraining,
    log,
  });
  const exports = await openExports({ config, database, serverId: dataDir.serverId, log });
  cleanup.add("exports of the audit log", () => exports.close());
  const { app, console, idempotency, mcp } = openHttp(started, {
    ...audit,
    ...basics,
    access,
    apps,
    checks,
    database,
    exportDestinations: exports.destinations,
    isDraining: () => draining.signal.aborted,
    localUrl: () => boxes.serverUrl(),
    logins,
    observation,
    overload,
    placement,
    resources,
    sessions,
  });
  boxes.serveBy(app.server);
  const sweeps = startSweeps({
    ...resources,
    ...sessions,
    ...apps,
    console,
    database,
    idempotency,
    chain: audit.chain,
    rules,
    retention: config,
    log,
  });
  cleanup.add("the regular sweeps", () => sweeps.close());
  cleanup.add("the HTTP server", async () => {
    await apps.builder.close();
    await apps.invocations.close();
    await checks.close();
    await logins.close();
    await mcp.close();
    await sessions.browserPools.close();
    await sessions.sessions.close();
    await resources.telemetryExports.close();
    await sessions.uploads.close();
    // Calls of the sessions that ended just now receive their answers; the next steps cut connections.
    await inFlight.settle(lastAnswersMs);
    sockets.close();
    await app.close();
  });
  return {
    access,
    app,
    audit,
    database,
    draining,
    inFlight,
    observation,
    overload,
    placement,
    rules,
    sessions,
  };
}

function createBasics({ config, dataDir, log }: Started): Basics {
  const serverSecret = readServerSecret(dataDir.path, config.secret_key);
  const boxes = new BoxConnections();
  const ownRequests = new OwnRequests();
  return {
    boxes,
    ownRequests,
    draining: new AbortController(),
    inFlight: new InFlight(log),
    origins: createRequestOrigins({
      publicUrl: config.public_url,
      trustedProxies: config.trusted_proxies,
      headers: config.trusted_proxy_headers,
      deploymentOf: (socket) => boxes.deploymentOf(socket),
      localUrl: () => boxes.serverUrl(),
      ownRequests,
    }),
    rules: new Rules(config),
    secrets: createSecrets(serverSecret),
    serverSecret,
    sockets: new OpenSockets(),
  };
}

async function openEnvelopes(
  { config, cleanup }: Started,
  { database, serverSecret }: { readonly database: Database; readonly serverSecret: string },
): Promise<Envelopes> {
  const installation = await installationOf(database.query);
  const keys = await openMasterKeys(config, { serverSecret, installation });
  cleanup.add("the master keys", () => keys.close());
  return createEnvelopes(keys);
}

async function observe(
  { config, dataDir, log, cleanup }: Started,
  parts: Basics & { readonly database: Database; readonly resources: ResourceParts; readonly placement: Placement },
): Promise<Observation> {
  const observation = await openObservation({
    config,
    database: parts.database,
    serverId: dataDir.serverId,
    traffic: () => parts.placement.traffic(),
    warm: () => parts.placement.warm(),
    inFlight: () => parts.inFlight,
    sockets: () => parts.sockets.count(),
    telemetryExports: () => parts.resources.telemetryExports.totals(),
    clientIpOf: (request) => parts.origins.clientIpOf(request),
    log,
  });
  cleanup.add("metrics, traces and the access log", () => observation.close());
  parts.resources.usage.onCharge((charges) => {
    observation.usageCharged(charges);
  });
  return observation;
}

function openOverload(
  { cleanup }: Started,
  { inFlight, observation, rules }: Pick<Service, "inFlight" | "observation" | "rules">,
): OverloadGuard {
  const overload = createOverloadGuard({
    rules: rules.overload,
    inFlight: () => inFlight,
    onRefused: (why) => {
      observation.refused(why);
    },
  });
  cleanup.add("the watch for overload", () => {
    overload.close();
  });
  return overload;
}

function openAudit(
  { dataDir, log, cleanup }: Started,
  { database, secrets }: { readonly database: Database; readonly secrets: Secrets },
): AuditParts {
  const chain = createAuditChain(database, { secrets, witness: openHeadWitness(dataDir.path, secrets, log), log });
  const recorder = new AuditRecorder(chain, log);
  cleanup.add("the audit log", () => recorder.close());
  return { chain, recorder };
}
