import * as z from "zod/mini";
import { CallStack } from "./call-stack.ts";
import { openEnum } from "../base/schema.ts";
import { contextFields, targetType, telemetryEvent } from "./telemetry-parts.ts";

/** A page or worker wrote to its console. */
export interface ConsoleLogEvent extends z.output<typeof ConsoleLogEvent> {}
export const ConsoleLogEvent = telemetryEvent("console_log", "console", () => ({
  ...contextFields(),
  /** Console method as CDP names it: `log`, `warning`, `info`, … */
  level: z.optional(z.string()),
  /** The first argument. */
  text: z.optional(z.string()),
  /** All arguments, as text. */
  args: z.optional(z.array(z.string())),
  /** The calls that led to it. */
  stack_trace: z.optional(CallStack),
}));

/** A page or worker called `console.error` or threw an uncaught error. */
export interface ConsoleErrorEvent extends z.output<typeof ConsoleErrorEvent> {}
export const ConsoleErrorEvent = telemetryEvent("console_error", "console", () => ({
  ...contextFields(),
  /** Text that the console shows. */
  text: z.string(),
  /** The calls that led to it. */
  stack_trace: z.optional(CallStack),
  /** `error`, of a call of `console.error`; absent of an exception. */
  level: z.optional(z.string()),
  /** Arguments of `console.error`, as text; absent of an exception. */
  args: z.optional(z.array(z.string())),
  /** Line of an exception, from 0. */
  line: z.optional(z.int()),
  /** Column of an exception, from 0. */
  column: z.optional(z.int()),
  /** Script of an exception. */
  source_url: z.optional(z.string()),
}));

/** A frame went to another document. */
export interface PageNavigationEvent extends z.output<typeof PageNavigationEvent> {}
export const PageNavigationEvent = telemetryEvent("page_navigation", "page", () => ({
  /** Where it went. */
  url: z.optional(z.string()),
  /** The frame. */
  frame_id: z.optional(z.string()),
  /** The frame around it; absent of a main frame. */
  parent_frame_id: z.optional(z.string()),
  /** The new document. */
  loader_id: z.optional(z.string()),
  /** CDP session. */
  session_id: z.optional(z.string()),
  /** CDP target. */
  target_id: z.optional(z.string()),
  /** Kind of target. */
  target_type: targetType(),
}));

/** A page was parsed: `DOMContentLoaded`. */
export interface PageDomContentLoadedEvent extends z.output<typeof PageDomContentLoadedEvent> {}
export const PageDomContentLoadedEvent = telemetryEvent("page_dom_content_loaded", "page", () => ({
  ...contextFields(),
  /** Seconds on Chromium's monotonic clock, which does not start in 1970. */
  cdp_timestamp: z.optional(z.number()),
}));

/** A page has loaded: `load`. */
export interface PageLoadEvent extends z.output<typeof PageLoadEvent> {}
export const PageLoadEvent = telemetryEvent("page_load", "page", () => ({
  ...contextFields(),
  /** Seconds on Chromium's monotonic clock, which does not start in 1970. */
  cdp_timestamp: z.optional(z.number()),
}));

/** A tab or popup opened. */
export interface PageTabOpenedEvent extends z.output<typeof PageTabOpenedEvent> {}
export const PageTabOpenedEvent = telemetryEvent("page_tab_opened", "page", () => ({
  /** CDP target. */
  target_id: z.optional(z.string()),
  /** Kind of target. */
  target_type: targetType(),
  /** Its address so far. */
  url: z.optional(z.string()),
  /** Its title so far. */
  title: z.optional(z.string()),
  /** Target of the page that opened it. */
  opener_id: z.optional(z.string()),
}));

/** The process of a page, or of a frame in a separate process, crashed. The browser continues. */
export interface PageCrashedEvent extends z.output<typeof PageCrashedEvent> {}
export const PageCrashedEvent = telemetryEvent("page_crashed", "page", () => ({
  /** CDP target. */
  target_id: z.string(),
  /** Kind of target. */
  target_type: openEnum("page", "background_page", "service_worker", "shared_worker", "other"),
  /** Its address at that time. */
  url: z.string(),
}));

/** Elements of a page moved without being asked to. */
export interface PageLayoutShiftEvent extends z.output<typeof PageLayoutShiftEvent> {}
export const PageLayoutShiftEvent = telemetryEvent("page_layout_shift", "page", () => ({
  ...contextFields(),
  /** The frame that it happened in. */
  source_frame_id: z.optional(z.string()),
  /** Milliseconds on the page's own clock. */
  time: z.optional(z.number()),
  /** Always 0. */
  duration: z.optional(z.number()),
  /** How much moved. */
  layout_shift_details: z.optional(
    z.object({
      /** Score of this shift. */
      value: z.optional(z.number()),
      /** Whether the user acted within the 500 ms before; these shifts do not count. */
      had_recent_input: z.optional(z.boolean()),
    }),
  ),
}));

/** The largest element so far was painted (largest contentful paint). */
export interface PageLcpEvent extends z.output<typeof PageLcpEvent> {}
export const PageLcpEvent = telemetryEvent("page_lcp", "page", () => ({
  ...contextFields(),
  /** The frame that it happened in. */
  source_frame_id: z.optional(z.string()),
  /** Milliseconds on the page's own clock. */
  time: z.optional(z.number()),
  /** The element. */
  lcp_details: z.optional(
    z.object({
      /** Milliseconds until it was painted; 0 where another origin does not let it be known. */
      render_time: z.optional(z.number()),
      /** Milliseconds until it was loaded. */
      load_time: z.optional(z.number()),
      /** Area in square pixels. */
      size: z.optional(z.number()),
      /** Its `id` attribute. */
      element_id: z.optional(z.string()),
      /** Address of an image or video. */
      url: z.optional(z.string()),
      /** CDP node. */
      node_id: z.optional(z.int()),
    }),
  ),
}));

/** Nothing moved for a second after a page had loaded. */
export interface PageLayoutSettledEvent extends z.output<typeof PageLayoutSettledEvent> {}
export const PageLayoutSettledEvent = telemetryEvent("page_layout_settled", "page", contextFields);

/** A navigation has come to rest: the page is parsed and its layout settled. */
export interface PageNavigationSettledEvent extends z.output<typeof PageNavigationSettledEvent> {}
export const PageNavigationSettledEvent = telemetryEvent("page_navigation_settled", "page", contextFields);

/** A download has ended; once it is `completed`, the file is there to be read. */
export interface DownloadFinishedEvent extends z.output<typeof DownloadFinishedEvent> {}
export const DownloadFinishedEvent = telemetryEvent("download_finished", "page", () => ({
  /** How it ended. */
  state: openEnum("completed", "canceled", "interrupted"),
  /** As in `browsers.downloads`. */
  download_id: z.optional(z.string()),
  /** URL of the download. */
  url: z.optional(z.string()),
  /** Absolute path of the file in the session's filesystem; only of a completed download. */
  path: z.optional(z.string()),
  /** The name that the site proposed. */
  file_name: z.optional(z.string()),
  /** Received bytes. */
  size_bytes: z.optional(z.int()),
  /** SHA-256 of the file in hexadecimal; only of a completed download. */
  sha256: z.optional(z.string()),
  /** CDP target of the page that began it. */
  target_id: z.optional(z.string()),
  /** Frame that began it. */
  frame_id: z.optional(z.string()),
}));

/** The session ends, and a picture of its front page or of the last page that a client closed was taken: `browsers.telemetry.lastPicture` has it. */
export interface PagePictureEvent extends z.output<typeof PagePictureEvent> {}
export const PagePictureEvent = telemetryEvent("page_picture", "page", () => ({
  /** Address of the page. */
  url: z.optional(z.string()),
  /** Title of the page. */
  title: z.optional(z.string()),
  /** CDP target. */
  target_id: z.optional(z.string()),
  /** Whether a client had closed the page before: the picture shows that moment. Absent for a page that was open. */
  closed: z.optional(z.boolean()),
  /** Size of the JPEG file. */
  size_bytes: z.optional(z.int()),
}));

/** `browsers.act` did something, or failed. Without texts that it typed, except in fields of outlines. */
export interface PageActEvent extends z.output<typeof PageActEvent> {}
export const PageActEvent = telemetryEvent("page_act", "page", () => ({
  /** Kind of action: `click`, `fill`, `navigate`, … */
  action: z.string(),
  /** Id of the tab, as in `browsers.act`. */
  tab: z.optional(z.string()),
  /** CDP target. */
  target_id: z.optional(z.string()),
  /** The element: `button "Pay"`, or what the request names if none was found. */
  element: z.optional(z.string()),
  /** Reference of the element in outlines. */
  ref: z.optional(z.string()),
  /** CSS pixels from the left of the viewport: the last position of the pointer. */
  x: z.optional(z.number()),
  /** CSS pixels from the top of the viewport. */
  y: z.optional(z.number()),
  /** Address to open. */
  url: z.optional(z.string()),
  /** Address of the page in front afterwards. */
  page_url: z.optional(z.string()),
  /** Milliseconds that it took. */
  duration_ms: z.number(),
  /** Outline of the page before the action, with `page: { outlines: true }`. */
  outline_before: z.optional(z.string()),
  /** Outline of the page in front after it. Absent while a dialog is open. */
  outline_after: z.optional(z.string()),
  /** Code of the error, if it failed. */
  error_code: z.optional(z.string()),
  /** Message of the error. */
  error: z.optional(z.string()),
}));

/** The user clicked. */
export interface InteractionClickEvent extends z.output<typeof InteractionClickEvent> {}
export const InteractionClickEvent = telemetryEvent("interaction_click", "interaction", () => ({
  ...contextFields(),
  /** CSS pixels from the left of the viewport. */
  x: z.optional(z.int()),
  /** CSS pixels from the top of the viewport. */
  y: z.optional(z.int()),
  /** CSS path of the element. */
  selector: z.optional(z.string()),
  /** Tag of the element, in capitals. */
  tag: z.optional(z.string()),
  /** Text of the element; absent of password fields and the like. */
  text: z.optional(z.string()),
}));

/** The user pressed a key. Not reported for password fields and similar inputs. */
export interface InteractionKeyEvent extends z.output<typeof InteractionKeyEvent> {}
export const InteractionKeyEvent = telemetryEvent("interaction_key", "interaction", () => ({
  ...contextFields(),
  /** As `KeyboardEvent.key`. */
  key: z.optional(z.string()),
  /** CSS path of the focused element. */
  selector: z.optional(z.string()),
  /** Tag of the focused element, in capitals. */
  tag: z.optional(z.string()),
}));

/** A scroll has come to rest. */
export interface InteractionScrollSettledEvent extends z.output<typeof InteractionScrollSettledEvent> {}
export const InteractionScrollSettledEvent = telemetryEvent("interaction_scroll_settled", "interaction", () => ({
  ...contextFields(),
  /** CSS pixels, where it began. */
  from_x: z.optional(z.int()),
  /** CSS pixels, where it began. */
  from_y: z.optional(z.int()),
  /** CSS pixels, where it ended. */
  to_x: z.optional(z.int()),
  /** CSS pixels, where it ended. */
  to_y: z.optional(z.int()),
  /** CSS path of the element that scrolled. */
  target_selector: z.optional(z.string()),
}));
