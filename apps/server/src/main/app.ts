import { contract } from "@shoal/contract";
import { configure, fastifyOptions, type ForeignError } from "@shoal/router/fastify";
import type { ErrorBody } from "@shoal/schemas";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import type { IncomingMessage } from "node:http";
import type { Host } from "../host/host.ts";
import { takeKey } from "../http/auth/connect-address.ts";
import { pathOfDownload } from "../http/auth/page-downloads.ts";
import { statusForForeigners } from "../http/foreign-status.ts";
import type { RequestOrigins } from "../http/request-origin.ts";
import { tcpKeepAliveMs } from "../http/tcp-keep-alive.ts";
import type { Log } from "../log/log.ts";
import { identify, RequestLog } from "../log/request-log.ts";
import { explainConstraint } from "../storage/errors/constraint-answers.ts";
import { explainOutage } from "../storage/errors/outages.ts";
import type { OpenedFeatures } from "./features.ts";
import { dialects } from "../dialects/dialects.ts";
import { dialectOf, enterDialect } from "../dialects/kit/dialect-key.ts";
import type { DialectHost } from "../dialects/kit/mount-dialect.ts";
import { mountDialects } from "../dialects/mount-dialects.ts";
import { mountOperations } from "./mount-operations.ts";

/** The HTTP server: the operations of the contract, and the other routes of the features. */
export function createApp(host: Host, opened: OpenedFeatures): FastifyInstance {
  const app = createServer(host.log, opened.traffic.origins);
  for (const feature of opened.all) feature.serve?.(app, opened.entrance);
  const handlers = mountOperations(app, host, opened);
  mountDialects(app, host.config.dialects, dialectHost(host, opened, handlers));
  return app;
}

function dialectHost({ config }: Host, opened: OpenedFeatures, handlers: DialectHost["handlers"]): DialectHost {
  const { entrance, features, routing, signer } = opened;
  const { sessions, rules } = features.sessions.provides;
  return {
    contract,
    entrance,
    handlers,
    routing,
    sessions,
    signer,
    policyObjects: features.apiKeys.provides.policyObjects,
    idempotency: features.idempotency.provides,
    unknownFields: config.unknown_fields,
    downloads: features.downloads.provides,
    renders: features.render.provides,
    replays: features.replays.provides.store,
    filmUrl: features.replays.provides.filmUrl,
    sharedLink: features.liveViews.provides.sharedLink,
    extensions: features.extensions.provides,
    usualConcurrency: () => rules.limits.perProject,
  };
}

/** Errors of the paths of a dialect have its shape. */
function foreignError(error: ErrorBody, status: number, request: IncomingMessage): ForeignError | undefined {
  const found = dialectOf(dialects, request.url ?? "");
  if (found === undefined) return undefined;
  const { dialect, inside } = found;
  const shown = statusForForeigners(status);
  const challenges = status === 401 ? dialect.challenges?.(inside, request.headers) : undefined;
  return {
    status: shown,
    body: dialect.errorBody(error, shown, inside),
    ...(challenges && { headers: { "www-authenticate": [...challenges] } }),
  };
}

function createServer(log: Log, origins: RequestOrigins): FastifyInstance {
  // Widened to Fastify's usual type. Fastify's own messages ("Server listening at") repeat ours.
  const logger: FastifyBaseLogger = log.child({}, { level: "warn" });
  const rewriteUrl = (request: IncomingMessage) => {
    takeKey(request, origins.pathInside(request));
    return enterDialect(dialects, request, pathOfDownload(request, origins.pathInside(request)));
  };
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
      // Clients of Java offer HTTP/2 with each request. Servers may ignore that: RFC 9110, section 7.8.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() !== "h2c",
    },
    rewriteUrl,
  });
  configure(app, {
    foreignError,
    explain(error, request) {
      const explained = explainOutage(error);
      if (explained !== error)
        request.log.warn({ err: error }, "a request failed because the database or disk space is unavailable");
      return explainConstraint(explained);
    },
  });
  return app;
}
