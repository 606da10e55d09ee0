import type { Endpoint } from "@shoal/contract";
import { foreignEventId } from "@shoal/contract/refusals";
import { ServiceError, type StreamFrame } from "@shoal/router";
import type { TelemetryEnvelope } from "@shoal/schemas";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { PassThrough, type Readable } from "node:stream";
import pLimit from "p-limit";
import pTimeout from "p-timeout";
import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import type { Closing } from "../../browser/pages/closing.ts";
import type { EgressRefusal } from "../../egress/refusals.ts";
import { isTrue } from "../../system/is-true.ts";
import { log } from "../../system/log.ts";
import { watchBrowser, type BrowserWatch } from "./browser-watch.ts";
import { type TelemetryCategory, watchesBrowser } from "./categories.ts";
import { ClosedPages } from "./pictures/closed-pages.ts";
import { type CdpClientTelemetry, followClient } from "./clients/cdp-client.ts";
import { watchDownloads } from "./downloads.ts";
import type { FailureOf } from "./network-events.ts";
import { watchOomKills } from "./oom-kills.ts";
import { type CapturedEvent, type RecorderSecrets, TelemetryRecorder } from "./recorder.ts";
import { recordLastPicture, takeScreenshots } from "./screenshots.ts";

/** `inSession.manages`: see {@link SessionPolicy}. */
type AnsweredEndpoint = Pick<Endpoint, "inSession" | "operationId">;

export interface TelemetryOptions {
  readonly root: string;
  readonly browser: Pick<BrowserSupervisor, "cdp" | "downloads" | "onBrowser">;
  readonly failureOf: FailureOf;
  readonly onRefusal: (listener: (refusal: EgressRefusal) => void) => () => void;
  /** Whether the service signs in: content of pages may then contain its secrets, and is left out. */
  readonly hidesContent: () => boolean;
  /** Typed in pages. */
  readonly secrets: RecorderSecrets;
}

const flushTimeoutMs = 1_000;
/** The first event after a pause is sent at once, later ones together, after these characters or milliseconds. */
const pieceCharacters = 64 * 1024;
const pieceMs = 50;
/** Interval between looks at the session's processes; a shorter-lived process is missed. */
const oomLookMs = 250;
/** Longest wait for a browser that does not answer. */
const selectTimeoutMs = 5_000;

export class Telemetry {
  readonly #root: TelemetryOptions["root"];
  readonly #browser: TelemetryOptions["browser"];
  readonly #failureOf: TelemetryOptions["failureOf"];
  readonly #onRefusal: TelemetryOptions["onRefusal"];
  readonly #recorder: TelemetryRecorder;
  readonly #sending = new Set<Promise<unknown>>();
  readonly #closedPages = new ClosedPages();
  #cdp: CdpConnection | undefined;
  #watch: BrowserWatch | undefined;
  #lostMs: number | undefined;
  #stopDownloads: (() => void) | undefined;
  #stopScreenshots: (() => void) | undefined;
  #stopOomWatch: (() => void) | undefined;
  #stopRefusals: (() => void) | undefined;
  readonly #turns = pLimit(1);
  #closed = false;
  #closing: Promise<void> | undefined;
  readonly #stopFollowing: () => void;
  readonly #adjust = async (): Promise<void> => {
    const connection = this.#cdp;
    const { categories } = this.#recorder;
    if (connection === undefined || this.#closed) return;
    if (categories.has("page"))
      this.#stopDownloads ??= watchDownloads({
        recorder: this.#recorder,
        root: this.#root,
        downloads: this.#browser.downloads.list,
      });
    else {
      this.#stopDownloads?.();
      this.#stopDownloads = undefined;
    }
    if (categories.has("screenshot")) this.#stopScreenshots ??= takeScreenshots(connection, this.#recorder);
    else {
      this.#stopScreenshots?.();
      this.#stopScreenshots = undefined;
    }
    if (!watchesBrowser(categories)) {
      this.#watch?.end();
      this.#watch = undefined;
      return;
    }
    try {
      if (this.#watch !== undefined) await this.#watch.select(categories);
      else {
        const made = await watchBrowser(connection, this.#recorder, categories, this.#failureOf);
        if (this.#cdp === connection && !isTrue(this.#closed)) this.#watch = made;
        else made.end();
      }
      if (this.#lostMs !== undefined && this.#cdp === connection) {
        this.#recorder.record({
          type: "monitor_reconnected",
          category: "monitor",
          source: { kind: "cdp" },
          data: { reconnect_duration_ms: Math.round(performance.now() - this.#lostMs) },
        });
        this.#lostMs = undefined;
      }
    } catch (error) {
      log("warn", "the browser cannot be watched", { error: String(error) });
      if (this.#cdp === connection)
        this.#recorder.record({
          type: "monitor_init_failed",
          category: "monitor",
          source: { kind: "cdp" },
          data: { step: error instanceof Error ? (error.message.split(":")[0] ?? "") : "" },
        });
    }
  };

  constructor({ root, browser, failureOf, onRefusal, hidesContent, secrets }: TelemetryOptions) {
    this.#recorder = new TelemetryRecorder(hidesContent, secrets);
    this.#root = root;
    this.#browser = browser;
    this.#failureOf = failureOf;
    this.#onRefusal = onRefusal;
    this.#stopFollowing = this.#browser.onBrowser((connection) => {
      this.#cdp = connection;
      void connection.closed.then(() => {
        this.#lose(connection);
      });
      void this.#turn();
    });
  }

  #lose(connection: CdpConnection): void {
    if (this.#cdp !== connection || this.#closed) return;
    this.#cdp = undefined;
    this.#endWatch();
    if (!watchesBrowser(this.#recorder.categories)) return;
    this.#lostMs = performance.now();
    this.#recorder.record({
      type: "monitor_disconnected",
      category: "monitor",
      source: { kind: "cdp" },
      data: { reason: "chrome_restarted" },
    });
  }

  #endWatch(): void {
    this.#watch?.end();
    this.#watch = undefined;
    this.#stopDownloads?.();
    this.#stopDownloads = undefined;
    this.#stopScreenshots?.();
    this.#stopScreenshots = undefined;
  }

  #watchMemory(wanted: boolean): void {
    if (wanted && process.platform === "linux")
      this.#stopOomWatch ??= watchOomKills(this.#recorder, { proc: "/proc", root: process.pid, intervalMs: oomLookMs });
    else {
      this.#stopOomWatch?.();
      this.#stopOomWatch = undefined;
    }
  }

  #watchRefusals(wanted: boolean): void {
    if (wanted)
      this.#stopRefusals ??= this.#onRefusal((refusal) => {
        this.#refused(refusal);
      });
    else {
      this.#stopRefusals?.();
      this.#stopRefusals = undefined;
    }
  }

  #refused({ target, source, list, rule, count }: EgressRefusal): void {
    const portAt = target.lastIndexOf(":");
    const [host, port] = [target.slice(0, portAt).replace(/^\[|\]$/g, ""), Number(target.slice(portAt + 1))];
    this.#recorder.record({
      type: "network_refused",
      category: "network",
      source: { kind: "local_process" },
      data: { host, port, rules_of: source, list, ...(rule !== undefined && { rule }), count },
    });
  }

  #turn(): Promise<void> {
    return this.#turns(this.#adjust);
  }

  async #turnWithBrowser(): Promise<void> {
    // A starting browser is set up as soon as it answers.
    if (this.#cdp === undefined) await this.#browser.cdp().catch(() => undefined);
    await this.#turn();
  }

  /** Groups events: on a busy page the cost per write adds up, and no reader needs a single event at once. */
  async #writeLines(output: PassThrough, after: number): Promise<void> {
    const lines = this.#recorder.read(after, (seq, event) => `{"seq":${String(seq)},"event":${event}}\n`);
    let held = "";
    let timer: NodeJS.Timeout | undefined;
    function flush(): void {
      clearTimeout(timer);
      timer = undefined;
      if (held === "") return;
      output.write(held);
      held = "";
      timer = setTimeout(flush, pieceMs);
    }
    output.on("close", () => {
      clearTimeout(timer);
      void lines.return?.();
    });
    try {
      for await (const frame of lines) {
        // Missing numbers show a gap.
        if (!("data" in frame)) continue;
        held += frame.data;
        if (timer === undefined || held.length >= pieceCharacters) flush();
        if (output.writableNeedDrain) await drained(output);
      }
      flush();
      clearTimeout(timer);
      output.end();
    } catch {
      output.destroy();
    }
  }

  /**
   * Resolves when open pages are set up. Waits at most five seconds for a browser that is starting or does not answer;
   * it is set up later.
   */
  async select(categories: readonly TelemetryCategory[]): Promise<void> {
    this.#recorder.select(new Set(categories));
    this.#watchMemory(this.#recorder.captures("system"));
    this.#watchRefusals(this.#recorder.captures("network"));
    await pTimeout(this.#turnWithBrowser(), { milliseconds: selectTimeoutMs, message: false });
  }

  /** Streams events. @throws {ServiceError} 400 for an invalid `Last-Event-ID`. */
  stream(replay: string | undefined, lastEventId: string | undefined): AsyncIterable<StreamFrame<TelemetryEnvelope>> {
    const after = positionOf(lastEventId, this.#recorder.lastSeq) ?? (replay === "all" ? 0 : this.#recorder.lastSeq);
    // Written by this recorder from an event.
    return this.#recorder.read(after, (seq, event): TelemetryEnvelope => ({ seq, event: shownEvent(event) }));
  }

  /** Streams events after a number, one envelope per line, until the telemetry is closed. */
  lines(after: number): Readable {
    const output = new PassThrough();
    output.on("error", () => undefined);
    const sent = this.#writeLines(output, after);
    this.#sending.add(sent);
    void sent.then(() => this.#sending.delete(sent));
    return output;
  }

  /** Records an event of another part of the instance if its category is on. */
  record(event: CapturedEvent): void {
    this.#recorder.record(event);
  }

  get takesOutlines(): boolean {
    return this.#recorder.takesOutlines;
  }

  cdpClientJoined(): CdpClientTelemetry {
    return followClient(this.#recorder);
  }

  /** Call this when an operation is about to be answered. */
  operationBegan({ inSession, operationId }: AnsweredEndpoint, requestId: string, response: ServerResponse): void {
    const kind =
      inSession?.manages === true
        ? ({ type: "platform_api_call", category: "platform" } as const)
        : ({ type: "api_call", category: "control" } as const);
    if (!this.#recorder.captures(kind.category)) return;
    const began = performance.now();
    response.once("close", () => {
      // A client that disconnected before the answer has received none.
      const status = response.headersSent ? response.statusCode : 499;
      this.#recorder.record({
        ...kind,
        source: { kind: "kernel_api" },
        data: {
          request_id: requestId,
          operation_id: operationId,
          status,
          duration_ms: Math.round((performance.now() - began) * 1000) / 1000,
        },
      });
    });
  }

  /** @param phase - `gave_up` follows `running` when the browser is not restarted. */
  browserCrashed(phase: "startup" | "running" | "gave_up", pid: number | undefined): void {
    if (phase === "gave_up" && watchesBrowser(this.#recorder.categories))
      this.#recorder.record({
        type: "monitor_reconnect_failed",
        category: "monitor",
        source: { kind: "cdp" },
        data: { reason: "reconnect_exhausted" },
      });
    this.#recorder.record({
      type: "service_crashed",
      category: "system",
      source: { kind: "local_process" },
      data: { service_name: "chromium", phase, ...(pid !== undefined && { pid }) },
    });
  }

  /** Call it before pages close, which wait for the promise. */
  pagesClose(closing: Closing): Promise<void> | undefined {
    if (this.#cdp !== undefined && this.#recorder.mayPicture) return this.#closedPages.before(this.#cdp, closing);
    this.#closedPages.forget();
    return undefined;
  }

  /** Forgets all events: another session begins. */
  restart(): void {
    this.#closedPages.forget();
    this.#recorder.restart();
  }

  /** Records the last picture, stops capturing, and resolves when every reader has received its events; within two seconds. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    if (this.#cdp !== undefined && this.#recorder.captures("page"))
      await recordLastPicture(this.#cdp, this.#recorder, this.#closedPages);
    this.#closed = true;
    this.#stopFollowing();
    this.#endWatch();
    this.#watchMemory(false);
    this.#watchRefusals(false);
    this.#recorder.close();
    await pTimeout(Promise.all(this.#sending), { milliseconds: flushTimeoutMs, message: false });
  }
}

function shownEvent(text: string): TelemetryEnvelope["event"] {
  const event = JSON.parse(text) as TelemetryEnvelope["event"] & { data?: { jpeg?: string } };
  // Only the service reads it, for callers who may see pages.
  if (event.type === "page_picture") delete event.data?.jpeg;
  return event;
}

function positionOf(lastEventId: string | undefined, lastSeq: number): number | undefined {
  if (lastEventId === undefined || lastEventId === "") return undefined;
  const position = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
  if (position === undefined || position > lastSeq) {
    throw ServiceError.of(foreignEventId("this session's telemetry", lastSeq));
  }
  return position;
}

/** Resolves when the reader has caught up or left. */
async function drained(output: PassThrough): Promise<void> {
  const waited = new AbortController();
  const { signal } = waited;
  await Promise.race([once(output, "drain", { signal }), once(output, "close", { signal })]);
  // Removes the other event's listener: a slow reader causes many waits.
  waited.abort();
}
