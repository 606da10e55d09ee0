import { configure, fastifyOptions } from "@shoal/router/fastify";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import type { IncomingMessage } from "node:http";
import type { Host } from "../host/host.ts";
import { takeKey } from "../http/auth/connect-address.ts";
import { pathOfDownload } from "../http/auth/page-downloads.ts";
import type { RequestOrigins } from "../http/request-origin.ts";
import { tcpKeepAliveMs } from "../http/tcp-keep-alive.ts";
import type { Log } from "../log/log.ts";
import { identify, RequestLog } from "../log/request-log.ts";
import { explainConstraint } from "../storage/errors/constraint-answers.ts";
import { explainOutage } from "../storage/errors/outages.ts";
import { dialectHost } from "./dialect-host.ts";
import type { OpenedFeatures } from "./features.ts";
import { dialects } from "../dialects/dialects.ts";
import { foreignError } from "../dialects/foreign-error.ts";
import { enterDialect } from "../dialects/kit/dialect-key.ts";
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
