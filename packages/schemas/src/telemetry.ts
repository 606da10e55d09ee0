import * as z from "zod/mini";
import { Since } from "./events.ts";
import { checked, lazyObject, openUnion, type Schema } from "./schema.ts";
import {
  ConsoleLogEventShape,
  ConsoleErrorEventShape,
  PageNavigationEventShape,
  PageDomContentLoadedEventShape,
  PageLoadEventShape,
  PageTabOpenedEventShape,
  PageLayoutShiftEventShape,
  PageLcpEventShape,
  PageLayoutSettledEventShape,
  PageNavigationSettledEventShape,
  DownloadFinishedEventShape,
  InteractionClickEventShape,
  InteractionKeyEventShape,
  InteractionScrollSettledEventShape,
} from "./telemetry-page-events.ts";
import {
  NetworkRequestEventShape,
  NetworkResponseEventShape,
  NetworkLoadingFailedEventShape,
  NetworkIdleEventShape,
  ProxyErrorEventShape,
} from "./telemetry-network-events.ts";
import {
  MonitorScreenshotEventShape,
  MonitorDisconnectedEventShape,
  MonitorReconnectedEventShape,
  MonitorReconnectFailedEventShape,
  MonitorInitFailedEventShape,
  ApiCallEventShape,
  CdpConnectEventShape,
  CdpDisconnectEventShape,
  LiveViewConnectEventShape,
  LiveViewDisconnectEventShape,
  CaptchaSolveResultEventShape,
  SystemOomKillEventShape,
  ServiceCrashedEventShape,
} from "./telemetry-session-events.ts";

const TelemetryEventShape = z.lazy(() =>
  openUnion("type", {
    console_log: ConsoleLogEventShape,
    console_error: ConsoleErrorEventShape,
    page_navigation: PageNavigationEventShape,
    page_dom_content_loaded: PageDomContentLoadedEventShape,
    page_load: PageLoadEventShape,
    page_tab_opened: PageTabOpenedEventShape,
    page_layout_shift: PageLayoutShiftEventShape,
    page_lcp: PageLcpEventShape,
    page_layout_settled: PageLayoutSettledEventShape,
    page_navigation_settled: PageNavigationSettledEventShape,
    download_finished: DownloadFinishedEventShape,
    interaction_click: InteractionClickEventShape,
    interaction_key: InteractionKeyEventShape,
    interaction_scroll_settled: InteractionScrollSettledEventShape,
    network_request: NetworkRequestEventShape,
    network_response: NetworkResponseEventShape,
    network_loading_failed: NetworkLoadingFailedEventShape,
    network_idle: NetworkIdleEventShape,
    proxy_error: ProxyErrorEventShape,
    monitor_screenshot: MonitorScreenshotEventShape,
    monitor_disconnected: MonitorDisconnectedEventShape,
    monitor_reconnected: MonitorReconnectedEventShape,
    monitor_reconnect_failed: MonitorReconnectFailedEventShape,
    monitor_init_failed: MonitorInitFailedEventShape,
    api_call: ApiCallEventShape,
    cdp_connect: CdpConnectEventShape,
    cdp_disconnect: CdpDisconnectEventShape,
    live_view_connect: LiveViewConnectEventShape,
    live_view_disconnect: LiveViewDisconnectEventShape,
    captcha_solve_result: CaptchaSolveResultEventShape,
    system_oom_kill: SystemOomKillEventShape,
    service_crashed: ServiceCrashedEventShape,
  }),
);
/** Something that happened in a session, told by its `type`. A newer service may send kinds that are not listed here, so a `switch` over them needs a `default`. */
export type TelemetryEvent = z.output<typeof TelemetryEventShape>;
export const TelemetryEvent: Schema<TelemetryEvent> = TelemetryEventShape;

export const TelemetryEnvelopeShape = lazyObject(() => ({
  /** Counts the session's events from 1; where numbers are missing, events were lost. */
  seq: z.int(),
  /** The event itself. */
  event: TelemetryEvent,
}));
/** An event of a session's telemetry with its number. */
export interface TelemetryEnvelope extends z.output<typeof TelemetryEnvelopeShape> {}
export const TelemetryEnvelope: Schema<TelemetryEnvelope> = TelemetryEnvelopeShape;

/** Kinds of telemetry that a session can capture, each on or off by itself. */
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
  "monitor",
] as const;

export const ListTelemetryEventsShape = lazyObject(() => ({
  /** Only events of these categories; all when absent. A page may then be empty though others follow. */
  category: z.optional(z.array(z.enum(telemetryCategories))),
  /** `asc`: oldest first. `desc`: newest first, one page that ends at `offset`, `until` or now; not together with `since`. */
  order: z._default(checked(z.string(), z.regex(/^(?:asc|desc)$/, "asc or desc only")), "asc"),
  /** Where the window begins: a moment (`2026-01-31T12:00:00Z`), or how long ago (`30s`, `5m`, `2h`); `5m` when absent. Without effect beside `offset`. */
  since: z.optional(Since),
  /** Where the window ends, that moment not included: a moment, or how long ago; now when absent. */
  until: z.optional(Since),
  /** Where to go on: `X-Next-Offset` of the page before. It counts neither items nor `seq`. */
  offset: z.optional(checked(z.int(), z.minimum(0))),
  /** Events on a page, 1 to 100. */
  limit: z._default(checked(z.int(), z.minimum(1), z.maximum(100)), 20),
}));
/** What `browsers.telemetry.events` takes. */
export interface ListTelemetryEvents extends z.input<typeof ListTelemetryEventsShape> {}
export const ListTelemetryEvents: Schema<z.output<typeof ListTelemetryEventsShape>, ListTelemetryEvents> = ListTelemetryEventsShape;

export const StreamTelemetryShape = lazyObject(() => ({
  /** `all` begins with the oldest event that is still kept, every other value with what happens from now on. `Last-Event-ID` comes before it. */
  replay: z.optional(checked(z.string(), z.maxLength(64))),
}));
/** What `browsers.telemetry.stream` takes. */
export interface StreamTelemetry extends z.input<typeof StreamTelemetryShape> {}
export const StreamTelemetry: Schema<StreamTelemetry> = StreamTelemetryShape;
