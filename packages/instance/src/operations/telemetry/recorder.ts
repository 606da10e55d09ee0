import type * as events from "@shoal/schemas";
import type { StreamFrame } from "@shoal/router";
import { EventLog } from "../../http/event-log.ts";
import { maskSecrets } from "./masking/mask-secrets.ts";
import { TypedSecrets } from "../../secrets/typed-secrets.ts";
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
  | events.NetworkRefusedEvent
  | events.PageNavigationEvent
  | events.PageDomContentLoadedEvent
  | events.PageLoadEvent
  | events.PageCrashedEvent
  | events.PageTabOpenedEvent
  | events.PageLayoutShiftEvent
  | events.PageLcpEvent
  | events.PageLayoutSettledEvent
  | events.PageNavigationSettledEvent
  | events.DownloadFinishedEvent
  | events.PageActEvent
  | events.InteractionClickEvent
  | events.InteractionKeyEvent
  | events.InteractionScrollSettledEvent
  | events.MonitorScreenshotEvent
  | events.MonitorDisconnectedEvent
  | events.MonitorReconnectedEvent
  | events.MonitorReconnectFailedEvent
  | events.MonitorInitFailedEvent
  | events.ApiCallEvent
  | events.PlatformApiCallEvent
  | events.CdpCommandEvent
  | events.CdpConnectEvent
  | events.CdpDisconnectEvent
  | events.LiveViewConnectEvent
  | events.LiveViewDisconnectEvent
  | events.HandoffEvent
  | events.SessionForkEvent
  | events.SessionSleepEvent
  | events.SessionWakeEvent
  | events.ServiceCrashedEvent
  | events.SystemOomKillEvent
>;

export type RecorderSecrets = Pick<TypedSecrets, "hidesPages" | "inEvent" | "observe">;

export type PictureEvent = Unstamped<events.PagePictureEvent>;

/** Bytes of events to keep for readers. A slower reader misses events and detects that by their numbers. */
const keptBytes = 16 * 2 ** 20;
const keptEvents = 100_000;

/** Categories with texts of pages. */
const masked: ReadonlySet<TelemetryCategory> = new Set(["console", "network", "page"]);

const openLog = (): EventLog<string> =>
  new EventLog({ events: keptEvents, bytes: keptBytes, shared: { bytes: 0, maxBytes: keptBytes } });

/** Numbers events, keeps the latest and passes them to readers. Drops events of categories that are off. */
export class TelemetryRecorder {
  #log = openLog();
  readonly #hidesContent: () => boolean;
  readonly #secrets: RecorderSecrets;
  #categories: ReadonlySet<TelemetryCategory> = new Set();
  #latestMs = 0;

  /**
   * @param hidesContent - whether content of pages may contain secrets that the service typed.
   * @param secrets - typed in pages.
   */
  constructor(hidesContent: () => boolean = () => false, secrets: RecorderSecrets = new TypedSecrets()) {
    this.#hidesContent = hidesContent;
    this.#secrets = secrets;
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

  /** Hides a value in later events. */
  hide(value: string, before: string): void {
    this.#secrets.observe(value, before);
  }

  captures(category: TelemetryCategory): boolean {
    return this.#categories.has(category);
  }

  /** Records an event with the current time. Times never decrease, because past events are found by time. */
  record(event: CapturedEvent): void {
    this.#record(event);
  }

  /** Whether pages can be pictured: they may not show secrets. */
  get mayPicture(): boolean {
    return this.captures("page") && !this.#hidesContent() && !this.#secrets.hidesPages;
  }

  /** Whether actions are recorded with outlines of their pages. */
  get takesOutlines(): boolean {
    return this.captures("page") && this.captures("outlines") && !this.#hidesContent();
  }

  /** With the file in base64, which only the service reads. Nothing is recorded if pages may show secrets. */
  recordPicture(event: PictureEvent, jpeg: string): void {
    if (!this.mayPicture) return;
    this.#record(event, (text) => `${text.slice(0, -2)},"jpeg":"${jpeg}"}}`);
  }

  #record(event: CapturedEvent | PictureEvent, finish = (text: string) => text): void {
    if (!this.#categories.has(event.category)) return;
    this.#latestMs = Math.max(this.#latestMs, Date.now());
    const hides = this.#hidesContent();
    if (hides && isTypedCharacter(event)) return;
    const stamped = { ts: this.#latestMs * 1000, ...event };
    const shown = event.category === "screenshot" ? stamped : this.#secrets.inEvent(stamped);
    const text = hides
      ? JSON.stringify({ ...shown, truncated: true }, withoutContent)
      : finish(JSON.stringify(shown, masked.has(event.category) ? maskSecrets : undefined));
    this.#log.push(text, text.length);
  }

  /** Forgets all events and ends the readers. */
  restart(): void {
    this.#log.close();
    this.#log = openLog();
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
          value: "data" in frame ? { id: frame.id, data: envelope(Number(frame.id), frame.data) } : frame,
        };
      },
      async return() {
        await frames.return?.();
        return { done: true, value: undefined };
      },
    };
  }
}

/** Named keys, for example `Enter`, do not reveal a value. */
function isTypedCharacter(event: CapturedEvent | PictureEvent): boolean {
  return event.type === "interaction_key" && !/^[A-Z][A-Za-z]*[a-z0-9]$/.test(event.data?.key ?? "");
}

/** Fields that a page, its scripts or its server could fill with a value that was typed. */
const contentFields: ReadonlySet<string> = new Set([
  "args",
  "body",
  "element",
  "error",
  "headers",
  "outline_after",
  "outline_before",
  "post_data",
  "stack_trace",
  "status_text",
  "title",
]);
const addressFields: ReadonlySet<string> = new Set(["document_url", "page_url", "redirect_url", "source_url", "url"]);

/** For `JSON.stringify`. Of addresses, the origin stays. */
function withoutContent(field: string, value: unknown): unknown {
  if (contentFields.has(field)) return undefined;
  // Required in some events.
  if (field === "text") return "";
  return addressFields.has(field) && typeof value === "string" ? originOf(value) : value;
}

function originOf(address: string): string {
  if (!URL.canParse(address)) return "";
  const { origin, protocol } = new URL(address);
  return protocol === "http:" || protocol === "https:" ? `${origin}/` : protocol;
}
