import type { Database } from "@shoal/database";
import type { Placement } from "@shoal/placement";
import type { FastifyInstance } from "fastify";
import { Handoffs } from "../../auth/handoff/handoffs.ts";
import type { ExportDestinations } from "../../audit/export/destinations.ts";
import { createAuditLogs } from "../../audit/logs/audit-logs.ts";
import type { AuditChain } from "../../audit/logs/chain.ts";
import { noteOf } from "../../audit/logs/follow.ts";
import type { AuditRecorder } from "../../audit/logs/recorder.ts";
import { type OpenConsole, openConsole } from "../../console/open-console.ts";
import { KeyAuthenticator } from "../../http/auth/access.ts";
import { createReadiness } from "../../http/health/readiness.ts";
import { createIdempotency, type Idempotency } from "../../http/idempotency/idempotency.ts";
import type { InFlight } from "../../http/in-flight.ts";
import type { OverloadGuard } from "../../http/limits/overload-guard.ts";
import { createRateLimits } from "../../http/limits/rate-limits.ts";
import { shareUses } from "../../http/limits/shared-uses.ts";
import { endStalledRequests } from "../../http/limits/stalled-requests.ts";
import type { OwnRequests } from "../../http/auth/own-requests.ts";
import type { RequestOrigins } from "../../http/request-origin.ts";
import type { Observation } from "../../observability/observation.ts";
import { HandoffCodes } from "../../auth/handoff/handoff-codes.ts";
import { WaitingLogins } from "../../auth/flows/waiting-logins.ts";
import type { Checks } from "../../auth/checks/checks.ts";
import { loginPages } from "../../auth/logins/login-pages.ts";
import type { Logins } from "../../auth/logins/logins.ts";
import { McpService } from "../../mcp/mcp-service.ts";
import { StoredPersonLinks } from "../../sessions/handoff/person-links.ts";
import { createLiveViewAddresses } from "../../sessions/live-view/live-view-address.ts";
import { createReplayAddresses } from "../../sessions/replays/replay-address.ts";
import type { OpenSockets } from "../../sessions/sockets/open-sockets.ts";
import { SessionUpgrades } from "../../sessions/sockets/upgrade.ts";
import type { Secrets } from "../../storage/secrets.ts";
import { createApp } from "../app.ts";
import type { Rules } from "../rules.ts";
import type { AccessParts } from "./open-access.ts";
import type { AppsParts } from "./open-apps.ts";
import type { Started } from "./open-parts.ts";
import type { ResourceParts } from "./open-resources.ts";
import type { SessionParts } from "./open-sessions.ts";

export interface HttpParts {
  readonly access: AccessParts;
  readonly apps: AppsParts;
  readonly chain: AuditChain;
  readonly database: Database;
  readonly exportDestinations: ExportDestinations;
  readonly inFlight: InFlight;
  readonly isDraining: () => boolean;
  /** Where this server listens. */
  readonly localUrl: () => string | undefined;
  readonly ownRequests: OwnRequests;
  readonly checks: Checks;
  readonly logins: Logins;
  readonly observation: Observation;
  readonly origins: RequestOrigins;
  readonly overload: OverloadGuard;
  readonly placement: Placement;
  readonly recorder: AuditRecorder;
  readonly resources: ResourceParts;
  readonly rules: Rules;
  readonly secrets: Secrets;
  readonly sessions: SessionParts;
  readonly sockets: OpenSockets;
}

export interface Http {
  readonly app: FastifyInstance;
  readonly console: Pick<OpenConsole, "sweep">;
  readonly idempotency: Idempotency;
  readonly mcp: Pick<McpService, "close">;
}

export function openHttp(started: Started, parts: HttpParts): Http {
  const { config, dataDir, log, cleanup } = started;
  const { access, database, inFlight, observation, origins, recorder, resources, rules, secrets, sessions } = parts;
  const { replicas } = sessions;
  const idempotency = openIdempotency(started, parts);
  const rateLimits = createRateLimits(rules.rates);
  if (!database.embedded) {
    const shared = shareUses(database, rateLimits, dataDir.serverId, log);
    cleanup.add("rate limits across servers", () => shared.stop());
  }
  const keyed = new KeyAuthenticator({
    keys: access.keys,
    projects: access.lookup,
    origins,
    limits: rateLimits,
    onUse: (keyId) => {
      access.keyUses.note(keyId);
    },
  });
  const console = openConsole({
    ...parts,
    ...access,
    config,
    keyed,
    log,
    otherServers: started.otherServers.list,
    projects: access.lookup,
  });
  const authenticator = replicas.trusting(console.authenticator);
  const liveViews = createLiveViewAddresses(secrets, config.live_view_hours);
  const { sessionHandoffs, liveViewLinks } = sessions;
  const shared = {
    persons: new StoredPersonLinks({ handoffs: sessionHandoffs, links: liveViewLinks }),
    ...access,
    ...resources,
    ...sessions,
    ...parts.apps,
    authenticator,
    database,
    liveViews,
    loginWaits: new WaitingLogins(database),
    loginPages: loginPages({ liveViews, codes: new HandoffCodes(secrets) }),
    checks: parts.checks,
    logins: parts.logins,
    log,
    origins,
    recorder,
    replicas: replicas.forwardingFrom(origins),
    secrets,
  };
  const mcp = new McpService({
    ...parts,
    config,
    serverId: dataDir.serverId,
    replicas: shared.replicas,
    log,
  });
  const app = createApp({
    ...shared,
    mcp,
    console,
    auditLogs: createAuditLogs({ database, chain: parts.chain, recorder }),
    contentUrl: config.content_url && new URL(config.content_url).origin,
    exportDestinations: parts.exportDestinations,
    handoffs: new Handoffs({ database, issuingKeys: access.issuingKeys, projects: access.lookup, secrets }),
    idempotency,
    isDraining: parts.isDraining,
    liveViewFrameAncestors: config.live_view_frame_ancestors,
    limits: { sessions: rules.sessions.limits, invocations: rules.invocations.limits },
    observe: (routes) => {
      observation.join(routes, (request) => {
        authenticator.countRefused(request);
      });
    },
    overload: parts.overload,
    ownUrl: () => config.public_url ?? parts.localUrl() ?? "http://127.0.0.1",
    rateLimits,
    readiness: createReadiness({
      database,
      placement: parts.placement,
      chromium: config.chromium,
      isDraining: parts.isDraining,
      draining: () => (sessions.sessions.isDraining ? sessions.sessions.count() : undefined),
    }),
    regions: replicas.regions,
    signInFrameAncestors: config.sign_in_frame_ancestors,
    replayAddresses: createReplayAddresses(secrets),
    serveReplicas: (served) => {
      replicas.serve(served, sessions.sessions);
    },
    unknownFields: config.unknown_fields,
  });
  observation.follow(app.server);
  inFlight.follow(app.server, (request, response, durationMs) => {
    const note = noteOf(request, response, durationMs);
    if (note !== undefined) recorder.note(note);
    observation.requestEnded(request, response, durationMs);
  });
  const timeoutMs = config.websocket_timeout_seconds * 1000;
  new SessionUpgrades({ ...shared, sockets: parts.sockets, timeoutMs }).serve(app.server);
  app.server.maxConnections = config.max_connections;
  const stalled = endStalledRequests(app.server, inFlight, () => rules.inForce.request_stall_seconds, log);
  cleanup.add("the watch for stalled requests", () => {
    stalled.close();
  });
  return { app, console, idempotency, mcp };
}

function openIdempotency({ config, dataDir, log, cleanup }: Started, { database, secrets }: HttpParts): Idempotency {
  const idempotency = createIdempotency({
    database,
    secrets,
    serverId: dataDir.serverId,
    region: config.region,
    retentionMs: config.idempotency_retention_hours * 60 * 60 * 1000,
    log,
  });
  cleanup.add("the stored answers of POST requests", () => {
    idempotency.close();
  });
  return idempotency;
}
