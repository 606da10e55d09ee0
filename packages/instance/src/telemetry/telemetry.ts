import { ServiceError, type StreamFrame } from "@shoal/router";
import type { TelemetryEnvelope } from "@shoal/schemas";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { CdpConnection } from "../cdp/pipe-connection.ts";
import type { CdpDeparture } from "../cdp/gateway.ts";
import type { BrowserSupervisor } from "../chromium/supervisor.ts";
import { log } from "../log.ts";
import { watchBrowser, type BrowserWatch } from "./browser-watch.ts";
import { type TelemetryCategory, watchesBrowser } from "./categories.ts";
import { answerControl } from "./control-requests.ts";
import { watchDownloads } from "./downloads.ts";
import type { FailureOf } from "./network-events.ts";
import { watchOomKills } from "./oom-kills.ts";
import { type CapturedEvent, TelemetryRecorder } from "./recorder.ts";
import { takeScreenshots } from "./screenshots.ts";

/** What happens in the session, as far as it is switched on. */
export interface Telemetry {
  /**
   * Captures these categories from now on and no others; resolves when that holds for what is open.
   * Waits five seconds at most for a browser that starts or does not answer; it is watched later.
   */
  select(categories: readonly TelemetryCategory[]): Promise<void>;
  /**
   * Events as readers get them.
   *
   * @throws {ServiceError} 400 for a `Last-Event-ID` that is none.
   */
  stream(replay: string | undefined, lastEventId: string | undefined): AsyncIterable<StreamFrame<TelemetryEnvelope>>;
  /** Answers with the events after a number, one envelope a line, until the telemetry is closed. */
  sendLines(response: ServerResponse, after: number): void;
  /** Answers the service's requests of the control channel. */
  control(request: IncomingMessage, response: ServerResponse): void;
  /** Records what another part of the instance has seen, where its category is on. */
  record(event: CapturedEvent): void;
  cdpClientJoined(): void;
  cdpClientLeft(departure: CdpDeparture): void;
  /** To be called when an operation is about to be answered. */
  operationBegan(operationId: string, requestId: string, response: ServerResponse): void;
  /** @param phase - `gave_up` follows `running` when it is not started again. */
  browserCrashed(phase: "startup" | "running" | "gave_up", pid: number | undefined): void;
  /** Ends it; resolves when every reader has what it is owed, or has not taken it for a second. */
  close(): Promise<void>;
}

export interface TelemetryOptions {
  /** Directory of this system that the session's `/` is. */
  readonly root: string;
  readonly browser: Pick<BrowserSupervisor, "cdp" | "downloads" | "onBrowser">;
  /** Why the egress gateway has just not reached `host:port`. */
  readonly failureOf: FailureOf;
}

const flushTimeoutMs = 1_000;
/** An event after a pause is sent to the service at once; those that follow go together: so many characters, or what came in so long. */
const pieceCharacters = 64 * 1024;
const pieceMs = 50;
/** Between two looks at the session's processes: one that comes and goes in between is not known. */
const oomLookMs = 250;
/** How long a switch may wait for a browser that does not answer. */
const selectTimeoutMs = 5_000;

export function createTelemetry({ root, browser, failureOf }: TelemetryOptions): Telemetry {
  const recorder = new TelemetryRecorder();
  const sending = new Set<Promise<unknown>>();
  let cdp: CdpConnection | undefined;
  let watch: BrowserWatch | undefined;
  let lostMs: number | undefined;
  let stopDownloads: (() => void) | undefined;
  let stopScreenshots: (() => void) | undefined;
  let stopOomWatch: (() => void) | undefined;
  let selecting: Promise<unknown> = Promise.resolve();
  let closed = false;

  const stopFollowing = browser.onBrowser((connection) => {
    cdp = connection;
    void connection.closed.then(() => {
      lose(connection);
    });
    void turn();
  });

  function lose(connection: CdpConnection): void {
    if (cdp !== connection || closed) return;
    cdp = undefined;
    endWatch();
    if (!watchesBrowser(recorder.categories)) return;
    lostMs = performance.now();
    recorder.record({ type: "monitor_disconnected", category: "monitor", source: { kind: "cdp" }, data: { reason: "chrome_restarted" } });
  }

  function endWatch(): void {
    watch?.end();
    watch = undefined;
    stopDownloads?.();
    stopDownloads = undefined;
    stopScreenshots?.();
    stopScreenshots = undefined;
  }

  function watchMemory(wanted: boolean): void {
    if (wanted && process.platform === "linux") stopOomWatch ??= watchOomKills(recorder, { proc: "/proc", root: process.pid, intervalMs: oomLookMs });
    else {
      stopOomWatch?.();
      stopOomWatch = undefined;
    }
  }

  /** One change after the other. */
  function turn(): Promise<void> {
    const turned = selecting.then(adjust);
    selecting = turned;
    return turned;
  }

  async function adjust(): Promise<void> {
    const connection = cdp;
    const { categories } = recorder;
    if (connection === undefined || closed) return;
    if (categories.has("page")) stopDownloads ??= watchDownloads({ cdp: connection, recorder, root, downloads: browser.downloads });
    else {
      stopDownloads?.();
      stopDownloads = undefined;
    }
    if (categories.has("screenshot")) stopScreenshots ??= takeScreenshots(connection, recorder);
    else {
      stopScreenshots?.();
      stopScreenshots = undefined;
    }
    if (!watchesBrowser(categories)) {
      watch?.end();
      watch = undefined;
      return;
    }
    try {
      if (watch !== undefined) await watch.select(categories);
      else {
        const made = await watchBrowser(connection, recorder, categories, failureOf);
        if (cdp === connection && !isTrue(closed)) watch = made;
        else made.end();
      }
      if (lostMs !== undefined && cdp === connection) {
        recorder.record({
          type: "monitor_reconnected",
          category: "monitor",
          source: { kind: "cdp" },
          data: { reconnect_duration_ms: Math.round(performance.now() - lostMs) },
        });
        lostMs = undefined;
      }
    } catch (error) {
      log("warn", "the browser cannot be watched", { error: String(error) });
      if (cdp === connection)
        recorder.record({
          type: "monitor_init_failed",
          category: "monitor",
          source: { kind: "cdp" },
          data: { step: error instanceof Error ? (error.message.split(":")[0] ?? "") : "" },
        });
    }
  }

  /** Many events go as one piece: what each costs on its way to a file counts on a busy page, and nobody waits for a single one. */
  async function writeLines(response: ServerResponse, after: number): Promise<void> {
    const lines = recorder.read(after, (seq, event) => `{"seq":${String(seq)},"event":${event}}\n`);
    let held = "";
    let timer: NodeJS.Timeout | undefined;
    function flush(): void {
      clearTimeout(timer);
      timer = undefined;
      if (held === "") return;
      response.write(held);
      held = "";
      timer = setTimeout(flush, pieceMs);
    }
    response.on("close", () => {
      clearTimeout(timer);
      void lines.return?.();
    });
    try {
      for await (const frame of lines) {
        // Numbers that are missing show a gap.
        if ("gap" in frame) continue;
        held += frame.data;
        if (timer === undefined || held.length >= pieceCharacters) flush();
        if (response.writableNeedDrain) await Promise.race([once(response, "drain"), once(response, "close")]);
      }
      flush();
      clearTimeout(timer);
      response.end();
    } catch {
      response.destroy();
    }
  }

  const telemetry: Telemetry = {
    async select(categories) {
      recorder.select(new Set(categories));
      watchMemory(recorder.captures("system"));
      const timeout = Promise.withResolvers<undefined>();
      const timer = setTimeout(timeout.resolve, selectTimeoutMs, undefined);
      // One that starts, or starts again, is watched as soon as it answers.
      if (cdp === undefined) await Promise.race([browser.cdp().catch(() => undefined), timeout.promise]);
      await Promise.race([turn(), timeout.promise]);
      clearTimeout(timer);
    },
    stream(replay, lastEventId) {
      const after = positionOf(lastEventId, recorder.lastSeq) ?? (replay === "all" ? 0 : recorder.lastSeq);
      // It was written by this recorder, from an event.
      return recorder.read(after, (seq, event): TelemetryEnvelope => ({ seq, event: JSON.parse(event) as TelemetryEnvelope["event"] }));
    },
    sendLines(response, after) {
      response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
      response.flushHeaders();
      response.on("error", () => undefined);
      const sent = writeLines(response, after);
      sending.add(sent);
      void sent.then(() => sending.delete(sent));
    },
    control(request, response) {
      void answerControl(telemetry, request, response);
    },
    record(event) {
      recorder.record(event);
    },
    cdpClientJoined() {
      recorder.record({ type: "cdp_connect", category: "connection", source: { kind: "kernel_api" }, data: {} });
    },
    cdpClientLeft({ durationMs, messageCount, reason }) {
      recorder.record({
        type: "cdp_disconnect",
        category: "connection",
        source: { kind: "kernel_api" },
        data: { duration_ms: Math.round(durationMs), message_count: messageCount, reason },
      });
    },
    operationBegan(operationId, requestId, response) {
      if (!recorder.captures("control")) return;
      const began = performance.now();
      response.once("close", () => {
        // A client that left before there was an answer has seen none.
        const status = response.headersSent ? response.statusCode : 499;
        recorder.record({
          type: "api_call",
          category: "control",
          source: { kind: "kernel_api" },
          data: { request_id: requestId, operation_id: operationId, status, duration_ms: Math.round((performance.now() - began) * 1000) / 1000 },
        });
      });
    },
    browserCrashed(phase, pid) {
      if (phase === "gave_up" && watchesBrowser(recorder.categories))
        recorder.record({ type: "monitor_reconnect_failed", category: "monitor", source: { kind: "cdp" }, data: { reason: "reconnect_exhausted" } });
      recorder.record({
        type: "service_crashed",
        category: "system",
        source: { kind: "local_process" },
        data: { service_name: "chromium", phase, ...(pid !== undefined && { pid }) },
      });
    },
    async close() {
      closed = true;
      stopFollowing();
      endWatch();
      watchMemory(false);
      recorder.close();
      const timeout = Promise.withResolvers<undefined>();
      const timer = setTimeout(timeout.resolve, flushTimeoutMs, undefined);
      await Promise.race([Promise.all(sending), timeout.promise]);
      clearTimeout(timer);
    },
  };
  return telemetry;
}

function positionOf(lastEventId: string | undefined, lastSeq: number): number | undefined {
  if (lastEventId === undefined || lastEventId === "") return undefined;
  const position = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
  if (position === undefined || position > lastSeq) {
    throw new ServiceError(
      400,
      "bad_request",
      `Last-Event-ID is not the number of an event of this session (the latest is ${String(lastSeq)}). Send the seq of an event that it sent, or leave the header out.`,
    );
  }
  return position;
}

/** As a function, for the compiler takes what it saw before an `await` for what holds after it. */
function isTrue(value: boolean): boolean {
  return value;
}
