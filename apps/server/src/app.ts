import { contract, type Contract, type Endpoint } from "@shoal/contract";
import { type Handler, type Handlers, ServiceError } from "@shoal/router";
import { configure, fastifyOptions, mount, mountAll } from "@shoal/router/fastify";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from "fastify";
import { apiKeyHandlers } from "./api-keys/handlers.ts";
import type { ApiKeys } from "./api-keys/api-keys.ts";
import { type Access, type Authenticator, isOpen } from "./auth/access.ts";
import { browserHandlers } from "./browsers/handlers.ts";
import type { Sessions } from "./browsers/sessions.ts";
import type { Idempotency } from "./idempotency/idempotency.ts";
import { serveForwarded } from "./instance-plane/forward.ts";
import type { Log } from "./log.ts";
import { profileHandlers } from "./profiles/handlers.ts";
import type { Profiles } from "./profiles/profiles.ts";
import { identify, RequestLog } from "./request-log.ts";
import type { Secrets } from "./secrets.ts";
import { serviceHandlers } from "./service/handlers.ts";
import { serveOpenApi } from "./service/openapi.ts";
import type { ReadinessChecks } from "./service/readiness.ts";

/** Operations that the service answers itself, to those who have a key. */
type KeyedPlane<C extends Contract> = { readonly [Name in keyof C as C[Name] extends { readonly plane: "control" } ? (C[Name] extends { readonly auth: "none" } ? never : Name) : never]: C[Name] };
/** Operations that need no key, but for the document, which is served as bytes. */
type OpenPlane<C extends Contract> = { readonly [Name in keyof C as C[Name] extends { readonly auth: "none"; readonly path: infer Path } ? (Path extends "/openapi.json" ? never : Name) : never]: C[Name] };

/** What the routes are made of. */
export interface AppParts {
  readonly apiKeys: ApiKeys;
  readonly authenticator: Authenticator;
  readonly idempotency: Idempotency;
  readonly profiles: Profiles;
  readonly readiness: ReadinessChecks;
  readonly secrets: Secrets;
  readonly sessions: Sessions;
  readonly log: Log;
  readonly isDraining: () => boolean;
}

/** Every operation of the contract on one HTTP server, not yet listening. */
export function createApp(parts: AppParts): FastifyInstance {
  const { authenticator, idempotency, isDraining, log, secrets, sessions } = parts;
  // Widened, so that the server has Fastify's usual type. Fastify's own notes ("Server listening at") say nothing that ours do not.
  const logger: FastifyBaseLogger = log.child({}, { level: "warn" });
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
  });
  configure(app);

  function authenticate({ headers }: FastifyRequest): Access | Promise<Access> {
    if (isDraining()) throw new ServiceError(503, "shutting_down", "The server is stopping. Repeat the request in a moment.", { retryAfterSeconds: 2 });
    return authenticator.authenticate(headers);
  }

  const keyed = { ...profileHandlers(parts.profiles), ...apiKeyHandlers(parts.apiKeys), ...browserHandlers(sessions, secrets) } satisfies Handlers<KeyedPlane<typeof contract>, Access>;
  const open = serviceHandlers(parts.readiness) satisfies Handlers<OpenPlane<typeof contract>>;

  for (const [name, endpoint] of Object.entries<Endpoint>(contract)) {
    if (endpoint.plane === "instance") {
      serveForwarded(app, endpoint, {
        async instanceFor(request, sessionId) {
          const { projectId } = await authenticate(request);
          return sessions.instanceOf(projectId, sessionId);
        },
      });
    } else if (!isOpen(endpoint)) {
      // `satisfies` above holds the name to its handler.
      const handler = keyed[name as keyof typeof keyed] as unknown as Handler<Endpoint, Access>;
      mount(app, endpoint, endpoint.method === "POST" ? idempotency.protect(endpoint, handler) : handler, { context: authenticate });
    }
  }
  mountAll<OpenPlane<typeof contract>, undefined>(app, { getHealth: contract.getHealth, getReadiness: contract.getReadiness }, open, { context: () => undefined });
  serveOpenApi(app);
  return app;
}
