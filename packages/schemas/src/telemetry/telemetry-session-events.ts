import * as z from "zod/mini";
import { openEnum } from "../base/schema.ts";
import { telemetryEvent } from "./telemetry-parts.ts";

/** A screenshot of the page. */
export interface MonitorScreenshotEvent extends z.output<typeof MonitorScreenshotEvent> {}
export const MonitorScreenshotEvent = telemetryEvent("monitor_screenshot", "screenshot", () => ({
  /** The picture, PNG in base64. */
  png: z.optional(z.string()),
}));

/** The watch over the browser was lost; events are missing until `monitor_reconnected`. */
export interface MonitorDisconnectedEvent extends z.output<typeof MonitorDisconnectedEvent> {}
export const MonitorDisconnectedEvent = telemetryEvent("monitor_disconnected", "monitor", () => ({
  /** Why. */
  reason: z.optional(openEnum("chrome_restarted")),
}));

/** The watch over the browser is back. */
export interface MonitorReconnectedEvent extends z.output<typeof MonitorReconnectedEvent> {}
export const MonitorReconnectedEvent = telemetryEvent("monitor_reconnected", "monitor", () => ({
  /** Milliseconds without it. */
  reconnect_duration_ms: z.optional(z.int()),
}));

/** The watch over the browser did not come back; no more of its events follow. */
export interface MonitorReconnectFailedEvent extends z.output<typeof MonitorReconnectFailedEvent> {}
export const MonitorReconnectFailedEvent = telemetryEvent("monitor_reconnect_failed", "monitor", () => ({
  /** Why. */
  reason: z.optional(openEnum("reconnect_exhausted")),
}));

/** The service could not start to monitor the browser. */
export interface MonitorInitFailedEvent extends z.output<typeof MonitorInitFailedEvent> {}
export const MonitorInitFailedEvent = telemetryEvent("monitor_init_failed", "monitor", () => ({
  /** The CDP method that failed: `Target.setAutoAttach`. */
  step: z.optional(z.string()),
}));

const callFields = () => ({
  /** As `X-Request-Id` of the answer. */
  request_id: z.string(),
  /** The operation's name. */
  operation_id: z.string(),
  /** HTTP status of the answer. */
  status: z.int(),
  /** Milliseconds that it took. */
  duration_ms: z.number(),
});

/** An operation that acts on the browser was answered. */
export interface ApiCallEvent extends z.output<typeof ApiCallEvent> {}
export const ApiCallEvent = telemetryEvent("api_call", "control", callFields);

/** An operation that manages the session was answered: files, processes, recordings, downloads, logs, extensions. */
export interface PlatformApiCallEvent extends z.output<typeof PlatformApiCallEvent> {}
export const PlatformApiCallEvent = telemetryEvent("platform_api_call", "platform", callFields);

/** A CDP client connected. */
export interface CdpConnectEvent extends z.output<typeof CdpConnectEvent> {}
export const CdpConnectEvent = telemetryEvent("cdp_connect", "connection", () => ({
  /** Names the connection in `cdp_command` and `cdp_disconnect`. */
  connection_id: z.optional(z.string()),
}));

/** A CDP client left. */
export interface CdpDisconnectEvent extends z.output<typeof CdpDisconnectEvent> {}
export const CdpDisconnectEvent = telemetryEvent("cdp_disconnect", "connection", () => ({
  /** As in `cdp_connect`. */
  connection_id: z.optional(z.string()),
  /** Commands of at least 256 KiB, which pass unread, so no `cdp_command` reports them. */
  telemetry_dropped: z.optional(z.int()),
  /** Commands that `excluded_methods` kept out of the telemetry. */
  telemetry_excluded: z.optional(z.int()),
  /** Milliseconds that it was connected. */
  duration_ms: z.number(),
  /** Messages in both directions. */
  message_count: z.int(),
  /** `client_close`: it left. `upstream_changed`: Chromium was started again. `upstream_error`: the connection to Chromium failed. `context_cancelled`: the service stopped. */
  reason: openEnum("client_close", "upstream_changed", "upstream_error", "context_cancelled"),
}));

/** A viewer opened the live view. */
export interface LiveViewConnectEvent extends z.output<typeof LiveViewConnectEvent> {}
export const LiveViewConnectEvent = telemetryEvent("live_view_connect", "connection", () => ({
  /** Names the viewer, over lost connections too. */
  session_id: z.string(),
  /** Name of the person, if the link has one. */
  label: z.optional(z.string()),
}));

/** A viewer of the live view left. */
export interface LiveViewDisconnectEvent extends z.output<typeof LiveViewDisconnectEvent> {}
export const LiveViewDisconnectEvent = telemetryEvent("live_view_disconnect", "connection", () => ({
  /** The viewer, as `live_view_connect` named it. */
  session_id: z.string(),
  /** Milliseconds that it watched. */
  duration_ms: z.number(),
}));

/** A handoff to a person began, was taken, or ended. */
export interface HandoffEvent extends z.output<typeof HandoffEvent> {}
export const HandoffEvent = telemetryEvent("handoff", "connection", () => ({
  /** Id of the handoff. */
  handoff_id: z.string(),
  /** As in `browsers.handoff.get`. */
  status: openEnum("requested", "taken", "released", "expired", "canceled"),
  /** Name of the person, if the handoff has one. */
  label: z.optional(z.string()),
}));

/** The session is unused, and is frozen now. */
export interface SessionSleepEvent extends z.output<typeof SessionSleepEvent> {}
export const SessionSleepEvent = telemetryEvent("session_sleep", "system", () => ({
  /** Milliseconds since its last use. */
  idle_ms: z.int(),
}));

/** A sleeping session is used again. */
export interface SessionWakeEvent extends z.output<typeof SessionWakeEvent> {}
export const SessionWakeEvent = telemetryEvent("session_wake", "system", () => ({
  /** Milliseconds that it slept. */
  asleep_ms: z.int(),
  /** Milliseconds from the use that woke it until it ran again. */
  wake_ms: z.int(),
}));

/** The state of the session was read for its forks. */
export interface SessionForkEvent extends z.output<typeof SessionForkEvent> {}
export const SessionForkEvent = telemetryEvent("session_fork", "system", () => ({
  /** As in `browsers.fork`. */
  mode: openEnum("exact", "restored"),
  /** Milliseconds in which the session was paused. */
  paused_ms: z.int(),
}));

/** A captcha solver has ended its work. */
export interface CaptchaSolveResultEvent extends z.output<typeof CaptchaSolveResultEvent> {}
export const CaptchaSolveResultEvent = telemetryEvent("captcha_solve_result", "captcha", () => ({
  /** The family of captcha. */
  captcha_type: openEnum("hcaptcha", "recaptcha_v2", "recaptcha_v3", "turnstile", "geetest", "other"),
  /** How it ended; `abandoned` when the page went elsewhere. */
  status: openEnum("success", "failure", "timeout", "abandoned"),
  /** Milliseconds that it took. */
  duration_ms: z.number(),
  /** The solver's own name for the task. */
  task_id: z.optional(z.string()),
  /** Host of the page. */
  website_host: z.optional(z.string()),
  /** Path of the page, without its query. */
  website_path: z.optional(z.string()),
  /** The solver's code; absent on success. */
  error_code: z.optional(z.string()),
}));

/** The kernel killed a process because memory ran out. */
export interface SystemOomKillEvent extends z.output<typeof SystemOomKillEvent> {}
export const SystemOomKillEvent = telemetryEvent("system_oom_kill", "system", () => ({
  /** Name of the process, at most 15 characters. */
  process_name: z.string(),
  /** Its number. */
  pid: z.int(),
  /** KiB of memory that it held. */
  rss_kb: z.int(),
  /** Name of the process that requested the memory. */
  trigger_process_name: z.optional(z.string()),
  /** Number of that process. */
  trigger_pid: z.optional(z.int()),
  /** The limit that was reached; `none` is the whole machine. */
  constraint: z.optional(openEnum("none", "memcg", "cpuset", "memory_policy")),
  /** KiB of memory in all. */
  mem_total_kb: z.optional(z.int()),
  /** KiB of memory that were free. */
  mem_free_kb: z.optional(z.int()),
  /** Up to five processes that held the most. */
  top_tasks: z.optional(
    z.array(
      z.object({
        /** Number of the process. */
        pid: z.int(),
        /** Its name, at most 15 characters. */
        name: z.string(),
        /** KiB of memory that it held. */
        rss_kb: z.int(),
      }),
    ),
  ),
}));

/** A process of the session, or the browser itself, ended unexpectedly. */
export interface ServiceCrashedEvent extends z.output<typeof ServiceCrashedEvent> {}
export const ServiceCrashedEvent = telemetryEvent("service_crashed", "system", () => ({
  /** The process: `chromium`. */
  service_name: z.string(),
  /** Its number; absent with `gave_up`. */
  pid: z.optional(z.int()),
  /** When: while it started, while it ran, or after too many starts. */
  phase: openEnum("startup", "running", "gave_up"),
}));
