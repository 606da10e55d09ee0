import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import { Cutter, maxUrlBytes } from "./cut.ts";
import type { TelemetryRecorder } from "./recorder.ts";
import { contextOf, type WatchedTarget } from "./watched-target.ts";

/** What becomes of documents. */
export interface PageEvents {
  readonly navigated: (target: WatchedTarget, frame: Protocol.Page.Frame) => void;
  readonly domContentLoaded: (target: WatchedTarget, event: Protocol.Page.DomContentEventFiredEvent) => void;
  readonly loaded: (target: WatchedTarget, event: Protocol.Page.LoadEventFiredEvent) => void;
  readonly timeline: (target: WatchedTarget, event: Protocol.PerformanceTimeline.TimelineEvent) => void;
  readonly forget: (target: WatchedTarget) => void;
  readonly clear: () => void;
}

/** How far a page's present navigation has come. */
interface Progress {
  parsed: boolean;
  settled: boolean;
  timer: NodeJS.Timeout | undefined;
}

const settledMs = 1_000;

/** Tells of navigations, of loading and of the layout coming to rest. */
export function pageEvents(recorder: TelemetryRecorder): PageEvents {
  const progress = new Map<WatchedTarget, Progress>();

  function of(target: WatchedTarget): Progress {
    let found = progress.get(target);
    if (found === undefined) progress.set(target, (found = { parsed: false, settled: false, timer: undefined }));
    return found;
  }

  function forget(target: WatchedTarget): void {
    clearTimeout(progress.get(target)?.timer);
    progress.delete(target);
  }

  function awaitRest(target: WatchedTarget): void {
    const present = of(target);
    clearTimeout(present.timer);
    present.timer = setTimeout(() => {
      present.settled = true;
      recorder.record({ type: "page_layout_settled", category: "page", source: { kind: "cdp" }, data: contextOf(target, undefined) });
      if (present.parsed)
        recorder.record({ type: "page_navigation_settled", category: "page", source: { kind: "cdp" }, data: contextOf(target, undefined) });
    }, settledMs).unref();
  }

  return {
    navigated(target, frame) {
      if (frame.parentId === undefined) forget(target);
      const cutter = new Cutter();
      recorder.record({
        type: "page_navigation",
        category: "page",
        source: { kind: "cdp", event: "Page.frameNavigated" },
        data: {
          session_id: target.sessionId,
          target_id: target.targetId,
          target_type: target.type,
          frame_id: frame.id,
          loader_id: frame.loaderId,
          ...(frame.parentId !== undefined && { parent_frame_id: frame.parentId }),
          url: cutter.text(`${frame.url}${frame.urlFragment ?? ""}`, maxUrlBytes),
        },
        ...cutter.mark,
      });
    },
    domContentLoaded(target, { timestamp }) {
      if (target.kind !== "page") return;
      of(target).parsed = true;
      recorder.record({
        type: "page_dom_content_loaded",
        category: "page",
        source: { kind: "cdp", event: "Page.domContentEventFired" },
        data: { ...contextOf(target, undefined), cdp_timestamp: timestamp },
      });
    },
    loaded(target, { timestamp }) {
      if (target.kind !== "page") return;
      recorder.record({
        type: "page_load",
        category: "page",
        source: { kind: "cdp", event: "Page.loadEventFired" },
        data: { ...contextOf(target, undefined), cdp_timestamp: timestamp },
      });
      awaitRest(target);
    },
    timeline(target, { frameId, layoutShiftDetails, lcpDetails, time }) {
      const source = { kind: "cdp", event: "PerformanceTimeline.timelineEventAdded" } as const;
      const common = { ...contextOf(target, frameId), source_frame_id: frameId, time: time * 1000 };
      if (layoutShiftDetails !== undefined) {
        recorder.record({
          type: "page_layout_shift",
          category: "page",
          source,
          data: {
            ...common,
            duration: 0,
            layout_shift_details: { value: layoutShiftDetails.value, had_recent_input: layoutShiftDetails.hadRecentInput },
          },
        });
        const present = progress.get(target);
        if (present?.timer !== undefined && !present.settled) awaitRest(target);
      } else if (lcpDetails !== undefined) {
        const { elementId, loadTime, nodeId, renderTime, size, url } = lcpDetails;
        const cutter = new Cutter();
        recorder.record({
          type: "page_lcp",
          category: "page",
          source,
          data: {
            ...common,
            lcp_details: {
              render_time: renderTime * 1000,
              load_time: loadTime * 1000,
              size,
              ...(elementId !== undefined && { element_id: elementId }),
              ...(url !== undefined && { url: cutter.text(url, maxUrlBytes) }),
              ...(nodeId !== undefined && { node_id: nodeId }),
            },
          },
          ...cutter.mark,
        });
      }
    },
    forget,
    clear() {
      for (const target of [...progress.keys()]) forget(target);
    },
  };
}
