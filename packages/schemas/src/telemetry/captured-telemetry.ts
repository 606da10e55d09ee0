import * as z from "zod/mini";
import { lazyObject, type Schema } from "../base/schema.ts";
import type { CdpCommandMethod } from "./cdp-command-event.ts";
import { TelemetryExport, TelemetryExportRequest } from "./telemetry-export.ts";

const TelemetryCategory = lazyObject(() => ({
  /** Whether events of this category are captured. */
  enabled: z.optional(z.boolean()),
}));
const PageTelemetry = lazyObject(() => ({
  /** Whether events of this category are captured. */
  enabled: z.optional(z.boolean()),
  /** `true`: each `page_act` has outlines of the page before and after the action. An update without it keeps the choice. Default `false`. Specific to Shoal. */
  outlines: z.optional(z.boolean()),
}));
const NetworkTelemetry = lazyObject(() => ({
  /** Whether events of this category are captured. */
  enabled: z.optional(z.boolean()),
  /** `false`: without the bodies of requests and responses. Default `true`. Specific to Shoal. */
  bodies: z.optional(z.boolean()),
}));

const ControlTelemetry = lazyObject(() => ({
  /** Whether events of this category are captured. */
  enabled: z.optional(z.boolean()),
  /** Commands of CDP clients, as `cdp_command` events. */
  cdp: z.optional(
    z.object({
      /** Commands of the event `cdp_command` to leave out. An update without it keeps the list, and `[]` clears it. */
      excluded_methods: z.optional(z.array(z.string() as Schema<CdpCommandMethod | (string & {})>)),
    }),
  ),
}));

const BrowserTelemetryCategories = lazyObject(() => ({
  /** Console output and uncaught exceptions. */
  console: z.optional(TelemetryCategory),
  /** Navigation and load events, downloads, and a picture of the page at the end of the session. */
  page: z.optional(PageTelemetry),
  /** Clicks, key presses and settled scrolls. */
  interaction: z.optional(TelemetryCategory),
  /** Requests and responses. */
  network: z.optional(NetworkTelemetry),
  /** Operations of this contract, and commands of CDP clients, that act on the browser. */
  control: z.optional(ControlTelemetry),
  /** CDP clients and live viewers that come and go. */
  connection: z.optional(TelemetryCategory),
  /** Crashes, and processes that were killed because memory ran out. */
  system: z.optional(TelemetryCategory),
  /** Periodic screenshots of the page. */
  screenshot: z.optional(TelemetryCategory),
  /** Results of captcha solvers. */
  captcha: z.optional(TelemetryCategory),
  /** Operations of this contract that manage the session: files, processes, recordings, downloads. Off unless it is named. */
  platform: z.optional(TelemetryCategory),
}));

const TelemetryStorage = lazyObject(() => ({
  /** `true`, or absent: events are stored. `false` answers 501: the export reads them from the storage. */
  enabled: z.optional(z.boolean()),
}));

/** What a session's telemetry is to capture. */
export interface BrowserTelemetryRequest extends z.input<typeof BrowserTelemetryRequest> {}
export const BrowserTelemetryRequest = lazyObject(() => ({
  /** `true` captures the default set, `false` captures nothing. */
  enabled: z.optional(z.boolean()),
  /** Single categories, on or off. */
  browser: z.optional(BrowserTelemetryCategories),
  /** Whether the service stores events. */
  storage: z.optional(TelemetryStorage),
  /** Where to send events, in addition to the service's own storage. */
  export: z.optional(TelemetryExportRequest),
}));

/** What a session's telemetry captures. */
export interface BrowserTelemetry extends z.output<typeof BrowserTelemetry> {}
export const BrowserTelemetry = lazyObject(() => ({
  /** Every category, on or off. */
  browser: z.optional(BrowserTelemetryCategories),
  /** Where to send events, in addition to the service's own storage. */
  export: z.optional(TelemetryExport),
}));
