import { defaultMaxSessions } from "./defaults.ts";
import { integer, setting } from "./setting.ts";

export const limits = {
  max_sessions: setting({
    schema: integer(1, 100_000),
    summary: "Sessions that may run on this server at once.",
    fallback: defaultMaxSessions,
    default: "by memory: one for each 256 MiB, 4 to 500",
    live: true,
  }),
  max_sessions_per_project: setting({
    schema: integer(1, 100_000),
    summary: "Concurrent sessions of a project, unless the project or the organisation has a different limit.",
    fallback: 50,
    live: true,
  }),
  max_sessions_per_organization: setting({
    schema: integer(1, 1_000_000),
    summary: "Sessions that all projects together may run at once, on every server.",
    fallback: 1000,
  }),
  max_mcp_sessions: setting({
    schema: integer(1, 100_000),
    summary:
      "MCP sessions that this server keeps at once. A key has at most a quarter of them. Clients of revision 2026-07-28 need none.",
    fallback: 1000,
  }),
  mcp_idle_timeout_seconds: setting({
    schema: integer(10, 86_400),
    summary: "Seconds without a request or an open stream after which an MCP session and its browser end.",
    fallback: 1800,
  }),
  max_invocations: setting({
    schema: integer(1, 100_000),
    summary: "Invocations of apps that may run on this server at once.",
    fallback: defaultMaxSessions,
    default: "by memory: one for each 256 MiB, 4 to 500",
    live: true,
  }),
  max_invocations_per_project: setting({
    schema: integer(0, 100_000),
    summary: "Concurrent invocations of a project, unless the project has a different limit. 0 = no limit.",
    fallback: 50,
    live: true,
  }),
  max_invocations_per_app: setting({
    schema: integer(0, 100_000),
    summary: "Concurrent invocations of an app in a project. 0 = no limit.",
    fallback: 0,
    live: true,
  }),
  max_invocations_per_organization: setting({
    schema: integer(1, 1_000_000),
    summary: "Invocations that all projects together may run at once, on every server.",
    fallback: 1000,
  }),
  min_schedule_seconds: setting({
    schema: integer(1, 86_400),
    summary: "Shortest time between two invocations of a schedule, in seconds.",
    fallback: 60,
    live: true,
  }),
  min_health_check_seconds: setting({
    schema: integer(1, 86_400),
    summary: "Shortest time between two health checks of a connection, in seconds.",
    fallback: 300,
    live: true,
  }),
  max_health_checks: setting({
    schema: integer(0, 1000),
    summary:
      "Browsers for health checks and automatic logins that this server runs at once. 0 = this server runs none.",
    fallback: 2,
    live: true,
  }),
  warm_apps: setting({
    schema: integer(0, 1000),
    summary: "Programs of recently deployed or invoked apps that this server keeps ready for the next invocation.",
    fallback: 4,
  }),
  warm_app_seconds: setting({
    schema: integer(1, 86_400),
    summary: "Seconds after which a ready program of an app ends unused.",
    fallback: 300,
  }),
  warm_app_free_mb: setting({
    schema: integer(0, 16_777_216),
    summary:
      "Ready programs of apps end, least recently used first, while less memory is available on this machine, in MiB. 0 = never.",
    fallback: 512,
  }),
  max_builds: setting({
    schema: integer(0, 1000),
    summary: "Apps that this server builds at once; more wait. 0 = this server builds none.",
    fallback: 2,
  }),
  max_requests: setting({
    schema: integer(0, 1_000_000),
    summary: "Requests that this server answers at once, event streams aside; more are refused with 503. 0 = no limit.",
    fallback: 2000,
    live: true,
  }),
  max_connections: setting({
    schema: integer(1, 1_000_000),
    summary:
      "Connections that this server takes at once; more are closed. WebSockets and event streams are among them.",
    fallback: 10_000,
  }),
  max_starting_sessions: setting({
    schema: integer(0, 100_000),
    summary:
      "Sessions that may be starting on this server at once, in turn or waiting for it; more are refused with 529. 0 = no limit.",
    fallback: 128,
    live: true,
  }),
  max_event_loop_delay_ms: setting({
    schema: integer(0, 60_000),
    summary: "Event loop delay, in milliseconds, from which new requests are refused with 503. 0 = no limit.",
    fallback: 1000,
    live: true,
  }),
  max_memory_mb: setting({
    schema: integer(0, 10_000_000),
    summary:
      "Memory of the server's own process in MiB from which on new requests are refused with 503. 0 = no limit but that of JavaScript's heap.",
    fallback: 0,
    live: true,
  }),
  request_stall_seconds: setting({
    schema: integer(1, 3600),
    summary: "How long a client may take for the head of a request, or pause within its body, 1 to 3600 seconds.",
    fallback: 30,
    live: true,
  }),
  websocket_timeout_seconds: setting({
    schema: integer(1, 86_400),
    summary:
      "How long a WebSocket client (CDP, BiDi, terminal, live view) may send nothing, not even the answer to a ping, before it is disconnected, 1 to 86,400 seconds.",
    fallback: 120,
  }),
  rate_limit_per_key: setting({
    schema: integer(0, 10_000_000),
    summary: "Requests a minute with one API key, on all servers together; as many may come at once. 0 = no limit.",
    fallback: 60_000,
    live: true,
  }),
  rate_limit_per_organization: setting({
    schema: integer(0, 10_000_000),
    summary:
      "Requests a minute with all keys together, on all servers together; as many may come at once. 0 = no limit.",
    fallback: 300_000,
    live: true,
  }),
  rate_limit_per_address: setting({
    schema: integer(0, 10_000_000),
    summary: "Tries a minute without a valid key from one address, on each server. 0 = no limit.",
    fallback: 3000,
    live: true,
  }),
  idle_timeout_seconds: setting({
    schema: integer(10, 259_200),
    summary: "Idle timeout of sessions that ask for none, 10 to 259200 seconds.",
    fallback: 60,
    live: true,
  }),
  sleep_after_seconds: setting({
    schema: integer(0, 259_200),
    summary:
      "Seconds without use after which sessions that ask for nothing else are frozen until their next use, 0 to 259200. 0 = never. Ignored where the service may not freeze processes.",
    fallback: 0,
    live: true,
  }),
  idempotency_retention_hours: setting({
    schema: integer(1, 720),
    summary: "How long the answer to an Idempotency-Key is kept, 1 to 720 hours.",
    fallback: 24,
  }),
};
