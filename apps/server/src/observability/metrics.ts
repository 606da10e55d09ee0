import type { Database } from "@shoal/database";
import type { EgressTraffic, SleepChange, WarmInstances } from "@shoal/placement";
import { endedReasons } from "@shoal/schemas";
import { sql } from "kysely";
import type { IncomingMessage, ServerResponse } from "node:http";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { operationOf } from "../http/request-facts.ts";
import type { ExportTotals } from "../sessions/telemetry/export/exports.ts";
import type { Charge } from "../usage/usage-charges.ts";
import { UsageMetrics } from "./usage-metrics.ts";
import { version } from "../config/version.ts";

export interface MetricsParts {
  readonly database: Database;
  readonly serverId: string;
  readonly traffic: () => EgressTraffic;
  readonly warm: () => WarmInstances;
  /** In flight; event streams are also counted separately. */
  readonly requests: () => { readonly open: number; readonly streams: number };
  readonly sockets: () => number;
  readonly telemetryExports: () => ExportTotals | undefined;
  /** Projects with their own label. */
  readonly maxProjects: number;
}

/** In seconds. Most requests take milliseconds; starting a browser or waiting for a pool takes seconds. */
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const createBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30];
const wakeBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const endings: ReadonlySet<string> = new Set(endedReasons);

interface SessionCounts {
  readonly state: "running" | "pool_starting" | "pool_warm" | "pool_leased";
  readonly count: number;
}

/** No label contains a value chosen by a client. Labels with ids of projects are limited in number. */
export class Metrics {
  readonly #database: Database;
  readonly #serverId: string;
  readonly #traffic: () => EgressTraffic;
  readonly #warm: () => WarmInstances;
  readonly #telemetryExports: () => ExportTotals | undefined;
  readonly #registry = new Registry();
  readonly contentType = this.#registry.contentType;
  readonly #requestSeconds = new Histogram({
    name: "shoal_http_request_duration_seconds",
    help: "Requests by operation and class of status, from arrival to the end of the answer, without event streams.",
    labelNames: ["operation", "status_class"],
    buckets: requestBuckets,
    registers: [this.#registry],
  });
  readonly #requestsTotal = new Counter({
    name: "shoal_http_requests_total",
    help: "Requests by operation and status; 499 = the client disconnected before the answer.",
    labelNames: ["operation", "status"],
    registers: [this.#registry],
  });
  readonly #createSeconds = new Histogram({
    name: "shoal_session_create_seconds",
    help: "Duration of successful browsers.create calls.",
    buckets: createBuckets,
    registers: [this.#registry],
  });
  readonly #startSeconds = new Histogram({
    name: "shoal_instance_start_seconds",
    help: "Time until a session or pool browser had its instance; a warm instance takes milliseconds.",
    labelNames: ["outcome"],
    buckets: createBuckets,
    registers: [this.#registry],
  });
  readonly #asleep = new Gauge({
    name: "shoal_sessions_asleep",
    help: "Frozen sessions of this server (sleep_after_seconds).",
    registers: [this.#registry],
  });
  readonly #wakeSeconds = new Histogram({
    name: "shoal_session_wake_seconds",
    help: "Time from the first byte for a sleeping session until it answers again.",
    buckets: wakeBuckets,
    registers: [this.#registry],
  });
  readonly #ended = new Counter({
    name: "shoal_sessions_ended_total",
    help: "Ended sessions of this server, by reason.",
    labelNames: ["reason"],
    registers: [this.#registry],
  });
  readonly #refusals = new Counter({
    name: "shoal_overload_refusals_total",
    help: "Requests rejected because of overload.",
    labelNames: ["reason"],
    registers: [this.#registry],
  });
  readonly #sessions = new Gauge({
    name: "shoal_sessions",
    help: "Sessions of this server by state; pool browsers are separate states.",
    labelNames: ["state"],
    registers: [this.#registry],
  });
  readonly #warmBrowsers = new Gauge({
    name: "shoal_warm_browsers",
    help: "Browsers that wait for sessions: the wanted number (target), those ready, and those starting, also for waiting calls.",
    labelNames: ["state"],
    registers: [this.#registry],
  });
  readonly #warmTakes = new Counter({
    name: "shoal_warm_takes_total",
    help: "Starts of sessions by outcome: hit = a browser was ready, miss = one had to start.",
    labelNames: ["outcome"],
    registers: [this.#registry],
  });
  readonly #pools = new Gauge({
    name: "shoal_pools",
    help: "Browser pools of the installation.",
    registers: [this.#registry],
  });
  readonly #poolSize = new Gauge({
    name: "shoal_pool_browsers_wanted",
    help: "Total size of all pools of the installation.",
    registers: [this.#registry],
  });
  readonly #poolWaiters = new Gauge({
    name: "shoal_pool_waiters",
    help: "Requests of this server waiting for a pool browser.",
    registers: [this.#registry],
  });
  readonly #egress = new Counter({
    name: "shoal_egress_bytes_total",
    help: "Bytes that pages sent to and received from the network.",
    labelNames: ["direction"],
    registers: [this.#registry],
  });
  readonly #egressEnded = new Counter({
    name: "shoal_egress_connections_ended_total",
    help: "Rejected or closed network connections of sessions, by exceeded limit: idle, session, project or server.",
    labelNames: ["limit"],
    registers: [this.#registry],
  });
  readonly #exported = new Counter({
    name: "shoal_telemetry_export_events_total",
    help: "Telemetry events of sessions by export outcome.",
    labelNames: ["outcome"],
    registers: [this.#registry],
  });
  readonly #exportRetries = new Counter({
    name: "shoal_telemetry_export_retries_total",
    help: "Retried requests to telemetry destinations.",
    registers: [this.#registry],
  });
  readonly #connections = new Gauge({
    name: "shoal_database_connections",
    help: "Database connections by state, and queries waiting for a connection.",
    labelNames: ["state"],
    registers: [this.#registry],
  });
  readonly #usage: UsageMetrics;
  #last: EgressTraffic = {
    sentBytes: 0,
    receivedBytes: 0,
    connections: 0,
    ended: { idle: 0, session: 0, project: 0, server: 0 },
  };
  #lastTakes = { hits: 0, misses: 0 };
  #lastExports: Omit<ExportTotals, "open"> = { sent: 0, rejected: 0, dropped: 0, retries: 0 };

  constructor({ database, serverId, traffic, warm, requests, sockets, telemetryExports, maxProjects }: MetricsParts) {
    this.#usage = new UsageMetrics(this.#registry, maxProjects);
    this.#database = database;
    this.#serverId = serverId;
    this.#traffic = traffic;
    this.#warm = warm;
    this.#telemetryExports = telemetryExports;
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    new Gauge({
      name: "shoal_build_info",
      help: "Always 1; the label is the version of the service.",
      labelNames: ["version"],
      registers,
    }).set({ version }, 1);
    this.#watch({ requests, sockets, traffic, telemetryExports });
  }

  #watch({
    requests,
    sockets,
    telemetryExports,
    traffic,
  }: Pick<MetricsParts, "requests" | "sockets" | "traffic" | "telemetryExports">): void {
    const registers = [this.#registry];
    new Gauge({
      name: "shoal_http_requests_in_flight",
      help: "Requests in flight, without event streams.",
      registers,
      collect() {
        const { open, streams } = requests();
        this.set(open - streams);
      },
    });
    new Gauge({
      name: "shoal_event_streams",
      help: "Open event streams.",
      registers,
      collect() {
        this.set(requests().streams);
      },
    });
    new Gauge({
      name: "shoal_websockets",
      help: "Open WebSocket connections to sessions.",
      registers,
      collect() {
        this.set(sockets());
      },
    });
    new Gauge({
      name: "shoal_egress_connections",
      help: "Open network connections of sessions.",
      registers,
      collect() {
        this.set(traffic().connections);
      },
    });
    new Gauge({
      name: "shoal_telemetry_exports",
      help: "Sessions with a telemetry export.",
      registers,
      collect() {
        this.set(telemetryExports()?.open ?? 0);
      },
    });
  }

  requestEnded(request: IncomingMessage, response: ServerResponse, durationMs: number): void {
    const operation = operationOf(request);
    const status = response.headersSent ? response.statusCode : 499;
    this.#requestsTotal.inc({ operation, status: String(status) });
    if (String(response.getHeader("content-type")).startsWith("text/event-stream")) return;
    this.#requestSeconds.observe(
      { operation, status_class: `${String(Math.trunc(status / 100))}xx` },
      durationMs / 1000,
    );
    if (operation === "browsers.create" && status < 300) this.#createSeconds.observe(durationMs / 1000);
  }

  instanceStarted(durationMs: number, isStarted: boolean): void {
    this.#startSeconds.observe({ outcome: isStarted ? "started" : "failed" }, durationMs / 1000);
  }

  sleepChanged(change: SleepChange): void {
    if (change.type === "answered") this.#wakeSeconds.observe(change.wakeMs / 1000);
    else if (change.type === "asleep") this.#asleep.inc();
    else this.#asleep.dec();
  }

  sessionsEnded(reason: string, count = 1): void {
    this.#ended.inc({ reason: endings.has(reason) ? reason : "other" }, count);
  }

  /** Because of overload. */
  refused(why: string): void {
    this.#refusals.inc({ reason: why });
  }

  usageCharged(charges: readonly Charge[]): void {
    this.#usage.charged(charges);
  }

  /** Adds a gauge that is read when the metrics are. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** @throws when the database is unavailable. */
  async text(): Promise<string> {
    await this.#look();
    return this.#registry.metrics();
  }

  async #look(): Promise<void> {
    const now = this.#traffic();
    this.#egress.inc({ direction: "sent" }, now.sentBytes - this.#last.sentBytes);
    this.#egress.inc({ direction: "received" }, now.receivedBytes - this.#last.receivedBytes);
    for (const limit of ["idle", "session", "project", "server"] as const)
      this.#egressEnded.inc({ limit }, now.ended[limit] - this.#last.ended[limit]);
    this.#last = now;
    const exports = this.#telemetryExports() ?? this.#lastExports;
    for (const outcome of ["sent", "rejected", "dropped"] as const)
      this.#exported.inc({ outcome }, exports[outcome] - this.#lastExports[outcome]);
    this.#exportRetries.inc(exports.retries - this.#lastExports.retries);
    this.#lastExports = exports;
    this.#lookAtWarm();
    const { open, idle, waiting } = this.#database.connections();
    this.#connections.set({ state: "busy" }, open - idle);
    this.#connections.set({ state: "idle" }, idle);
    this.#connections.set({ state: "waiting" }, waiting);
    const [counts, wanted, waiters] = await Promise.all([
      sql<SessionCounts>`
        select coalesce('pool_' || pool_state, 'running') as state, count(*)::int as count from sessions
        where server_id = ${this.#serverId} and ended_at is null group by 1`.execute(this.#database.query),
      sql<{
        pools: number;
        browsers: number;
      }>`select count(*)::int as pools, coalesce(sum(size), 0)::int as browsers from browser_pools`.execute(
        this.#database.query,
      ),
      sql<{
        count: number;
      }>`select count(*)::int as count from browser_pool_waiters where server_id = ${this.#serverId}`.execute(
        this.#database.query,
      ),
    ]);
    this.#sessions.reset();
    for (const state of ["running", "pool_starting", "pool_warm", "pool_leased"] as const)
      this.#sessions.set({ state }, counts.rows.find((row) => row.state === state)?.count ?? 0);
    this.#pools.set(wanted.rows[0]?.pools ?? 0);
    this.#poolSize.set(wanted.rows[0]?.browsers ?? 0);
    this.#poolWaiters.set(waiters.rows[0]?.count ?? 0);
  }

  #lookAtWarm(): void {
    const { hits, misses, ...states } = this.#warm();
    for (const state of ["target", "ready", "starting"] as const) this.#warmBrowsers.set({ state }, states[state]);
    this.#warmTakes.inc({ outcome: "hit" }, hits - this.#lastTakes.hits);
    this.#warmTakes.inc({ outcome: "miss" }, misses - this.#lastTakes.misses);
    this.#lastTakes = { hits, misses };
  }
}
