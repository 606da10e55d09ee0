import type { Database } from "@shoal/database";
import type { Placement } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { FastifyInstance } from "fastify";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Config } from "../config/settings.ts";
import type { InFlight } from "../http/in-flight.ts";
import { isLoopback } from "../http/listen.ts";
import type { AccessLog } from "./access-log.ts";
import type { Log } from "../log/log.ts";
import type { Metrics } from "./metrics.ts";
import type { MetricsPort } from "./metrics-port.ts";
import { StartError } from "../config/start-error.ts";
import type { ExportTotals } from "../sessions/telemetry/export/exports.ts";
import type { Charge } from "../usage/usage-charges.ts";
import { noteRoute } from "../http/request-facts.ts";
import { createSessionObserver, observedPlacement, type SessionObserver } from "./session-observer.ts";
import type { Tracing } from "./tracing.ts";

export interface ObservationParts {
  readonly config: Config;
  readonly database: Database;
  readonly serverId: string;
  readonly traffic: Placement["traffic"];
  readonly warm: Placement["warm"];
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
  warm,
}: ObservationParts): Promise<Metrics | undefined> {
  if (config.metrics_port === undefined && config.metrics_token === undefined) return undefined;
  if (config.metrics_port !== undefined && config.metrics_token === undefined && !isLoopback(config.metrics_host)) {
    throw new StartError(`Anyone with access to ${config.metrics_host} could read the metrics.`, {
      hint: "Set metrics_token (SHOAL_METRICS_TOKEN), or serve them on 127.0.0.1 with --metrics-host.",
      exitCode: 2,
    });
  }
  const { Metrics } = await import("./metrics.ts");
  return new Metrics({
    database,
    serverId,
    traffic,
    warm,
    requests: () => inFlight()?.count() ?? { open: 0, streams: 0 },
    sockets,
    telemetryExports,
    maxProjects: config.metrics_projects,
  });
}

/** Loads only enabled parts. @throws {StartError} when the settings conflict. */
export async function openObservation(parts: ObservationParts): Promise<Observation> {
  const { config } = parts;
  return new Observation(parts, {
    metrics: await openMetrics(parts),
    tracing:
      config.otlp_endpoint === undefined
        ? undefined
        : (await import("./tracing.ts")).openTracing(config.otlp_endpoint, parts.serverId),
    accessLog:
      config.access_log === undefined
        ? undefined
        : (await import("./access-log.ts")).openAccessLog(config.access_log, parts.clientIpOf),
  });
}

interface Observers {
  readonly metrics: Metrics | undefined;
  readonly tracing: Tracing | undefined;
  readonly accessLog: AccessLog | undefined;
}

export class Observation {
  /** `undefined` without metrics and traces. */
  readonly sessions: SessionObserver | undefined;
  readonly #config: Config;
  readonly #log: Log;
  readonly #observers: Observers;
  #port: MetricsPort | undefined;

  constructor({ config, log }: ObservationParts, observers: Observers) {
    this.#config = config;
    this.#log = log;
    this.#observers = observers;
    this.sessions = createSessionObserver(observers.metrics, observers.tracing);
  }

  /** Measures the starts of instances, if enabled. */
  placement(placement: Placement): Placement {
    return this.sessions === undefined ? placement : observedPlacement(placement, this.sessions);
  }

  follow(server: Server): void {
    this.#observers.tracing?.follow(server);
  }

  /** Adds hooks to the routes, and `/metrics` when it has a token. */
  join(app: FastifyInstance, countRefused: (request: IncomingMessage) => void): void {
    if (Object.values(this.#observers).every((observer) => observer === undefined)) return;
    app.addHook("onRequest", (request, _reply, done) => {
      noteRoute(request.raw, request.routeOptions.url);
      done();
    });
    const { metrics_port, metrics_token } = this.#config;
    const { metrics } = this.#observers;
    if (metrics === undefined || metrics_port !== undefined || metrics_token === undefined) return;
    app.get("/metrics", { exposeHeadRoute: false }, async (request, reply) => {
      const { answerMetrics, hasToken } = await import("./metrics-port.ts");
      if (!hasToken(request.raw, metrics_token)) {
        countRefused(request.raw);
        throw new ServiceError(
          401,
          "unauthorized",
          "Metrics require the metrics_token as a bearer token. API keys are not accepted.",
        );
      }
      reply.hijack();
      await answerMetrics(metrics, reply.raw, this.#log);
    });
  }

  requestEnded(request: IncomingMessage, response: ServerResponse, durationMs: number): void {
    const { accessLog, metrics, tracing } = this.#observers;
    metrics?.requestEnded(request, response, durationMs);
    tracing?.requestEnded(request, response);
    accessLog?.requestEnded(request, response, durationMs);
  }

  /** One statement may end many sessions. */
  sessionsEnded(reason: string, count: number): void {
    this.#observers.metrics?.sessionsEnded(reason, count);
  }

  refused(why: string): void {
    this.#observers.metrics?.refused(why);
  }

  /** The use of sessions that this server charged. */
  usageCharged(charges: readonly Charge[]): void {
    this.#observers.metrics?.usageCharged(charges);
  }

  /** Adds a metric that is read when the metrics are. */
  gauge(name: string, help: string, read: () => number): void {
    this.#observers.metrics?.gauge(name, help, read);
  }

  reopen(): void {
    this.#observers.accessLog?.reopen();
  }

  /** Opens the metrics port. @returns its URL; `undefined` without that port. @throws {StartError} */
  async listen(): Promise<string | undefined> {
    const { metrics_host: host, metrics_port: port, metrics_token: token } = this.#config;
    const { metrics } = this.#observers;
    if (metrics === undefined || port === undefined) return undefined;
    const { openMetricsPort } = await import("./metrics-port.ts");
    this.#port = await openMetricsPort({ host, port, token }, metrics, this.#log);
    return this.#port.url;
  }

  async close(): Promise<void> {
    await this.#port?.close();
    await this.#observers.tracing?.close();
    await this.#observers.accessLog?.close();
  }
}
