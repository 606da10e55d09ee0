import * as z from "zod/mini";
import { httpUrl, integer, optionalSetting, setting, text } from "./setting.ts";

/** Each has a folder in `dialects`. */
export const dialectNames = ["browserbase", "browserless", "cloudflare", "steel", "webdriver"] as const;

export const operation = {
  drain_seconds: setting({
    schema: integer(0, 3600),
    summary: "How long a stop waits for requests in flight, 0 to 3600 seconds.",
    fallback: 10,
    live: true,
  }),
  session_drain_seconds: setting({
    schema: integer(0, 259_200),
    summary:
      "How long a stop waits for running sessions before it ends them, 0 to 259200 seconds. Meanwhile, the server starts no sessions and serves the running ones.",
    fallback: 0,
    live: true,
  }),
  shutdown_seconds: setting({
    schema: integer(1, 3600),
    summary:
      "How long a stop then waits in all, drain_seconds included, before it cuts requests and sessions that still save, 1 to 3600 seconds.",
    fallback: 80,
    live: true,
  }),
  unknown_fields: setting({
    schema: z.enum(["ignore", "refuse"]),
    summary:
      "ignore: drop body fields and query parameters that the API does not know, and list them in the answer header X-Shoal-Ignored-Fields and in the log. refuse: answer 400 and name them.",
    fallback: "ignore",
  }),
  dialects: setting({
    schema: z.array(z.enum(dialectNames)),
    summary:
      "Other services whose clients the service answers, each below its own path: browserbase at /browserbase, browserless at /browserless, cloudflare at /cloudflare, steel at /steel, webdriver at /wd/hub and /session. See docs/guide/from-browserbase.md, from-browserless.md, from-cloudflare.md, from-steel.md and selenium.md.",
    fallback: [],
    default: "none",
  }),
  metrics_port: optionalSetting({
    schema: integer(0, 65_535),
    summary: "Port that /metrics, for Prometheus, is served on; 0 takes a free one.",
    default: "none",
  }),
  metrics_host: setting({
    schema: text,
    summary: "Address of that port. Beyond loopback only with metrics_token.",
    fallback: "127.0.0.1",
  }),
  metrics_token: optionalSetting({
    schema: text.check(z.minLength(16, "must have at least 16 characters")),
    summary: "Bearer token for the metrics, at least 16 characters. Without metrics_port, the API's port serves them.",
    default: "none",
    secret: true,
  }),
  metrics_projects: setting({
    schema: integer(0, 1000),
    summary:
      "Projects with their own label in the usage metrics, 0 to 1000: the first ones with sessions after the start. The rest share the label other.",
    fallback: 20,
  }),
  otlp_endpoint: optionalSetting({
    schema: httpUrl,
    summary:
      "OpenTelemetry collector that traces are sent to (OTLP over HTTP), without /v1/traces. The other OTEL_ variables hold too: OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER, OTEL_EXPORTER_OTLP_HEADERS.",
    default: "none, no traces",
    env: ["OTEL_EXPORTER_OTLP_ENDPOINT"],
  }),
  access_log: optionalSetting({
    kind: "path",
    schema: text,
    summary: "File that gets a JSON line for each request, or - for the standard output.",
    default: "none",
  }),
  log_level: setting({
    schema: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]),
    summary:
      "trace, debug (each request), info, warn, error, fatal or silent. In a terminal, shoal serve starts with warn.",
    fallback: "info",
    live: true,
  }),
  log_format: setting({
    schema: z.enum(["auto", "pretty", "json"]),
    summary: "pretty, json, or auto: pretty on a terminal.",
    fallback: "auto",
  }),
  ready_file: optionalSetting({
    kind: "path",
    schema: text,
    summary: 'File that gets {"base_url", "api_key", "pid"} once the service answers.',
    default: "none",
  }),
  new_admin_key: setting({
    schema: z.boolean(),
    summary: "Create another admin key at this start, if the first one is lost.",
    fallback: false,
    flagOnly: true,
  }),
  accept_audit_head: setting({
    schema: z.boolean(),
    summary:
      "Accept the present end of the audit log at this start, after the database was restored from a backup. An entry of the log records it.",
    fallback: false,
    flagOnly: true,
  }),
};
