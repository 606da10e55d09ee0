import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import { Cutter, maxUrlBytes } from "./cut.ts";
import type { TelemetryRecorder } from "./recorder.ts";
import { contextOf, typeOf, type WatchedTarget } from "./watched-target.ts";

interface Progress {
  parsed: boolean;
  settled: boolean;
  timer: NodeJS.Timeout | undefined;
}

const settledMs = 1_000;

export function pageEvents(recorder: TelemetryRecorder): PageEvents {
  return new PageEvents(recorder);
}

export class PageEvents {
  readonly #recorder: TelemetryRecorder;
  readonly #progress = new Map<WatchedTarget, Progress>();
  readonly opened = ({ openerId, targetId, title, type, url }: Protocol.Target.TargetInfo): void => {
    const cutter = new Cutter();
    this.#recorder.record({
      type: "page_tab_opened",
      category: "page",
      source: { kind: "cdp", event: "Target.targetCreated" },
      data: {
        target_id: targetId,
        target_type: typeOf(type),
        url: cutter.text(url, maxUrlBytes),
        title: cutter.text(title, 1024),
        ...(openerId !== undefined && { opener_id: openerId }),
      },
      ...cutter.mark,
    });
  };

  readonly crashed = ({ sessionId, targetId, type, url }: WatchedTarget): void => {
    const cutter = new Cutter();
    this.#recorder.record({
      type: "page_crashed",
      category: "page",
      source: {
        kind: "cdp",
        event: "Target.targetCrashed",
        metadata: { session_id: sessionId, target_id: targetId },
      },
      data: { target_id: targetId, target_type: type, url: cutter.text(url, maxUrlBytes) },
      ...cutter.mark,
    });
  };

  readonly navigated = (target: WatchedTarget, frame: Protocol.Page.Frame): void => {
    if (frame.parentId === undefined) this.forget(target);
    const cutter = new Cutter();
    this.#recorder.record({
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
  };

  readonly domContentLoaded = (target: WatchedTarget, { timestamp }: Protocol.Page.DomContentEventFiredEvent): void => {
    if (target.kind !== "page") return;
    this.#of(target).parsed = true;
    this.#recorder.record({
      type: "page_dom_content_loaded",
      category: "page",
      source: { kind: "cdp", event: "Page.domContentEventFired" },
      data: { ...contextOf(target, undefined), cdp_timestamp: timestamp },
    });
  };

  readonly loaded = (target: WatchedTarget, { timestamp }: Protocol.Page.LoadEventFiredEvent): void => {
    if (target.kind !== "page") return;
    this.#recorder.record({
      type: "page_load",
      category: "page",
      source: { kind: "cdp", event: "Page.loadEventFired" },
      data: { ...contextOf(target, undefined), cdp_timestamp: timestamp },
    });
    this.#awaitRest(target);
  };

  readonly timeline = (
    target: WatchedTarget,
    { frameId, layoutShiftDetails, lcpDetails, time }: Protocol.PerformanceTimeline.TimelineEvent,
  ): void => {
    const source = { kind: "cdp", event: "PerformanceTimeline.timelineEventAdded" } as const;
    const common = { ...contextOf(target, frameId), source_frame_id: frameId, time: time * 1000 };
    if (layoutShiftDetails !== undefined) {
      this.#recorder.record({
        type: "page_layout_shift",
        category: "page",
        source,
        data: {
          ...common,
          duration: 0,
          layout_shift_details: {
            value: layoutShiftDetails.value,
            had_recent_input: layoutShiftDetails.hadRecentInput,
          },
        },
      });
      const present = this.#progress.get(target);
      if (present?.timer !== undefined && !present.settled) this.#awaitRest(target);
    } else if (lcpDetails !== undefined) {
      const { elementId, loadTime, nodeId, renderTime, size, url } = lcpDetails;
      const cutter = new Cutter();
      this.#recorder.record({
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
  };

  readonly clear = (): void => {
    for (const target of [...this.#progress.keys()]) this.forget(target);
  };

  constructor(recorder: TelemetryRecorder) {
    this.#recorder = recorder;
  }

  #of(target: WatchedTarget): Progress {
    let found = this.#progress.get(target);
    if (found === undefined) this.#progress.set(target, (found = { parsed: false, settled: false, timer: undefined }));
    return found;
  }

  forget(target: WatchedTarget): void {
    clearTimeout(this.#progress.get(target)?.timer);
    this.#progress.delete(target);
  }

  #awaitRest(target: WatchedTarget): void {
    const present = this.#of(target);
    clearTimeout(present.timer);
    present.timer = setTimeout(() => {
      present.settled = true;
      this.#recorder.record({
        type: "page_layout_settled",
        category: "page",
        source: { kind: "cdp" },
        data: contextOf(target, undefined),
      });
      if (present.parsed)
        this.#recorder.record({
          type: "page_navigation_settled",
          category: "page",
          source: { kind: "cdp" },
          data: contextOf(target, undefined),
        });
    }, settledMs).unref();
  }
}
