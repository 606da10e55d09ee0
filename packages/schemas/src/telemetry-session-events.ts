import * as z from "zod/mini";
import { openEnum, type Schema } from "./schema.ts";
import { telemetryEvent } from "./telemetry-parts.ts";

export const MonitorScreenshotEventShape = telemetryEvent("monitor_screenshot", "screenshot", () => ({
  /** The picture, PNG in base64. */
  png: z.optional(z.string()),
}));
/** What the page looked like. */
export interface MonitorScreenshotEvent extends z.output<typeof MonitorScreenshotEventShape> {}
export const MonitorScreenshotEvent: Schema<MonitorScreenshotEvent> = MonitorScreenshotEventShape;

export const MonitorDisconnectedEventShape = telemetryEvent("monitor_disconnected", "monitor", () => ({
  /** Why. */
  reason: z.optional(openEnum("chrome_restarted")),
}));
/** The watch over the browser was lost; events are missing until `monitor_reconnected`. */
export interface MonitorDisconnectedEvent extends z.output<typeof MonitorDisconnectedEventShape> {}
export const MonitorDisconnectedEvent: Schema<MonitorDisconnectedEvent> = MonitorDisconnectedEventShape;

export const MonitorReconnectedEventShape = telemetryEvent("monitor_reconnected", "monitor", () => ({
  /** Milliseconds without it. */
  reconnect_duration_ms: z.optional(z.int()),
}));
/** The watch over the browser is back. */
export interface MonitorReconnectedEvent extends z.output<typeof MonitorReconnectedEventShape> {}
export const MonitorReconnectedEvent: Schema<MonitorReconnectedEvent> = MonitorReconnectedEventShape;

export const MonitorReconnectFailedEventShape = telemetryEvent("monitor_reconnect_failed", "monitor", () => ({
  /** Why. */
  reason: z.optional(openEnum("reconnect_exhausted")),
}));
/** The watch over the browser did not come back; no more of its events follow. */
export interface MonitorReconnectFailedEvent extends z.output<typeof MonitorReconnectFailedEventShape> {}
export const MonitorReconnectFailedEvent: Schema<MonitorReconnectFailedEvent> = MonitorReconnectFailedEventShape;

export const MonitorInitFailedEventShape = telemetryEvent("monitor_init_failed", "monitor", () => ({
  /** The CDP method that failed: `Target.setAutoAttach`. */
  step: z.optional(z.string()),
}));
/** The watch over the browser could not begin. */
export interface MonitorInitFailedEvent extends z.output<typeof MonitorInitFailedEventShape> {}
export const MonitorInitFailedEvent: Schema<MonitorInitFailedEvent> = MonitorInitFailedEventShape;

export const ApiCallEventShape = telemetryEvent("api_call", "control", () => ({
  /** As `X-Request-Id` of the answer. */
  request_id: z.string(),
  /** The operation's name. */
  operation_id: z.string(),
  /** HTTP status of the answer. */
  status: z.int(),
  /** Milliseconds that it took. */
  duration_ms: z.number(),
}));
/** An operation on the session was answered. */
export interface ApiCallEvent extends z.output<typeof ApiCallEventShape> {}
export const ApiCallEvent: Schema<ApiCallEvent> = ApiCallEventShape;

export const CdpConnectEventShape = telemetryEvent("cdp_connect", "connection", () => ({}));
/** A CDP client connected. */
export interface CdpConnectEvent extends z.output<typeof CdpConnectEventShape> {}
export const CdpConnectEvent: Schema<CdpConnectEvent> = CdpConnectEventShape;

export const CdpDisconnectEventShape = telemetryEvent("cdp_disconnect", "connection", () => ({
  /** Milliseconds that it was connected. */
  duration_ms: z.number(),
  /** Messages in both directions. */
  message_count: z.int(),
  /** `client_close`: it left. `upstream_changed`: Chromium was started again. `upstream_error`: the connection to Chromium failed. `context_cancelled`: the service stopped. */
  reason: openEnum("client_close", "upstream_changed", "upstream_error", "context_cancelled"),
}));
/** A CDP client left. */
export interface CdpDisconnectEvent extends z.output<typeof CdpDisconnectEventShape> {}
export const CdpDisconnectEvent: Schema<CdpDisconnectEvent> = CdpDisconnectEventShape;

export const LiveViewConnectEventShape = telemetryEvent("live_view_connect", "connection", () => ({
  /** Names the viewer, over lost connections too. */
  session_id: z.string(),
}));
/** Somebody began to watch the live view. */
export interface LiveViewConnectEvent extends z.output<typeof LiveViewConnectEventShape> {}
export const LiveViewConnectEvent: Schema<LiveViewConnectEvent> = LiveViewConnectEventShape;

export const LiveViewDisconnectEventShape = telemetryEvent("live_view_disconnect", "connection", () => ({
  /** The viewer, as `live_view_connect` named it. */
  session_id: z.string(),
  /** Milliseconds that it watched. */
  duration_ms: z.number(),
}));
/** A viewer of the live view left. */
export interface LiveViewDisconnectEvent extends z.output<typeof LiveViewDisconnectEventShape> {}
export const LiveViewDisconnectEvent: Schema<LiveViewDisconnectEvent> = LiveViewDisconnectEventShape;

export const CaptchaSolveResultEventShape = telemetryEvent("captcha_solve_result", "captcha", () => ({
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
/** A captcha solver has ended its work. */
export interface CaptchaSolveResultEvent extends z.output<typeof CaptchaSolveResultEventShape> {}
export const CaptchaSolveResultEvent: Schema<CaptchaSolveResultEvent> = CaptchaSolveResultEventShape;

export const SystemOomKillEventShape = telemetryEvent("system_oom_kill", "system", () => ({
  /** Name of the process, at most 15 characters. */
  process_name: z.string(),
  /** Its number. */
  pid: z.int(),
  /** KiB of memory that it held. */
  rss_kb: z.int(),
  /** Name of the process that asked for the memory. */
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
/** The kernel killed a process because memory ran out. */
export interface SystemOomKillEvent extends z.output<typeof SystemOomKillEventShape> {}
export const SystemOomKillEvent: Schema<SystemOomKillEvent> = SystemOomKillEventShape;

export const ServiceCrashedEventShape = telemetryEvent("service_crashed", "system", () => ({
  /** The process: `chromium`. */
  service_name: z.string(),
  /** Its number; absent with `gave_up`. */
  pid: z.optional(z.int()),
  /** When: while it started, while it ran, or after too many starts. */
  phase: openEnum("startup", "running", "gave_up"),
}));
/** A process beside the browser, or the browser itself, ended without being told to. */
export interface ServiceCrashedEvent extends z.output<typeof ServiceCrashedEventShape> {}
export const ServiceCrashedEvent: Schema<ServiceCrashedEvent> = ServiceCrashedEventShape;
