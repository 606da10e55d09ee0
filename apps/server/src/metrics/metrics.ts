import type { Database } from "@shoal/database";
import type { EgressTraffic } from "@shoal/placement";
import { endedReasons } from "@shoal/schemas";
import { sql } from "kysely";
import type { IncomingMessage, ServerResponse } from "node:http";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { operationOf } from "../observation/request-facts.ts";
import type { ExportTotals } from "../telemetry-export/exports.ts";
import { version } from "../version.ts";

/** What the service counts, as text that Prometheus reads. No label takes a value that a client chooses. */
export interface Metrics {
  requestEnded(request: IncomingMessage, response: ServerResponse, durationMs: number): void;
  /** A session got its instance, or did not. */
  instanceStarted(durationMs: number, isStarted: boolean): void;
  sessionsEnded(reason: string, count?: number): void;
  /** A request was refused because the server has too much to do. */
  refused(why: string): void;
  /** @throws when the database does not answer. */
  text(): Promise<string>;
  readonly contentType: string;
}

export interface MetricsParts {
  readonly database: Database;
  readonly serverId: string;
  readonly traffic: () => EgressTraffic;
  /** Requests that are being answered, and event streams among them. */
  readonly requests: () => { readonly open: number; readonly streams: number };
  readonly sockets: () => number;
  readonly telemetryExports: () => ExportTotals | undefined;
}

/** Seconds; a request is some milliseconds, one that starts a browser or waits for a pool some seconds. */
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const createBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30];
const endings: ReadonlySet<string> = new Set(endedReasons);

interface SessionCounts {
  readonly state: "running" | "pool_starting" | "pool_warm" | "pool_leased";
  readonly count: number;
}

export function createMetrics({ database, serverId, traffic, requests, sockets, telemetryExports }: MetricsParts): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({ name: "shoal_build_info", help: "1; the version of the service is its label.", labelNames: ["version"], registers }).set(
    { version },
    1,
  );

  const requestSeconds = new Histogram({
    name: "shoal_http_request_duration_seconds",
    help: "Requests by operation and class of status, from their arrival to the end of the answer. Event streams are not among them.",
    labelNames: ["operation", "status_class"],
    buckets: requestBuckets,
    registers,
  });
  const requestsTotal = new Counter({
    name: "shoal_http_requests_total",
    help: "Requests by operation and status; 499: the client went away before there was an answer.",
    labelNames: ["operation", "status"],
    registers,
  });
  const createSeconds = new Histogram({
    name: "shoal_session_create_seconds",
    help: "Successful calls of browsers.create.",
    buckets: createBuckets,
    registers,
  });
  const startSeconds = new Histogram({
    name: "shoal_instance_start_seconds",
    help: "Until a session, one of a pool too, had its instance; a warm one takes milliseconds.",
    labelNames: ["outcome"],
    buckets: createBuckets,
    registers,
  });
  const ended = new Counter({
    name: "shoal_sessions_ended_total",
    help: "Sessions of this server that ended, by reason.",
    labelNames: ["reason"],
    registers,
  });
  const refusals = new Counter({
    name: "shoal_overload_refusals_total",
    help: "Requests refused because the server had too much to do.",
    labelNames: ["reason"],
    registers,
  });

  const sessions = new Gauge({
    name: "shoal_sessions",
    help: "Sessions of this server by state; those of pools apart.",
    labelNames: ["state"],
    registers,
  });
  const pools = new Gauge({ name: "shoal_pools", help: "Browser pools of the installation.", registers });
  const poolSize = new Gauge({ name: "shoal_pool_browsers_wanted", help: "Sizes of all pools of the installation together.", registers });
  const poolWaiters = new Gauge({ name: "shoal_pool_waiters", help: "Callers that wait at this server for a browser of a pool.", registers });
  new Gauge({
    name: "shoal_http_requests_in_flight",
    help: "Requests that are being answered, event streams aside.",
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
  const egress = new Counter({
    name: "shoal_egress_bytes_total",
    help: "Bytes that pages sent to and received from the network.",
    labelNames: ["direction"],
    registers,
  });
  new Gauge({
    name: "shoal_egress_connections",
    help: "Open connections of sessions to the network.",
    registers,
    collect() {
      this.set(traffic().connections);
    },
  });
  const egressEnded = new Counter({
    name: "shoal_egress_connections_ended_total",
    help: "Connections of sessions to the network that were refused or closed, by the limit that was reached: idle, session, project or server.",
    labelNames: ["limit"],
    registers,
  });
  const exported = new Counter({
    name: "shoal_telemetry_export_events_total",
    help: "Events of sessions by what became of them on their way to a destination of telemetry.",
    labelNames: ["outcome"],
    registers,
  });
  const exportRetries = new Counter({
    name: "shoal_telemetry_export_retries_total",
    help: "Requests to destinations of telemetry that had to be repeated.",
    registers,
  });
  new Gauge({
    name: "shoal_telemetry_exports",
    help: "Sessions whose telemetry is being sent to a destination.",
    registers,
    collect() {
      this.set(telemetryExports()?.open ?? 0);
    },
  });
  const connections = new Gauge({
    name: "shoal_database_connections",
    help: "Connections to the database by state, and queries that wait for one.",
    labelNames: ["state"],
    registers,
  });

  let last: EgressTraffic = { sentBytes: 0, receivedBytes: 0, connections: 0, ended: { idle: 0, session: 0, project: 0, server: 0 } };
  let lastExports: Omit<ExportTotals, "open"> = { sent: 0, rejected: 0, dropped: 0, retries: 0 };

  async function look(): Promise<void> {
    const now = traffic();
    egress.inc({ direction: "sent" }, now.sentBytes - last.sentBytes);
    egress.inc({ direction: "received" }, now.receivedBytes - last.receivedBytes);
    for (const limit of ["idle", "session", "project", "server"] as const) egressEnded.inc({ limit }, now.ended[limit] - last.ended[limit]);
    last = now;
    const exports = telemetryExports() ?? lastExports;
    for (const outcome of ["sent", "rejected", "dropped"] as const) exported.inc({ outcome }, exports[outcome] - lastExports[outcome]);
    exportRetries.inc(exports.retries - lastExports.retries);
    lastExports = exports;
    const { open, idle, waiting } = database.connections();
    connections.set({ state: "busy" }, open - idle);
    connections.set({ state: "idle" }, idle);
    connections.set({ state: "waiting" }, waiting);
    const [counts, wanted, waiters] = await Promise.all([
      sql<SessionCounts>`
        select coalesce('pool_' || pool_state, 'running') as state, count(*)::int as count from sessions
        where server_id = ${serverId} and ended_at is null group by 1`.execute(database.query),
      sql<{ pools: number; browsers: number }>`select count(*)::int as pools, coalesce(sum(size), 0)::int as browsers from browser_pools`.execute(
        database.query,
      ),
      sql<{ count: number }>`select count(*)::int as count from browser_pool_waiters where server_id = ${serverId}`.execute(database.query),
    ]);
    sessions.reset();
    for (const state of ["running", "pool_starting", "pool_warm", "pool_leased"] as const)
      sessions.set({ state }, counts.rows.find((row) => row.state === state)?.count ?? 0);
    pools.set(wanted.rows[0]?.pools ?? 0);
    poolSize.set(wanted.rows[0]?.browsers ?? 0);
    poolWaiters.set(waiters.rows[0]?.count ?? 0);
  }

  return {
    contentType: registry.contentType,
    requestEnded(request, response, durationMs) {
      const operation = operationOf(request);
      const status = response.headersSent ? response.statusCode : 499;
      requestsTotal.inc({ operation, status: String(status) });
      if (String(response.getHeader("content-type")).startsWith("text/event-stream")) return;
      requestSeconds.observe({ operation, status_class: `${String(Math.trunc(status / 100))}xx` }, durationMs / 1000);
      if (operation === "browsers.create" && status < 300) createSeconds.observe(durationMs / 1000);
    },
    instanceStarted(durationMs, isStarted) {
      startSeconds.observe({ outcome: isStarted ? "started" : "failed" }, durationMs / 1000);
    },
    sessionsEnded(reason, count = 1) {
      ended.inc({ reason: endings.has(reason) ? reason : "other" }, count);
    },
    refused(why) {
      refusals.inc({ reason: why });
    },
    async text() {
      await look();
      return registry.metrics();
    },
  };
}
