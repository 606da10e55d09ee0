import type { PageActEvent, TelemetryEnvelope } from "@shoal/schemas";
import type { HarEntry } from "./har.ts";

/** Viewers since Playwright 1.53 open it, and newer ones convert it. */
const traceVersion = 8;

export interface TraceOf {
  readonly sessionId: string;
  readonly name: string | null;
  /** Start of the session, in milliseconds since 1970: the trace counts from here. */
  readonly startMs: number;
  readonly viewport: { readonly width: number; readonly height: number };
  /** Whether `page_act` has the actions of `browsers.act`. */
  readonly hasActs: boolean;
}

/** Types of the events that {@link TraceLines} takes. */
export const traceEventTypes: readonly string[] = [
  "page_act",
  "api_call",
  "platform_api_call",
  "console_log",
  "console_error",
  "page_navigation",
  "page_tab_opened",
  "download_finished",
];

/** A picture of the archive in the timeline. */
export interface TraceFrame {
  readonly file: string;
  readonly ts: number;
  readonly width: number;
  readonly height: number;
}

type Events = TelemetryEnvelope["event"];
type EventOf<Type extends string> = Extract<Events, { type: Type }>;

const methods: Readonly<Record<string, string>> = {
  navigate: "goto",
  back: "goBack",
  forward: "goForward",
  check: "check",
  select: "selectOption",
  drag: "dragAndDrop",
  upload: "setInputFiles",
  wait_for: "waitForSelector",
};

/** Lines of a trace of Playwright (`trace.trace`) for events of the telemetry. */
export class TraceLines {
  readonly #of: TraceOf;
  /** Of the latest event, for pictures: telemetry does not say which page they show. */
  #pageId: string | undefined;

  constructor(of: TraceOf) {
    this.#of = of;
  }

  begin(): object {
    const { name, sessionId, startMs, viewport } = this.#of;
    return {
      version: traceVersion,
      type: "context-options",
      origin: "library",
      browserName: "chromium",
      platform: "linux",
      wallTime: startMs,
      // Zero would count as unknown.
      monotonicTime: 1,
      sdkLanguage: "javascript",
      title: name ?? sessionId,
      contextId: sessionId,
      options: { viewport },
    };
  }

  take({ event, seq }: TelemetryEnvelope): object[] {
    switch (event.type) {
      case "page_act":
        return this.#act(event, seq);
      case "api_call":
      case "platform_api_call":
        return this.#call(event, seq);
      case "console_log":
      case "console_error":
        return [this.#console(event)];
      case "page_navigation":
        return this.#navigation(event);
      case "page_tab_opened":
        return [this.#event(event, "page", { pageId: this.#pageOf(event.data) })];
      case "download_finished": {
        const { file_name: name, url } = event.data ?? {};
        return [this.#event(event, "download", { pageId: this.#pageId, url, suggestedFilename: name })];
      }
      default:
        return [];
    }
  }

  frame({ file, height, ts, width }: TraceFrame): object {
    const pageId = this.#pageId ?? "page";
    return { type: "screencast-frame", pageId, sha1: file, width, height, timestamp: this.#at(ts) };
  }

  /** A line of `trace.network`. @param bodyFile - in `resources`. */
  resource(entry: HarEntry, bodyFile: string | undefined): object {
    const { _targetId: pageref, response, ...rest } = entry;
    const { text: _text, ...content } = response.content;
    return {
      type: "resource-snapshot",
      snapshot: {
        ...rest,
        ...(pageref !== undefined && { pageref }),
        response: {
          ...response,
          content: { ...content, ...(bodyFile !== undefined && { _sha1: bodyFile }) },
          // Readers show no body without a size.
          bodySize: content.size,
        },
        _monotonicTime: this.#at(Date.parse(entry.startedDateTime) * 1000),
      },
    };
  }

  #at(ts: number): number {
    return Math.max(1, ts / 1000 - this.#of.startMs);
  }

  #act(event: PageActEvent, seq: number): object[] {
    const { action = "act", duration_ms: duration = 0, element, error, error_code: code, url, x, y } = event.data ?? {};
    const { outline_after: outlineAfter, outline_before: outlineBefore } = event.data ?? {};
    const pageId = this.#pageOf(event.data);
    const callId = `call@${String(seq)}`;
    const subject = element ?? url;
    const point = x === undefined || y === undefined ? undefined : { x, y };
    const startTs = event.ts - duration * 1000;
    const snapshot = { callId, data: event.data };
    return [
      {
        type: "before",
        callId,
        startTime: this.#at(startTs),
        class: "Frame",
        method: methods[action] ?? action,
        title: subject === undefined ? sentence(action) : `${sentence(action)} ${subject}`,
        // The title has them; viewers would read an element as a selector.
        params: {},
        pageId,
        ...(outlineBefore !== undefined && { beforeSnapshot: `before@${callId}` }),
      },
      ...(outlineBefore === undefined
        ? []
        : [this.#snapshot({ ...snapshot, name: "before", outline: outlineBefore, ts: startTs })]),
      ...(point === undefined ? [] : [{ type: "input", callId, point }]),
      {
        type: "after",
        callId,
        endTime: this.#at(event.ts),
        ...(code !== undefined && { error: { name: code, message: error ?? code } }),
        afterSnapshot: `after@${callId}`,
        ...(point !== undefined && { point }),
      },
      this.#snapshot({ ...snapshot, name: "after", outline: outlineAfter, ts: event.ts }),
    ];
  }

  /**
   * Telemetry has no DOM: the page of the snapshot has the outline, or says where the action ended. Viewers show the closest
   * picture with it.
   */
  #snapshot({ callId, data, name, outline, ts }: Snapshot): object {
    const { error, page_url: pageUrl = "about:blank" } = data ?? {};
    // The address before is not known.
    const frameUrl = name === "after" ? pageUrl : "about:blank";
    const lines = [
      ...(name === "after" ? [pageUrl, ...(error === undefined ? [] : [error])] : []),
      ...(outline === undefined ? ["The session records no DOM."] : []),
    ];
    const shown = outline === undefined ? [] : [["PRE", { style: "white-space: pre-wrap" }, outline]];
    const html = ["HTML", {}, ["BODY", {}, ...lines.map((line) => ["P", {}, line]), ...shown]];
    const pageId = this.#pageId ?? "page";
    return {
      type: "frame-snapshot",
      snapshot: {
        ...{ callId, snapshotName: `${name}@${callId}`, pageId, frameId: `frame@${pageId}`, frameUrl, html },
        ...{ doctype: "html", isMainFrame: true, viewport: this.#of.viewport, timestamp: this.#at(ts) },
        ...{ wallTime: ts / 1000, collectionTime: 0, resourceOverrides: [] },
      },
    };
  }

  #call(event: EventOf<"api_call" | "platform_api_call">, seq: number): object[] {
    const { duration_ms: duration = 0, operation_id: operation = "", request_id: id, status = 0 } = event.data ?? {};
    if (operation === "browsers.act" && this.#of.hasActs) return [];
    const callId = `call@${String(seq)}`;
    return [
      {
        type: "before",
        callId,
        startTime: this.#at(event.ts - duration * 1000),
        class: "BrowserContext",
        method: operation,
        title: operation,
        params: { request_id: id },
      },
      {
        type: "after",
        callId,
        endTime: this.#at(event.ts),
        result: { status },
        ...(status >= 400 && { error: { name: "Error", message: `HTTP status ${String(status)}` } }),
      },
    ];
  }

  #console(event: EventOf<"console_error" | "console_log">): object {
    const pageId = this.#pageOf(event.data);
    const { args = [], level, text = "" } = event.data ?? {};
    const [call] = event.data?.stack_trace?.callFrames ?? [];
    const { column, line, source_url: source } = (event as EventOf<"console_error">).data ?? { text };
    const location = {
      url: source ?? call?.url ?? "",
      lineNumber: line ?? call?.lineNumber ?? 0,
      columnNumber: column ?? call?.columnNumber ?? 0,
    };
    if (event.type === "console_error" && level === undefined)
      return this.#event(event, "pageError", {
        error: { error: { name: "Error", message: text, stack: "" } },
        location: { url: location.url, line: location.lineNumber, column: location.columnNumber },
      });
    const messageType = event.type === "console_error" ? "error" : (level ?? "log");
    const shown = args.length === 0 ? text : args.join(" ");
    const values = args.map((value) => ({ preview: value, value }));
    return { type: "console", messageType, text: shown, args: values, location, time: this.#at(event.ts), pageId };
  }

  #navigation(event: EventOf<"page_navigation">): object[] {
    // Frames navigate too.
    if (event.data?.parent_frame_id !== undefined) return [];
    const pageId = this.#pageOf(event.data);
    return [this.#event(event, "navigated", { pageId, url: event.data?.url })];
  }

  #event({ ts }: { readonly ts: number }, method: string, params: object): object {
    return { type: "event", time: this.#at(ts), class: "BrowserContext", method, params, pageId: this.#pageId };
  }

  #pageOf(data: Targeted): string | undefined {
    this.#pageId = data?.target_id ?? this.#pageId;
    return this.#pageId;
  }
}

interface Snapshot extends Pick<PageActEvent, "data"> {
  readonly callId: string;
  readonly name: "before" | "after";
  readonly outline: string | undefined;
  /** In microseconds since 1970. */
  readonly ts: number;
}

type Targeted = { readonly target_id?: string | undefined } | undefined;

function sentence(action: string): string {
  const words = action.replaceAll("_", " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
