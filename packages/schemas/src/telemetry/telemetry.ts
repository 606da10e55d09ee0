import * as z from "zod/mini";
import { Since } from "../base/events.ts";
import { checked, lazyObject, openUnion } from "../base/schema.ts";
import {
  ConsoleLogEvent,
  ConsoleErrorEvent,
  PageNavigationEvent,
  PageDomContentLoadedEvent,
  PageLoadEvent,
  PageTabOpenedEvent,
  PageCrashedEvent,
  PageLayoutShiftEvent,
  PageLcpEvent,
  PageLayoutSettledEvent,
  PageNavigationSettledEvent,
  DownloadFinishedEvent,
  PagePictureEvent,
  PageActEvent,
  InteractionClickEvent,
  InteractionKeyEvent,
  InteractionScrollSettledEvent,
} from "./telemetry-page-events.ts";
import {
  NetworkRequestEvent,
  NetworkResponseEvent,
  NetworkLoadingFailedEvent,
  NetworkIdleEvent,
  NetworkRefusedEvent,
  ProxyErrorEvent,
} from "./telemetry-network-events.ts";
import {
  MonitorScreenshotEvent,
  MonitorDisconnectedEvent,
  MonitorReconnectedEvent,
  MonitorReconnectFailedEvent,
  MonitorInitFailedEvent,
  ApiCallEvent,
  PlatformApiCallEvent,
  CdpConnectEvent,
  CdpDisconnectEvent,
  LiveViewConnectEvent,
  LiveViewDisconnectEvent,
  HandoffEvent,
  SessionForkEvent,
  SessionSleepEvent,
  SessionWakeEvent,
  CaptchaSolveResultEvent,
  SystemOomKillEvent,
  ServiceCrashedEvent,
} from "./telemetry-session-events.ts";
import { CdpCommandEvent } from "./cdp-command-event.ts";

/** An event of a session, identified by its `type`. A newer service may send unlisted types, so a `switch` needs a `default`. */
export type TelemetryEvent = z.output<typeof TelemetryEvent>;
export const TelemetryEvent = z.lazy(() =>
  openUnion("type", {
    console_log: ConsoleLogEvent,
    console_error: ConsoleErrorEvent,
    page_navigation: PageNavigationEvent,
    page_dom_content_loaded: PageDomContentLoadedEvent,
    page_load: PageLoadEvent,
    page_tab_opened: PageTabOpenedEvent,
    page_crashed: PageCrashedEvent,
    page_layout_shift: PageLayoutShiftEvent,
    page_lcp: PageLcpEvent,
    page_layout_settled: PageLayoutSettledEvent,
    page_navigation_settled: PageNavigationSettledEvent,
    download_finished: DownloadFinishedEvent,
    page_picture: PagePictureEvent,
    page_act: PageActEvent,
    interaction_click: InteractionClickEvent,
    interaction_key: InteractionKeyEvent,
    interaction_scroll_settled: InteractionScrollSettledEvent,
    network_request: NetworkRequestEvent,
    network_response: NetworkResponseEvent,
    network_loading_failed: NetworkLoadingFailedEvent,
    network_idle: NetworkIdleEvent,
    proxy_error: ProxyErrorEvent,
    network_refused: NetworkRefusedEvent,
    monitor_screenshot: MonitorScreenshotEvent,
    monitor_disconnected: MonitorDisconnectedEvent,
    monitor_reconnected: MonitorReconnectedEvent,
    monitor_reconnect_failed: MonitorReconnectFailedEvent,
    monitor_init_failed: MonitorInitFailedEvent,
    api_call: ApiCallEvent,
    platform_api_call: PlatformApiCallEvent,
    cdp_command: CdpCommandEvent,
    cdp_connect: CdpConnectEvent,
    cdp_disconnect: CdpDisconnectEvent,
    live_view_connect: LiveViewConnectEvent,
    live_view_disconnect: LiveViewDisconnectEvent,
    handoff: HandoffEvent,
    session_fork: SessionForkEvent,
    session_sleep: SessionSleepEvent,
    session_wake: SessionWakeEvent,
    captcha_solve_result: CaptchaSolveResultEvent,
    system_oom_kill: SystemOomKillEvent,
    service_crashed: ServiceCrashedEvent,
  }),
);

/** An event of a session's telemetry with its number. */
export interface TelemetryEnvelope extends z.output<typeof TelemetryEnvelope> {}
export const TelemetryEnvelope = lazyObject(() => ({
  /** Counts the session's events from 1; where numbers are missing, events were lost. */
  seq: z.int(),
  /** The event itself. */
  event: TelemetryEvent,
}));

/** Categories of telemetry that a session can capture. Each is switched on or off separately. */
export const telemetryCategories = [
  "console",
  "network",
  "page",
  "interaction",
  "control",
  "connection",
  "system",
  "screenshot",
  "captcha",
  "platform",
  "monitor",
] as const;

const eventTypes = () =>
  z.optional(
    checked(
      z.array(
        checked(z.string(), z.regex(/^[a-z][a-z0-9_]{0,63}$/, "names of event types only, such as network_response")),
      ),
      z.maxLength(100),
    ),
  );

/** Input of `browsers.telemetry.events`. */
export interface ListTelemetryEvents extends z.input<typeof ListTelemetryEvents> {}
export const ListTelemetryEvents = lazyObject(() => ({
  /** Only events of these categories; all when absent. A page may then be empty though others follow. */
  category: z.optional(z.array(z.enum(telemetryCategories))),
  /** Only events of these types, `network_response` for example; all when absent. Together with `category`, both must match. */
  type: eventTypes(),
  /** `asc`: oldest first. `desc`: newest first, one page that ends at `offset`, `until` or now; not together with `since`. */
  order: z._default(checked(z.string(), z.regex(/^(?:asc|desc)$/, "asc or desc only")), "asc"),
  /** Where the window begins: a moment (`2026-01-31T12:00:00Z`), or how long ago (`30s`, `5m`, `2h`); Default `5m`. Ignored with `offset`. */
  since: z.optional(Since),
  /** Where the window ends, that moment not included: a moment, or how long ago; now when absent. */
  until: z.optional(Since),
  /** Continues after a page: `X-Next-Offset` of that page. It counts neither items nor `seq`. */
  offset: z.optional(checked(z.int(), z.minimum(0))),
  /** Events on a page, 1 to 100. */
  limit: z._default(checked(z.int(), z.minimum(1), z.maximum(100)), 20),
}));

/** Input of `browsers.telemetry.stream`. */
export interface StreamTelemetry extends z.input<typeof StreamTelemetry> {}
export const StreamTelemetry = lazyObject(() => ({
  /** Only events of these types, `network_response` for example; all when absent. The ids of others still arrive now and then. */
  type: eventTypes(),
  /** `all` starts with the oldest retained event, every other value with new events. `Last-Event-ID` takes precedence. */
  replay: z.optional(checked(z.string(), z.maxLength(64))),
}));
