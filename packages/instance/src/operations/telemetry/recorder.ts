import type * as events from "@shoal/schemas";
import type { StreamFrame } from "@shoal/router";
import { EventLog } from "../../http/event-log.ts";
import { type TelemetryCategory, watchesBrowser } from "./categories.ts";

type Unstamped<Event> = Event extends unknown ? Omit<Event, "ts"> : never;

export type CapturedEvent = Unstamped<
  | events.ConsoleLogEvent
  | events.ConsoleErrorEvent
  | events.NetworkRequestEvent
  | events.NetworkResponseEvent
  | events.NetworkLoadingFailedEvent
  | events.NetworkIdleEvent
  | events.ProxyErrorEvent
  | events.PageNavigationEvent
  | events.PageDomContentLoadedEvent
  | events.PageLoadEvent
  | events.PageTabOpenedEvent
  | events.PageLayoutShiftEvent
  | events.PageLcpEvent
  | events.PageLayoutSettledEvent
  | events.PageNavigationSettledEvent
  | events.DownloadFinishedEvent
  | events.InteractionClickEvent
  | events.InteractionKeyEvent
  | events.InteractionScrollSettledEvent
  | events.MonitorScreenshotEvent
  | events.MonitorDisconnectedEvent
  | events.MonitorReconnectedEvent
  | events.MonitorReconnectFailedEvent
  | events.MonitorInitFailedEvent
  | events.ApiCallEvent
  | events.CdpConnectEvent
  | events.CdpDisconnectEvent
  | events.LiveViewConnectEvent
  | events.LiveViewDisconnectEvent
  | events.ServiceCrashedEvent
  | events.SystemOomKillEvent
>;

/** Bytes of events to keep for readers. A slower reader misses events and detects that by their numbers. */
const keptBytes = 16 * 2 ** 20;
const keptEvents = 100_000;

/** Numbers events, keeps the latest and passes them to readers. Drops events of categories that are off. */
export class TelemetryRecorder {
  readonly #log = new EventLog<string>({
    events: keptEvents,
    bytes: keptBytes,
    shared: { bytes: 0, maxBytes: keptBytes },
  });
  readonly #hidesBodies: () => boolean;
  #categories: ReadonlySet<TelemetryCategory> = new Set();
  #latestMs = 0;

  /** @param hidesBodies - whether bodies of requests may contain secrets that the service typed. */
  constructor(hidesBodies: () => boolean = () => false) {
    this.#hidesBodies = hidesBodies;
  }

  /** Number of the latest event; 0 before the first. */
  get lastSeq(): number {
    return this.#log.lastId;
  }
  get categories(): ReadonlySet<TelemetryCategory> {
    return this.#categories;
  }

  /** Records only these categories from now on, plus `monitor` if one of them watches the browser. */
  select(categories: ReadonlySet<TelemetryCategory>): void {
    this.#categories = watchesBrowser(categories) ? new Set([...categories, "monitor"]) : categories;
  }

  captures(category: TelemetryCategory): boolean {
    return this.#categories.has(category);
  }

  /** Records an event with the current time. Times never decrease, because past events are found by time. */
  record(event: CapturedEvent): void {
    if (!this.#categories.has(event.category)) return;
    this.#latestMs = Math.max(this.#latestMs, Date.now());
    const recorded = event.type === "network_request" && this.#hidesBodies() ? withoutBody(event) : event;
    const text = JSON.stringify({ ts: this.#latestMs * 1000, ...recorded });
    this.#log.push(text, text.length);
  }

  /** Ends the readers after the kept events. */
  close(): void {
    this.#log.close();
  }

  /** Yields events as JSON documents; `after` 0 starts with the oldest kept event. Read it to its end or return it. */
  read<T>(
    after: number,
    envelope: (seq: number, event: string) => T,
  ): AsyncIterableIterator<StreamFrame<T>, undefined> {
    const frames = this.#log.read(after);
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      async next() {
        const step = await frames.next();
        if (step.done === true) return { done: true, value: undefined };
        const { value: frame } = step;
        return {
          done: false,
          value: "gap" in frame ? frame : { id: frame.id, data: envelope(Number(frame.id), frame.data) },
        };
      },
      async return() {
        await frames.return?.();
        return { done: true, value: undefined };
      },
    };
  }
}

function withoutBody(event: Extract<CapturedEvent, { type: "network_request" }>): CapturedEvent {
  if (event.data === undefined) return event;
  const { post_data: _body, ...data } = event.data;
  return { ...event, data };
}
