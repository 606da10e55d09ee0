import { ServiceError } from "@shoal/router";
import type { Replay } from "@shoal/schemas";
import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, statfs } from "node:fs/promises";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { CdpConnection } from "../cdp/pipe-connection.ts";
import type { BrowserSupervisor } from "../chromium/supervisor.ts";
import { findProgram } from "../display/find-program.ts";
import type { SessionDisplay } from "../display/session-display.ts";
import { log } from "../log.ts";
import { attachToPage, findVisiblePage } from "../pages/visible-page.ts";
import type { InstanceConfig } from "../protocol.ts";
import { type Encoder, startEncoder } from "./encoder.ts";
import { beginRecording, type Recording } from "./recording.ts";
import { followScreen, type Frame, maxPictureSide } from "./screen.ts";
import { beginScreenRecording, type ScreenRecordingOptions } from "./screen-recording.ts";

/** Recordings of one session. */
export interface Replays {
  start(options: { readonly framerate: number | undefined; readonly maxDurationSeconds: number | undefined }): Promise<Replay>;
  list(): Replay[];
  /** @throws {ServiceError} 404. */
  stop(id: string): void;
  /** The file; `undefined` while it is being written. @throws {ServiceError} 404. */
  read(id: string): { readonly stream: Readable; readonly sizeBytes: number } | undefined;
  /** Answers with the file as it grows, to its end. @throws {ServiceError} 404, before anything was answered. */
  follow(id: string, response: ServerResponse): Promise<void>;
  /** Those that go on. */
  readonly running: number;
  /**
   * Changes the size of what is recorded: those that go on end before, and others go on in their place, as far as that is possible.
   *
   * @returns the new ones.
   */
  across(change: () => Promise<void>): Promise<Replay[]>;
  /** Ends every recording; resolves when their files are written and whoever follows them has them. */
  close(): Promise<void>;
}

export interface ReplaysOptions {
  readonly config: InstanceConfig;
  /** Port of the egress forwarder on 127.0.0.1. */
  readonly egressPort: number;
  readonly browser: Pick<BrowserSupervisor, "cdp" | "onBrowser">;
  /** The screen of a browser with a window: recorded whole where ffmpeg is installed. */
  readonly display: () => SessionDisplay | undefined;
}

/** Recordings that run at once. */
export const maxRunning = 4;
/** Recordings of one session, one after the other. */
const maxRecordings = 100;
const defaultFramerate = 10;
/** How long a start waits for the first picture. */
const firstPictureMs = 3_000;
const chunkBytes = 256 * 1024;
/** The encoder's browser and the first minutes of a film; with less, none is begun. */
const leastFreeBytes = 16 * 2 ** 20;

export function createReplays({ config, egressPort, browser, display }: ReplaysOptions): Replays {
  const directory = join(config.session_dir, "replays");
  const recordings = new Map<string, Recording>();
  const following = new Set<Promise<unknown>>();
  /** Including those that are being started. */
  let running = 0;
  let encoders = 0;
  /** First pieces of files whose recordings have not begun. */
  const early = new Map<string, Buffer[]>();
  let encoder: Promise<Encoder> | undefined;
  let latest: Frame | undefined;
  let stopScreen: (() => void) | undefined;
  let firstFrame = Promise.withResolvers<undefined>();
  let closed = false;

  function present(id: string): Recording {
    const recording = recordings.get(id);
    if (recording === undefined)
      throw new ServiceError(404, "not_found", `This session has no recording ${id.slice(0, 100)}. List them with browsers.replays.list.`);
    return recording;
  }

  async function openEncoder(): Promise<Encoder> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const made = await startEncoder(config, join(directory, `encoder-${String(encoders++)}`), egressPort);
    made.onBytes((key, bytes) => {
      const recording = recordings.get(key);
      if (recording === undefined) early.get(key)?.push(bytes);
      else recording.write(bytes);
    });
    void made.closed.then(() => {
      if (encoder !== undefined)
        encoder.then(
          (present) => {
            if (present === made) encoder = undefined;
          },
          () => undefined,
        );
    });
    return made;
  }

  function watchScreen(): void {
    stopScreen ??= followScreen(browser, (frame) => {
      latest = frame;
      firstFrame.resolve(undefined);
      for (const recording of recordings.values()) recording.show(frame);
    });
  }

  /** What only recordings need goes with the last one. */
  function release(): void {
    running--;
    if (running > 0) return;
    stopScreen?.();
    stopScreen = undefined;
    latest = undefined;
    firstFrame = Promise.withResolvers();
    const ended = encoder;
    encoder = undefined;
    ended?.then(
      (made) => {
        made.close();
      },
      () => undefined,
    );
  }

  /** @returns `undefined` for a headless browser, and where there is no ffmpeg. */
  async function startOnScreen(options: Pick<ScreenRecordingOptions, "id" | "framerate" | "maxDurationMs">): Promise<Recording | undefined> {
    const screen = display();
    const program = screen && (await findProgram("ffmpeg"));
    if (screen === undefined || program === undefined) return undefined;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return beginScreenRecording({ ...options, program, sessionDir: config.session_dir, display: screen, path: join(directory, `${options.id}.mp4`) });
  }

  async function start({ framerate = defaultFramerate, maxDurationSeconds }: Parameters<Replays["start"]>[0]): Promise<Replay> {
    if (closed) throw new ServiceError(503, "shutting_down", "This session is ending.");
    if (running >= maxRunning)
      throw new ServiceError(
        409,
        "conflict",
        `${String(maxRunning)} recordings of this session run, the most there can be. Stop one with browsers.replays.stop.`,
      );
    if (recordings.size + early.size >= maxRecordings)
      throw new ServiceError(
        409,
        "conflict",
        `This session has made ${String(maxRecordings)} recordings, the most there can be. Record in another session.`,
      );
    running++;
    const id = randomBytes(12).toString("hex");
    try {
      await requireSpace(config.session_dir);
      const screen = await startOnScreen({ id, framerate, maxDurationMs: maxDurationSeconds === undefined ? undefined : maxDurationSeconds * 1000 });
      if (screen !== undefined) {
        recordings.set(id, screen);
        void screen.file.written.then(release);
        if (isClosed()) screen.stop();
        return describe(screen);
      }
      const cdp = await browser.cdp();
      encoder ??= openEncoder();
      const opening = encoder;
      opening.catch(() => {
        if (encoder === opening) encoder = undefined;
      });
      watchScreen();
      const [made, size] = await Promise.all([opening, pictureSize(cdp)]);
      early.set(id, []);
      await made.call("open", id, size.width, size.height, framerate);
      await Promise.race([firstFrame.promise, new Promise((resolve) => setTimeout(resolve, firstPictureMs))]);
      if (isClosed()) throw new ServiceError(503, "shutting_down", "This session is ending.");
      const recording = beginRecording({
        id,
        path: join(directory, `${id}.mp4`),
        framerate,
        encoder: made,
        first: latest,
        maxDurationMs: maxDurationSeconds === undefined ? undefined : maxDurationSeconds * 1000,
      });
      for (const bytes of early.get(id) ?? []) recording.write(bytes);
      early.delete(id);
      recordings.set(id, recording);
      void recording.file.written.then(release);
      void made.closed.then(() => {
        if (!recording.file.isWritten) log("warn", "a recording ended with its encoder", { replay_id: id });
        recording.lose();
      });
      return describe(recording);
    } catch (error) {
      early.delete(id);
      release();
      if (ServiceError.isInstance(error)) throw error;
      log("warn", "a recording could not be started", { error: String(error) });
      throw new ServiceError(500, "internal_error", `The recording could not be started: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }

  const goingOn = (): Recording[] => [...recordings.values()].filter(({ finishedAtMs }) => finishedAtMs === undefined);

  /** Begins a recording that goes on in another one's place. */
  async function goOn({ id, framerate, maxDurationMs, startedAtMs }: Recording): Promise<Replay | undefined> {
    const restMs = maxDurationMs === undefined ? undefined : maxDurationMs - (Date.now() - startedAtMs);
    if (restMs !== undefined && restMs <= 0) return undefined;
    try {
      return await start({ framerate, maxDurationSeconds: restMs === undefined ? undefined : restMs / 1000 });
    } catch (error) {
      log("warn", "a recording did not go on at the new size", { replay_id: id, error: String(error) });
      return undefined;
    }
  }

  return {
    start,
    get running() {
      return goingOn().length;
    },
    async across(change) {
      const ended = goingOn();
      for (const recording of ended) recording.stop();
      // The new ones take their places, and begin with a picture of the new size.
      await Promise.all(ended.map(({ file }) => file.written));
      await change();
      const begun = await Promise.all(ended.map(goOn));
      return begun.filter((replay) => replay !== undefined);
    },
    list: () => [...recordings.values()].map(describe),
    stop(id) {
      present(id).stop();
    },
    read(id) {
      const { isWritten, path, sizeBytes } = present(id).file;
      if (!isWritten) return undefined;
      return { stream: createReadStream(path, { highWaterMark: chunkBytes, ...(sizeBytes > 0 && { end: sizeBytes - 1 }) }), sizeBytes };
    },
    follow(id, response) {
      const followed = sendGrowing(present(id), response);
      following.add(followed);
      return followed.finally(() => following.delete(followed));
    },
    async close() {
      closed = true;
      for (const recording of recordings.values()) recording.stop();
      await Promise.all([...recordings.values()].map(({ file }) => file.written));
      await Promise.allSettled(following);
    },
  };

  function isClosed(): boolean {
    return closed;
  }
}

/** @throws {ServiceError} 507. */
async function requireSpace(directory: string): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize >= leastFreeBytes) return;
  throw new ServiceError(
    507,
    "insufficient_storage",
    `The recording cannot be started: no space is left, ${String(leastFreeBytes / 2 ** 20)} MB are needed. Delete files of the session that are not needed and send the request again.`,
  );
}

function describe({ id, startedAtMs, finishedAtMs }: Recording): Replay {
  return {
    replay_id: id,
    started_at: new Date(startedAtMs).toISOString(),
    finished_at: finishedAtMs === undefined ? null : new Date(finishedAtMs).toISOString(),
  };
}

/** Of the page in front, scaled down to what is recorded at most; even, as the encoder wants it. */
async function pictureSize(cdp: CdpConnection): Promise<{ readonly width: number; readonly height: number }> {
  const targetId = await findVisiblePage(cdp);
  if (targetId === undefined) return { width: 1280, height: 720 };
  await using page = await attachToPage(cdp, targetId);
  const { cssVisualViewport } = await cdp.send("Page.getLayoutMetrics", undefined, page.sessionId);
  const { clientWidth, clientHeight } = cssVisualViewport;
  const scale = Math.min(1, maxPictureSide / Math.max(clientWidth, clientHeight));
  const even = (size: number): number => Math.max(64, Math.round((size * scale) / 2) * 2);
  return { width: even(clientWidth), height: even(clientHeight) };
}

async function sendGrowing(recording: Recording, response: ServerResponse): Promise<void> {
  const isGone = (): boolean => response.destroyed;
  const gone = once(response, "close");
  response.writeHead(200, { "content-type": "video/mp4", trailer: "x-finished-at" });
  response.flushHeaders();
  try {
    let sent = 0;
    while (!isGone()) {
      const { sizeBytes, isWritten } = recording.file;
      if (sizeBytes > sent) {
        for await (const chunk of createReadStream(recording.file.path, { start: sent, end: sizeBytes - 1, highWaterMark: chunkBytes })) {
          if (!response.write(chunk)) await Promise.race([once(response, "drain"), gone]);
          if (isGone()) return;
        }
        sent = sizeBytes;
      } else if (isWritten) break;
      else await Promise.race([recording.file.grown(), gone]);
    }
    response.addTrailers({ "x-finished-at": describe(recording).finished_at ?? "" });
    response.end();
    await gone;
  } catch (error) {
    log("warn", "a recording could not be handed on", { replay_id: recording.id, error: String(error) });
    response.destroy();
  }
}
