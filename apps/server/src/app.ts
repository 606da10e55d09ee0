import { browserReplays, contract, type Endpoint } from "@shoal/contract";
import type { Instance } from "@shoal/placement";
import { notImplemented as missingInside } from "@shoal/instance";
import { type Handler, type HandlersOrNotYet, notImplementedError, ServiceError, type UnknownFields } from "@shoal/router";
import { configure, fastifyOptions, mount, mountAll, replyOf, RequestTaken } from "@shoal/router/fastify";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from "fastify";
import type { IncomingMessage } from "node:http";
import { apiKeyHandlers } from "./api-keys/handlers.ts";
import type { ApiKeys } from "./api-keys/api-keys.ts";
import type { ExportDestinations } from "./audit-export/destinations.ts";
import { exportDestinationHandlers } from "./audit-export/handlers.ts";
import type { AuditLogs } from "./audit-logs/audit-logs.ts";
import { isAudited, markAudited } from "./audit-logs/follow.ts";
import { auditLogHandlers } from "./audit-logs/handlers.ts";
import { type Access, type AuthenticateOptions, type Authenticator, isOpen } from "./auth/access.ts";
import type { IssuingKeys } from "./auth/issuing-keys.ts";
import { browserPoolHandlers } from "./browser-pools/handlers.ts";
import type { BrowserPools } from "./browser-pools/pools.ts";
import { browserHandlers } from "./browsers/handlers.ts";
import { SessionElsewhere } from "./browsers/session-errors.ts";
import type { SessionStore } from "./browsers/session-store.ts";
import type { Sessions } from "./browsers/sessions.ts";
import type { ChromeStore } from "./extensions/chrome-store.ts";
import { extensionHandlers } from "./extensions/handlers.ts";
import type { Extensions } from "./extensions/extensions.ts";
import type { Idempotency } from "./idempotency/idempotency.ts";
import { serveDirect } from "./instance-plane/direct.ts";
import { serveForwarded } from "./instance-plane/forward.ts";
import { requireSessionToken, sessionTokenIn } from "./instance-plane/session-token.ts";
import type { LiveViewAddresses } from "./live-view/live-view-address.ts";
import { serveLiveView } from "./live-view/live-view-page.ts";
import type { Log } from "./log.ts";
import { type KeyedPlane, notImplemented, type NotImplemented, type OpenPlane } from "./not-implemented.ts";
import { entitlementsOf } from "./organization/entitlements.ts";
import { organizationHandlers } from "./organization/handlers.ts";
import { noteAccess, noteKeyId } from "./observation/request-facts.ts";
import type { Organization } from "./organization/organization.ts";
import { explainConstraint } from "./constraint-answers.ts";
import { explainOutage } from "./outages.ts";
import type { ParsePool } from "./parsing/parse-pool.ts";
import { profileHandlers } from "./profiles/handlers.ts";
import type { OverloadGuard } from "./overload/overload-guard.ts";
import type { ProfileStates } from "./profiles/profile-states.ts";
import type { Profiles } from "./profiles/profiles.ts";
import { explainingClosedProjects } from "./projects/closed-project.ts";
import { projectHandlers } from "./projects/handlers.ts";
import type { Projects } from "./projects/projects.ts";
import { proxyHandlers } from "./proxies/handlers.ts";
import type { Proxies } from "./proxies/proxies.ts";
import { separateContent } from "./public-url/content-origin.ts";
import type { RequestOrigins } from "./public-url/request-origin.ts";
import type { RateLimits } from "./rate-limits/rate-limits.ts";
import { type ReplayAccess, replayHandlers } from "./replays/handlers.ts";
import type { ReplayStore } from "./replays/replay-store.ts";
import type { ReplayAddresses } from "./replays/replay-address.ts";
import { serveReplayView } from "./replays/replay-view.ts";
import type { ReplicaForwarding } from "./replicas/replica-forwarding.ts";
import type { Regions } from "./replicas/regions.ts";
import { identify, RequestLog } from "./request-log.ts";
import type { Secrets } from "./secrets.ts";
import { tcpKeepAliveMs } from "./tcp-keep-alive.ts";
import { telemetryHandlers } from "./telemetry/handlers.ts";
import type { TelemetryStore } from "./telemetry/telemetry-store.ts";
import type { TelemetryDestinations } from "./telemetry-destinations/destinations.ts";
import { telemetryDestinationHandlers } from "./telemetry-destinations/handlers.ts";
import { serviceHandlers } from "./service/handlers.ts";
import { serveOpenApi } from "./service/openapi.ts";
import type { ReadinessChecks } from "./service/readiness.ts";

/** Sessions of an archived project run on: they can be seen and ended. */
const forArchived: ReadonlySet<Endpoint> = new Set<Endpoint>([contract.listBrowsers, contract.getBrowser, contract.deleteBrowser]);

/** What the routes are made of. */
export interface AppParts {
  readonly apiKeys: ApiKeys;
  readonly auditLogs: AuditLogs;
  readonly authenticator: Authenticator;
  readonly browserPools: BrowserPools;
  readonly chromeStore: ChromeStore;
  /** Where session content is served, if not at the service's own address. */
  readonly contentUrl: string | undefined;
  readonly exportDestinations: ExportDestinations;
  readonly extensions: Extensions;
  /** Whether the operator provides any type of proxy. */
  readonly hasManagedProxies: boolean;
  readonly idempotency: Idempotency;
  readonly liveViews: LiveViewAddresses;
  /** Sites that may show live views in a frame. */
  readonly liveViewFrameAncestors: readonly string[];
  /** Sessions of the organisation at once. */
  readonly maxSessions: number;
  readonly organization: Organization;
  readonly origins: RequestOrigins;
  readonly overload: Pick<OverloadGuard, "admit" | "admitStart">;
  readonly profiles: Profiles;
  readonly profileStates: ProfileStates;
  readonly projects: Projects;
  readonly proxies: Proxies;
  readonly rateLimits: Pick<RateLimits, "admit">;
  readonly readiness: ReadinessChecks;
  readonly replays: ReplayStore;
  readonly replayAddresses: ReplayAddresses;
  readonly replicas: ReplicaForwarding;
  readonly regions: Regions;
  /** Adds what only other servers of this installation ask. */
  readonly serveReplicas: (app: FastifyInstance) => void;
  readonly secrets: Secrets;
  readonly sessions: Sessions;
  readonly sessionStore: Pick<SessionStore, "find">;
  readonly parsing: ParsePool;
  readonly telemetry: TelemetryStore;
  readonly telemetryDestinations: TelemetryDestinations;
  readonly log: Log;
  readonly issuingKeys: IssuingKeys;
  readonly isDraining: () => boolean;
  /** What happens to fields and parameters that the contract does not know. */
  readonly unknownFields: UnknownFields;
  /** Adds what the operator's view of the service needs. */
  readonly observe: (app: FastifyInstance) => void;
}

/** Every operation of the contract on one HTTP server, not yet listening. */
export function createApp(parts: AppParts): FastifyInstance {
  const { authenticator, idempotency, isDraining, log, origins, rateLimits, replicas, secrets, sessions, unknownFields } = parts;
  // Widened, so that the server has Fastify's usual type. Fastify's own notes ("Server listening at") say nothing that ours do not.
  const logger: FastifyBaseLogger = log.child({}, { level: "warn" });
  const rewriteUrl = (request: IncomingMessage) => origins.pathInside(request);
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
    // How often heads of requests that do not come are looked for; Node's own half a minute would let thousands wait.
    // TCP keep-alive finds clients that are gone without a word while a connection is idle.
    http: { ...fastifyOptions.http, connectionsCheckingInterval: 2000, keepAlive: true, keepAliveInitialDelay: tcpKeepAliveMs },
    ...(origins.hasPrefix && { rewriteUrl }),
  });
  configure(app, {
    explain(error, request) {
      const explained = explainOutage(error);
      if (explained !== error) request.log.warn({ err: error }, "a request failed for want of the database or of room on the disk");
      return explainConstraint(explained);
    },
  });

  parts.observe(app);
  if (parts.contentUrl !== undefined) separateContent(app, { contentUrl: parts.contentUrl, origins, replicas });

  function refuseWhileDraining(): void {
    if (isDraining())
      throw new ServiceError(503, "shutting_down", "The server is stopping. Repeat the request in a moment.", { retryAfterSeconds: 2 });
  }
  function authenticate(request: FastifyRequest, options?: AuthenticateOptions): Access | Promise<Access> {
    refuseWhileDraining();
    parts.overload.admit(request.method);
    const access = authenticator.authenticate(request.raw, options);
    return access instanceof Promise ? access.then((known) => admit(request, known)) : admit(request, access);
  }

  function admit(request: FastifyRequest, access: Access): Access {
    noteAccess(request.raw, access);
    // It has been counted where it came from.
    if (replicas.isForwarded(request.raw)) return access;
    noteKeyId(request.raw, access.key.id);
    rateLimits.admit(access.key.id, (headers) => {
      // Not on Node's own response: with a header set there, it copies all of them one by one when the head is written.
      replyOf(request).headers(headers);
    });
    return access;
  }

  async function openWithToken(request: FastifyRequest, token: string, sessionId: string): Promise<void> {
    try {
      const keyId = await requireSessionToken(parts, token, sessionId);
      if (!replicas.isForwarded(request.raw)) noteKeyId(request.raw, keyId);
    } catch (error) {
      if (ServiceError.isInstance(error)) authenticator.countRefused(request.raw);
      throw error;
    }
  }

  /** The same, and the audit log learns who it is where the operation is one that it keeps. */
  function enter(request: FastifyRequest, endpoint: Endpoint): Access | Promise<Access> {
    if (endpoint === contract.createBrowser) parts.overload.admitStart();
    const access = authenticate(request, { allowsArchived: forArchived.has(endpoint) });
    // What another server sends on is in the log as that server saw it.
    if (!isAudited(endpoint) || replicas.isForwarded(request.raw)) return access;
    const mark = (known: Access): Access => {
      markAudited(request.raw, { endpoint, access: known, clientIp: origins.clientIpOf(request.raw) });
      return known;
    };
    return access instanceof Promise ? access.then(mark) : mark(access);
  }

  const missing = new Set<string>([...notImplemented, ...missingInside]);
  const entitlements = entitlementsOf((name) => !missing.has(name), {
    hasManagedProxies: parts.hasManagedProxies,
    maxSessions: parts.maxSessions,
    replayRetentionDays: parts.replays.retentionDays,
  });
  const keyed = {
    ...profileHandlers(parts.profiles, parts.profileStates, sessions, parts.parsing),
    ...apiKeyHandlers(parts.apiKeys),
    ...browserHandlers(sessions, parts, parts.regions),
    ...browserPoolHandlers(parts.browserPools, parts, parts.regions),
    ...projectHandlers(parts.projects),
    ...proxyHandlers(parts.proxies),
    ...extensionHandlers(parts.extensions, parts.chromeStore),
    ...organizationHandlers(parts.organization, entitlements),
    ...auditLogHandlers(parts.auditLogs),
    ...exportDestinationHandlers(parts.exportDestinations),
    ...telemetryHandlers(sessions, parts.telemetry),
    ...telemetryDestinationHandlers(parts.telemetryDestinations),
  } satisfies HandlersOrNotYet<
    Omit<KeyedPlane<typeof contract>, keyof typeof browserReplays>,
    NotImplemented & keyof KeyedPlane<typeof contract>,
    Access
  >;
  const open = serviceHandlers(parts.readiness) satisfies HandlersOrNotYet<
    OpenPlane<typeof contract>,
    NotImplemented & keyof OpenPlane<typeof contract>
  >;

  /** Whoever lacks a key that is needed learns that first; nothing else of the request is looked at. */
  async function refuse(request: FastifyRequest, endpoint: Endpoint): Promise<never> {
    if (!isOpen(endpoint)) await authenticate(request);
    throw notImplementedError(endpoint);
  }

  function markToken(request: FastifyRequest, endpoint: Endpoint): void {
    if (isAudited(endpoint) && !replicas.isForwarded(request.raw))
      markAudited(request.raw, { endpoint, access: undefined, clientIp: origins.clientIpOf(request.raw) });
  }

  /** Of whoever has a key for the session's project, or the session's own token in the address. */
  async function instanceFor(request: FastifyRequest, sessionId: string, endpoint?: Endpoint): Promise<Instance | undefined> {
    const token = sessionTokenIn(request.raw.url ?? "");
    let access: Access | undefined;
    if (token === undefined) access = await (endpoint === undefined ? authenticate(request) : enter(request, endpoint));
    else {
      refuseWhileDraining();
      await openWithToken(request, token, sessionId);
      if (endpoint !== undefined) markToken(request, endpoint);
    }
    const found = sessions.instanceOf(access?.projectId, sessionId);
    if (!(found instanceof Promise)) return found;
    try {
      return await found;
    } catch (error) {
      await replicas.handOver(error, { request, reply: replyOf(request) }, access);
      return undefined;
    }
  }

  /** As {@link enter}, for an operation on a session: the server that has the session answers. */
  function enterSession(request: FastifyRequest, endpoint: Endpoint): Access | Promise<Access> {
    const access = enter(request, endpoint);
    const { id, id_or_name: idOrName = id ?? "" } = request.params as Readonly<Record<string, string | undefined>>;
    if (sessions.isHere(idOrName) || replicas.isAlone() || replicas.isForwarded(request.raw)) return access;
    return handOverIfElsewhere(request, endpoint, { idOrName, access });
  }

  async function handOverIfElsewhere(
    request: FastifyRequest,
    endpoint: Endpoint,
    { idOrName, access }: { readonly idOrName: string; readonly access: Access | Promise<Access> },
  ): Promise<Access> {
    const known = await access;
    try {
      // Of a session that has ended, the database tells all but what it left.
      await sessions.refuseElsewhere(known.projectId, idOrName, endpoint.path !== contract.getBrowser.path);
    } catch (error) {
      try {
        await replicas.handOver(error, { request, reply: replyOf(request) }, known);
      } catch (failure) {
        // It tells as much of a running one as is known while its server does not answer.
        if (endpoint === contract.getBrowser && error instanceof SessionElsewhere) return known;
        throw failure;
      }
      throw new RequestTaken();
    }
    return known;
  }

  async function hereOrTaken(request: FastifyRequest, access: Access | undefined, idOrName: string): Promise<string> {
    try {
      return await sessions.idHere(access?.projectId, idOrName);
    } catch (error) {
      await replicas.handOver(error, { request, reply: replyOf(request) }, access);
      throw new RequestTaken();
    }
  }

  /** Likewise, of a session that may have ended. */
  async function replaysFor(request: FastifyRequest, endpoint: Endpoint): Promise<ReplayAccess> {
    const { id = "" } = request.params as Readonly<Record<string, string>>;
    const token = sessionTokenIn(request.raw.url ?? "");
    const base = authenticator.baseUrlOf(request.raw);
    if (token === undefined) {
      const access = await enter(request, endpoint);
      const { projectId } = access;
      const sessionId = await hereOrTaken(request, access, id);
      return {
        sessionId,
        projectId,
        instance: () => sessions.instanceOf(projectId, sessionId),
        viewUrl: (replayId) => parts.replayAddresses.of(sessionId, replayId, base),
      };
    }
    refuseWhileDraining();
    await openWithToken(request, token, id);
    markToken(request, endpoint);
    if (!sessions.isHere(id) && !replicas.isAlone()) await hereOrTaken(request, undefined, id);
    return {
      sessionId: id,
      projectId: sessions.projectOf(id),
      instance: () => sessions.instanceOf(undefined, id),
      viewUrl: (replayId) => parts.replayAddresses.of(id, replayId, base),
    };
  }

  mountAll(app, browserReplays, replayHandlers(parts.replays), { unknownFields, context: replaysFor });
  for (const [name, endpoint] of Object.entries<Endpoint>(contract)) {
    if (name in browserReplays) continue;
    if (endpoint.plane === "instance") {
      serveForwarded(app, endpoint, {
        unknownFields,
        async instanceFor(request, sessionId) {
          const instance = await instanceFor(request, sessionId, endpoint);
          if (instance !== undefined && missing.has(name)) throw notImplementedError(endpoint);
          return instance;
        },
      });
    } else if (missing.has(name)) {
      mount(app, endpoint, () => undefined as never, { context: refuse });
    } else if (!isOpen(endpoint)) {
      // `satisfies` above holds the name to its handler.
      const handler = explainingClosedProjects(keyed[name as keyof typeof keyed] as unknown as Handler<Endpoint, Access>) as Handler<
        Endpoint,
        Access
      >;
      mount(app, endpoint, endpoint.method === "POST" ? idempotency.protect(endpoint, handler) : handler, {
        unknownFields,
        context: endpoint.path.startsWith(`${contract.listBrowsers.path}/{`) ? enterSession : enter,
      });
    } else if (name in open) {
      mount(app, endpoint, open[name as keyof typeof open] as unknown as Handler<Endpoint>, { unknownFields, context: () => undefined });
    }
  }
  serveDirect(app, {
    instanceFor,
    async socketsOf(request, sessionId) {
      const base = authenticator.baseUrlOf(request.raw).replace(/^http/, "ws");
      const token = sessionTokenIn(request.raw.url ?? "");
      if (token !== undefined) return { url: `${base}/browsers/${sessionId}`, token, sessionId };
      const { key, projectId } = await authenticate(request);
      const { row } = await sessions.get(projectId, sessionId, false);
      return { url: `${base}/browsers/${row.id}`, token: secrets.signSession(row.id, key.id), sessionId: row.id };
    },
  });
  parts.serveReplicas(app);
  serveReplayView(app, {
    addresses: parts.replayAddresses,
    store: parts.replays,
    atHome: (request, sessionId) =>
      sessions.isHere(sessionId) || replicas.isAlone() ? Promise.resolve() : hereOrTaken(request, undefined, sessionId),
    frameAncestors: parts.liveViewFrameAncestors,
    onRefused: (request) => {
      authenticator.countRefused(request.raw);
    },
  });
  serveLiveView(app, {
    addresses: parts.liveViews,
    issuingKeys: parts.issuingKeys,
    store: parts.sessionStore,
    frameAncestors: parts.liveViewFrameAncestors,
    onRefused: (request) => {
      authenticator.countRefused(request);
    },
  });
  serveOpenApi(app);
  return app;
}
