import type * as events from "@shoal/schemas";
import type { StreamFrame } from "@shoal/router";
import { EventLog } from "../event-log.ts";
import { type TelemetryCategory, watchesBrowser } from "./categories.ts";

type Unstamped<Event> = Event extends unknown ? Omit<Event, "ts"> : never;

/** An event without its time, which the recorder gives it. */
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

/** Bytes of events that are kept for readers; one that is further behind misses some, and sees that by their numbers. */
const keptBytes = 16 * 2 ** 20;
const keptEvents = 100_000;

/** Numbers events, keeps the latest of them and hands them to readers. What belongs to no category that is on is dropped. */
export class TelemetryRecorder {
  readonly #log = new EventLog<string>({ events: keptEvents, bytes: keptBytes, shared: { bytes: 0, maxBytes: keptBytes } });
  #categories: ReadonlySet<TelemetryCategory> = new Set();
  #latestMs = 0;

  /** Number of the latest event; 0 before the first. */
  get lastSeq(): number {
    return this.#log.lastId;
  }
  get categories(): ReadonlySet<TelemetryCategory> {
    return this.#categories;
  }

  /** Records only these categories from now on, and `monitor` beside those that watch the browser. */
  select(categories: ReadonlySet<TelemetryCategory>): void {
    this.#categories = watchesBrowser(categories) ? new Set([...categories, "monitor"]) : categories;
  }

  captures(category: TelemetryCategory): boolean {
    return this.#categories.has(category);
  }

  /** The time of an event is when it is recorded, and never before that of the one in front of it: by that, pages of the past are found. */
  record(event: CapturedEvent): void {
    if (!this.#categories.has(event.category)) return;
    this.#latestMs = Math.max(this.#latestMs, Date.now());
    const text = JSON.stringify({ ts: this.#latestMs * 1000, ...event });
    this.#log.push(text, text.length);
  }

  /** No more events come; readers get what is kept, and then their end. */
  close(): void {
    this.#log.close();
  }

  /**
   * Events after a number, as the JSON documents of envelopes. The iterator must be read to its end, or returned.
   *
   * @param after - 0 begins with the oldest that is kept.
   */
  read<T>(after: number, envelope: (seq: number, event: string) => T): AsyncIterableIterator<StreamFrame<T>, undefined> {
    const frames = this.#log.read(after);
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      async next() {
        const step = await frames.next();
        if (step.done === true) return { done: true, value: undefined };
        const { value: frame } = step;
        return { done: false, value: "gap" in frame ? frame : { id: frame.id, data: envelope(Number(frame.id), frame.data) } };
      },
      async return() {
        await frames.return?.();
        return { done: true, value: undefined };
      },
    };
  }
}
