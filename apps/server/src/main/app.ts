import { browserDownloads, browserReplays, contract, type Endpoint } from "@shoal/contract";
import { notImplemented as missingInside } from "@shoal/instance";
import { type Handler, type HandlersOrNotYet, notImplementedError, type UnknownFields } from "@shoal/router";
import { configure, fastifyOptions, mount, mountAll } from "@shoal/router/fastify";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from "fastify";
import type { IncomingMessage } from "node:http";
import { invocationHandlers, type InvocationHandlerParts } from "../apps/invocations/handlers.ts";
import type { Deployments } from "../apps/deployments/deployments.ts";
import { scheduleHandlers } from "../apps/schedules/handlers.ts";
import type { Schedules } from "../apps/schedules/schedules.ts";
import { deploymentHandlers } from "../apps/deployments/handlers.ts";
import { apiKeyHandlers } from "../resources/api-keys/handlers.ts";
import type { ApiKeys } from "../resources/api-keys/api-keys.ts";
import { type ConsoleParts, serveConsole } from "../console/serve-console.ts";
import { handoffHandlers } from "../auth/handoff/handlers.ts";
import type { Handoffs } from "../auth/handoff/handoffs.ts";
import { forPages } from "../auth/handoff/page-answers.ts";
import { connectionHandlers } from "../auth/connections/handlers.ts";
import { checkHandlers, type CheckHandlerParts } from "../auth/checks/handlers.ts";
import { loginHandlers, type LoginHandlerParts } from "../auth/logins/handlers.ts";
import { serveSignInPage } from "../auth/sign-in-page/sign-in-page.ts";
import type { ExportDestinations } from "../audit/export/destinations.ts";
import { exportDestinationHandlers } from "../audit/export/handlers.ts";
import type { AuditLogs } from "../audit/logs/audit-logs.ts";
import { auditLogFile, auditLogHandlers } from "../audit/logs/handlers.ts";
import { type Access, type Authenticator, isOpen, type OpenCaller } from "../http/auth/access.ts";
import { forRoles } from "../http/auth/role-answers.ts";
import { allowSignInPages } from "../http/cross-origin.ts";
import type { IssuingKeys } from "../http/auth/issuing-keys.ts";
import { browserPoolHandlers } from "../sessions/pools/handlers.ts";
import type { BrowserPools } from "../sessions/pools/pools.ts";
import { browserHandlers } from "../sessions/browsers/handlers.ts";
import type { SessionStore } from "../sessions/browsers/session-store.ts";
import type { Sessions } from "../sessions/browsers/sessions.ts";
import type { Idempotency } from "../http/idempotency/idempotency.ts";
import { replayPage } from "../console/pages/page-template.ts";
import { serveConsolePages } from "../console/pages/serve-pages.ts";
import { serveDirect } from "../sessions/instance-plane/direct.ts";
import { serveForwarded } from "../sessions/instance-plane/forward.ts";
import type {
  LiveViewAddresses,
  LiveViewGate,
  LoginWaits,
  PersonLinks,
} from "../sessions/live-view/live-view-address.ts";
import {
  handoffHandlers as sessionHandoffHandlers,
  liveViewLinkHandlers,
  shownHandoff,
} from "../sessions/handoff/handlers.ts";
import type { Handoffs as SessionHandoffs } from "../sessions/handoff/handoffs.ts";
import type { LiveViewLinks } from "../sessions/handoff/live-view-links.ts";
import { servePersonRoutes } from "../sessions/handoff/person-routes.ts";
import type { AuditRecorder } from "../audit/logs/recorder.ts";
import { serveLiveView } from "../sessions/live-view/live-view-page.ts";
import type { Log } from "../log/log.ts";
import { type KeyedPlane, notImplemented, type NotImplemented, type OpenPlane } from "../http/not-implemented.ts";
import { entitlementsOf, type Provided } from "../resources/organization/entitlements.ts";
import { organizationHandlers } from "../resources/organization/handlers.ts";
import type { Organization } from "../resources/organization/organization.ts";
import { explainConstraint } from "../storage/errors/constraint-answers.ts";
import { explainOutage } from "../storage/errors/outages.ts";
import type { ParsePool } from "../storage/parsing/parse-pool.ts";
import { profileHandlers } from "../resources/profiles/handlers.ts";
import type { OverloadGuard } from "../http/limits/overload-guard.ts";
import type { ProfileStates } from "../resources/profiles/profile-states.ts";
import type { Profiles } from "../resources/profiles/profiles.ts";
import { explainingClosedProjects } from "../storage/errors/closed-project.ts";
import { projectHandlers } from "../resources/projects/handlers.ts";
import type { Projects } from "../resources/projects/projects.ts";
import { separateContent } from "../http/content-origin.ts";
import { pathOfDownload, servePageDownloads } from "../http/auth/page-downloads.ts";
import type { RequestOrigins } from "../http/request-origin.ts";
import type { McpService } from "../mcp/mcp-service.ts";
import type { RateLimits } from "../http/limits/rate-limits.ts";
import { downloadHandlers } from "../sessions/downloads/handlers.ts";
import type { DownloadStore } from "../sessions/downloads/download-store.ts";
import { replayHandlers } from "../sessions/replays/handlers.ts";
import type { ReplayStore } from "../sessions/replays/replay-store.ts";
import type { ReplayAddresses } from "../sessions/replays/replay-address.ts";
import { serveReplayView } from "../sessions/replays/replay-view.ts";
import type { ReplicaForwarding } from "../cluster/replica-forwarding.ts";
import type { Regions } from "../cluster/regions.ts";
import { identify, RequestLog } from "../log/request-log.ts";
import type { Secrets } from "../storage/secrets.ts";
import { tcpKeepAliveMs } from "../http/tcp-keep-alive.ts";
import { telemetryHandlers } from "../sessions/telemetry/handlers.ts";
import type { TelemetryStore } from "../sessions/telemetry/telemetry-store.ts";
import { serviceHandlers } from "../http/health/handlers.ts";
import type { BotIdentities } from "../resources/bot-identity/bot-identities.ts";
import { serveBotDirectory } from "../resources/bot-identity/serve-directory.ts";
import { serveDescriptions } from "../http/openapi.ts";
import type { ReadinessChecks } from "../http/health/readiness.ts";
import type { SignInBrowsers } from "../sessions/live-view/sign-in-browsers.ts";
import { Entrance } from "./entrance.ts";
import { SessionRouting } from "./session-routing.ts";
import type { ResourceParts } from "./start/open-resources.ts";

export interface AppParts extends Omit<InvocationHandlerParts, "signer">, LoginHandlerParts, CheckHandlerParts {
  readonly apiKeys: ApiKeys;
  readonly auditLogs: AuditLogs;
  readonly authenticator: Authenticator;
  readonly botIdentities: BotIdentities;
  readonly browserPools: BrowserPools;
  readonly console: ConsoleParts;
  /** Separate origin for session content; `undefined` = the service's own. */
  readonly contentUrl: string | undefined;
  readonly deployments: Deployments;
  readonly exportDestinations: ExportDestinations;
  readonly handoffs: Handoffs;
  readonly sessionHandoffs: SessionHandoffs;
  readonly liveViewLinks: LiveViewLinks;
  readonly persons: PersonLinks;
  readonly recorder: Pick<AuditRecorder, "note">;
  readonly hasManagedProxies: boolean;
  readonly idempotency: Idempotency;
  readonly liveViews: LiveViewAddresses;
  readonly liveViewFrameAncestors: readonly string[];
  readonly mcp: McpService;
  readonly limits: Pick<Provided, "invocations" | "sessions">;
  readonly organization: Organization;
  readonly origins: RequestOrigins;
  /** `public_url`, or where the server listens. */
  readonly ownUrl: () => string;
  readonly overload: Pick<OverloadGuard, "admit" | "admitStart">;
  readonly profiles: Profiles;
  readonly profileStates: ProfileStates;
  readonly projects: Projects;
  readonly rateLimits: Pick<RateLimits, "admit">;
  readonly readiness: ReadinessChecks;
  readonly downloads: DownloadStore;
  readonly replays: ReplayStore;
  readonly replayAddresses: ReplayAddresses;
  readonly replicas: ReplicaForwarding;
  readonly regions: Regions;
  readonly resourceHandlers: ResourceParts["resourceHandlers"];
  readonly schedules: Schedules;
  readonly serveReplicas: (app: FastifyInstance) => void;
  readonly secrets: Secrets;
  readonly sessions: Sessions;
  readonly signInFrameAncestors: readonly string[];
  readonly sessionStore: Pick<SessionStore, "find">;
  readonly parsing: ParsePool;
  readonly telemetry: TelemetryStore;
  readonly log: Log;
  readonly loginWaits: LoginWaits;
  readonly signInBrowsers: SignInBrowsers;
  readonly issuingKeys: IssuingKeys;
  readonly isDraining: () => boolean;
  readonly unknownFields: UnknownFields;
  readonly observe: (app: FastifyInstance) => void;
}

export function createApp(parts: AppParts): FastifyInstance {
  const { origins, replicas } = parts;
  const app = createServer(parts);
  parts.observe(app);
  if (parts.contentUrl !== undefined) separateContent(app, { contentUrl: parts.contentUrl, origins, replicas });
  allowSignInPages(app);
  servePageDownloads(app);
  const entrance = new Entrance(parts);
  const routing = new SessionRouting({ ...parts, entrance });
  mountAll(app, browserReplays, replayHandlers(parts.replays), {
    unknownFields: parts.unknownFields,
    context: (request, endpoint) => routing.replaysFor(request, endpoint),
  });
  mountAll(app, browserDownloads, downloadHandlers(parts.downloads), {
    unknownFields: parts.unknownFields,
    context: (request, endpoint) => routing.downloadsFor(request, endpoint, parts.unknownFields),
  });
  mountOperations(app, parts, { entrance, routing });
  serveDirect(app, {
    instanceFor: (request, sessionId) => routing.instanceFor(request, sessionId),
    socketsOf: (request, sessionId) => routing.socketsOf(request, sessionId),
  });
  parts.serveReplicas(app);
  servePages(app, parts, routing);
  parts.mcp.serve(app, entrance);
  serveConsole(app, parts.console, entrance);
  serveDescriptions(app);
  serveBotDirectory(app, parts);
  return app;
}

function createServer({ log, origins }: AppParts): FastifyInstance {
  // Widened to Fastify's usual type. Fastify's own messages ("Server listening at") repeat ours.
  const logger: FastifyBaseLogger = log.child({}, { level: "warn" });
  const rewriteUrl = (request: IncomingMessage) => pathOfDownload(request, origins.pathInside(request));
  const app = Fastify({
    ...fastifyOptions,
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory(_logger, { reqId }, _options, request) {
      const requestId = String(reqId);
      identify(request, requestId);
      return new RequestLog(log, requestId);
    },
    forceCloseConnections: true,
    http: {
      ...fastifyOptions.http,
      // At Node's default of 30 s, thousands of stalled request heads could wait.
      connectionsCheckingInterval: 2000,
      keepAlive: true,
      keepAliveInitialDelay: tcpKeepAliveMs,
    },
    rewriteUrl,
  });
  configure(app, {
    explain(error, request) {
      const explained = explainOutage(error);
      if (explained !== error)
        request.log.warn({ err: error }, "a request failed because the database or disk space is unavailable");
      return explainConstraint(explained);
    },
  });
  return app;
}

const missing: ReadonlySet<string> = new Set<string>([...notImplemented, ...missingInside]);

function keyedHandlers(parts: AppParts) {
  const entitlements = entitlementsOf((name) => !missing.has(name), {
    hasManagedProxies: parts.hasManagedProxies,
    ...parts.limits,
    replayRetentionDays: parts.replays.retentionDays,
  });
  return {
    ...profileHandlers(parts.profiles, parts.profileStates, parts.sessions, parts.parsing),
    ...apiKeyHandlers(parts.apiKeys),
    ...browserHandlers(parts.sessions, parts, parts.regions),
    ...browserPoolHandlers(parts.browserPools, parts, parts.regions),
    ...connectionHandlers(parts.connections, parts.loginPages),
    ...loginHandlers(parts),
    ...checkHandlers(parts),
    ...invocationHandlers({ ...parts, signer: parts }),
    ...deploymentHandlers(parts.deployments),
    ...scheduleHandlers(parts.schedules),
    ...projectHandlers(parts.projects),
    ...organizationHandlers(parts.organization, entitlements),
    ...auditLogHandlers(parts.auditLogs),
    ...exportDestinationHandlers(parts.exportDestinations),
    ...sessionHandoffHandlers(parts.sessionHandoffs, parts.liveViews),
    ...liveViewLinkHandlers(parts.liveViewLinks, parts.liveViews),
    ...telemetryHandlers(parts.sessions, parts.telemetry),
    ...parts.resourceHandlers,
  } satisfies HandlersOrNotYet<
    Omit<KeyedPlane<typeof contract>, keyof typeof browserReplays>,
    Extract<NotImplemented, keyof KeyedPlane<typeof contract>>,
    Access
  >;
}

function openHandlers(parts: AppParts) {
  return { ...serviceHandlers(parts.readiness), ...handoffHandlers(parts.handoffs) } satisfies HandlersOrNotYet<
    OpenPlane<typeof contract>,
    Extract<NotImplemented, keyof OpenPlane<typeof contract>>,
    OpenCaller
  >;
}

function mountOperations(
  app: FastifyInstance,
  parts: AppParts,
  { entrance, routing }: { readonly entrance: Entrance; readonly routing: SessionRouting },
): void {
  const { idempotency, unknownFields } = parts;
  const keyed = keyedHandlers(parts);
  const open = openHandlers(parts);
  const enter = (request: FastifyRequest, endpoint: Endpoint) => entrance.enter(request, endpoint);
  const enterSession = (request: FastifyRequest, endpoint: Endpoint) => routing.enter(request, endpoint);
  const refuse = async (request: FastifyRequest, endpoint: Endpoint): Promise<never> => {
    // A missing key is reported first.
    if (!isOpen(endpoint)) await entrance.authenticate(request);
    throw notImplementedError(endpoint);
  };

  for (const [name, endpoint] of Object.entries<Endpoint>(contract)) {
    if (name in browserReplays || name in browserDownloads) continue;
    if (endpoint.plane === "instance") {
      serveForwarded(app, endpoint, {
        unknownFields,
        async instanceFor(request, sessionId) {
          const instance = await routing.instanceFor(request, sessionId, endpoint);
          if (instance !== undefined && missing.has(name)) throw notImplementedError(endpoint);
          return instance;
        },
      });
    } else if (missing.has(name)) {
      mount(app, endpoint, () => undefined as never, { context: refuse });
    } else if (!isOpen(endpoint)) {
      // `satisfies` above ties the name to its handler.
      const own = keyed[name as keyof typeof keyed] as unknown as Handler<Endpoint, Access>;
      const handler = explainingClosedProjects(
        forRoles(endpoint, endpoint.handoff === undefined ? own : forPages(endpoint, own)),
      ) as Handler<Endpoint, Access>;
      mount(app, endpoint, handler, {
        unknownFields,
        idempotency,
        context: endpoint.path.startsWith(`${contract.listBrowsers.path}/{`) ? enterSession : enter,
      });
    } else if (name in open) {
      mount(app, endpoint, open[name as keyof typeof open] as unknown as Handler<Endpoint, OpenCaller>, {
        unknownFields,
        context: (request) => entrance.enterOpen(request, endpoint),
      });
    }
  }
  mount(app, auditLogFile, ({ query, context }) => parts.auditLogs.exportFile(context.key, query), {
    unknownFields,
    context: enter,
  });
}

const noHandoff = Promise.resolve(undefined);

function servePages(app: FastifyInstance, parts: AppParts, routing: SessionRouting): void {
  serveConsolePages(app, parts);
  serveSignInPage(app, parts.signInFrameAncestors);
  serveReplayView(app, {
    addresses: parts.replayAddresses,
    store: parts.replays,
    async nameOf(sessionId) {
      return (await parts.sessionStore.find(undefined, sessionId, true))?.name ?? undefined;
    },
    atHome: (request, sessionId) => routing.requireFilesHere(request, sessionId),
    frameAncestors: parts.liveViewFrameAncestors,
    page: (request) => replayPage(request, parts.origins),
    onRefused: (request) => {
      parts.authenticator.countRefused(request.raw);
    },
  });
  const gate: LiveViewGate = {
    addresses: parts.liveViews,
    issuingKeys: parts.issuingKeys,
    logins: parts.loginWaits,
    persons: parts.persons,
    signInBrowsers: parts.signInBrowsers,
  };
  const onRefused = (request: IncomingMessage): void => {
    parts.authenticator.countRefused(request);
  };
  serveLiveView(app, {
    ...gate,
    store: parts.sessionStore,
    async recordingOf(sessionId) {
      const latest = (await parts.replays.list(sessionId)).findLast(({ failure_reason }) => failure_reason == null);
      return latest && parts.replayAddresses.of(sessionId, latest.replay_id, "../..");
    },
    frameAncestors: parts.liveViewFrameAncestors,
    signInFrameAncestors: parts.signInFrameAncestors,
    handoffOf: ({ link }) =>
      link?.kind === "handoff" ? parts.sessionHandoffs.store.find(link.id).then(shownHandoff) : noHandoff,
    onRefused,
  });
  servePersonRoutes(app, {
    ...gate,
    handoffs: parts.sessionHandoffs,
    recorder: parts.recorder,
    origins: parts.origins,
    onRefused,
  });
}
