import type { Database } from "@shoal/database";
import type { Placement } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { FastifyInstance } from "fastify";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { SessionStore } from "../browsers/session-store.ts";
import type { Config } from "../config/config.ts";
import type { InFlight } from "../drain.ts";
import { isLoopback } from "../listen.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { StartError } from "../start-error.ts";
import type { ExportTotals } from "../telemetry-export/exports.ts";
import { noteRoute } from "./request-facts.ts";
import { observedPlacement, observedSessionStore, type SessionObserver } from "./observed.ts";

/** What operators see of the service: nothing that is not switched on is loaded. */
export interface Observation {
  /** Seen by whatever is on; the same object where nothing is. */
  placement(placement: Placement): Placement;
  sessionStore(store: SessionStore): SessionStore;
  /** Follows the server's requests from their arrival. */
  follow(server: Server): void;
  /** Adds what the routes must tell, and `/metrics` where it has a token. */
  join(app: FastifyInstance, countRefused: (request: IncomingMessage) => void): void;
  requestEnded(request: IncomingMessage, response: ServerResponse, durationMs: number): void;
  /** Sessions that were ended in the database, at once. */
  sessionsEnded(reason: string, count: number): void;
  /** A request was refused because the server has too much to do. */
  refused(why: string): void;
  /** Opens the access log anew, after its file was moved away. */
  reopen(): void;
  /** Begins to answer on the metrics' own port. @returns its address; `undefined` without one. @throws {StartError} */
  listen(): Promise<string | undefined>;
  close(): Promise<void>;
}

export interface ObservationParts {
  readonly config: Config;
  readonly database: Database;
  readonly serverId: string;
  readonly traffic: Placement["traffic"];
  readonly inFlight: () => InFlight | undefined;
  readonly sockets: () => number;
  readonly telemetryExports: () => ExportTotals | undefined;
  readonly clientIpOf: (request: IncomingMessage) => string;
  readonly log: Log;
}

async function openMetrics({
  config,
  database,
  inFlight,
  serverId,
  sockets,
  telemetryExports,
  traffic,
}: ObservationParts): Promise<Metrics | undefined> {
  if (config.metrics_port === undefined && config.metrics_token === undefined) return undefined;
  if (config.metrics_port !== undefined && config.metrics_token === undefined && !isLoopback(config.metrics_host)) {
    throw new StartError(`Whoever can reach ${config.metrics_host} could read the metrics.`, {
      hint: "Set metrics_token (SHOAL_METRICS_TOKEN), or serve them on 127.0.0.1 with --metrics-host.",
      exitCode: 2,
    });
  }
  const { createMetrics } = await import("../metrics/metrics.ts");
  return createMetrics({ database, serverId, traffic, requests: () => inFlight()?.count() ?? { open: 0, streams: 0 }, sockets, telemetryExports });
}

/** @throws {StartError} when the settings do not fit together. */
export async function openObservation(parts: ObservationParts): Promise<Observation> {
  const { config, log } = parts;
  const metrics = await openMetrics(parts);
  const tracing =
    config.otlp_endpoint === undefined ? undefined : (await import("../tracing/tracing.ts")).openTracing(config.otlp_endpoint, parts.serverId);
  const accessLog =
    config.access_log === undefined ? undefined : (await import("../access-log/access-log.ts")).openAccessLog(config.access_log, parts.clientIpOf);
  const isOn = metrics !== undefined || tracing !== undefined || accessLog !== undefined;
  const sessions: SessionObserver | undefined =
    metrics === undefined && tracing === undefined
      ? undefined
      : {
          async starting(start) {
            const began = performance.now();
            let isStarted = false;
            try {
              const made = await (tracing === undefined ? start() : tracing.step("session.start_instance", start));
              isStarted = true;
              return made;
            } finally {
              metrics?.instanceStarted(performance.now() - began, isStarted);
            }
          },
          storing: (store) => (tracing === undefined ? store() : tracing.step("session.store", store)),
          ended: (reason) => metrics?.sessionsEnded(reason),
        };
  let port: { readonly url: string; close(): Promise<void> } | undefined;

  return {
    placement: (placement) => (sessions === undefined ? placement : observedPlacement(placement, sessions)),
    sessionStore: (store) => (sessions === undefined ? store : observedSessionStore(store, sessions)),
    follow: (server) => tracing?.follow(server),
    join(app, countRefused) {
      if (!isOn) return;
      app.addHook("onRequest", (request, _reply, done) => {
        noteRoute(request.raw, request.routeOptions.url);
        done();
      });
      if (metrics === undefined || config.metrics_port !== undefined || config.metrics_token === undefined) return;
      app.get("/metrics", { exposeHeadRoute: false }, async (request, reply) => {
        const { answerMetrics, hasToken } = await import("../metrics/metrics-port.ts");
        if (!hasToken(request.raw, config.metrics_token)) {
          countRefused(request.raw);
          throw new ServiceError(
            401,
            "unauthorized",
            "Metrics are for the operator: send the metrics_token of the settings as a bearer token. API keys do not open them.",
          );
        }
        reply.hijack();
        await answerMetrics(metrics, reply.raw, log);
      });
    },
    requestEnded(request, response, durationMs) {
      metrics?.requestEnded(request, response, durationMs);
      tracing?.requestEnded(request, response);
      accessLog?.requestEnded(request, response, durationMs);
    },
    sessionsEnded(reason, count) {
      metrics?.sessionsEnded(reason, count);
    },
    refused(why) {
      metrics?.refused(why);
    },
    reopen: () => accessLog?.reopen(),
    async listen() {
      if (metrics === undefined || config.metrics_port === undefined) return undefined;
      const { openMetricsPort } = await import("../metrics/metrics-port.ts");
      port = await openMetricsPort({ host: config.metrics_host, port: config.metrics_port, token: config.metrics_token }, metrics, log);
      return port.url;
    },
    async close() {
      await port?.close();
      await tracing?.close();
      await accessLog?.close();
    },
  };
}
