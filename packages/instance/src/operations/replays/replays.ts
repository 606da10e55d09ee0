import pTimeout from "p-timeout";
import { messageOf } from "@shoal/primitives";
import { type BytesReply, ServiceError } from "@shoal/router";
import type { Replay } from "@shoal/schemas";
import { freshBytes } from "../../system/fresh-bytes.ts";
import { createReadStream } from "node:fs";
import { mkdir, statfs } from "node:fs/promises";

import { join } from "node:path";
import { Readable } from "node:stream";
import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import { findProgram } from "../../system/find-program.ts";
import type { SessionDisplay } from "../../browser/display/session-display.ts";
import { log } from "../../system/log.ts";
import { attachToPage, findVisiblePage } from "../../browser/pages/visible-page.ts";
import type { InstanceConfig, ViewportChanged } from "../../protocol/protocol.ts";
import { type Encoder, startEncoder } from "./encoder.ts";
import { beginRecording, type Recording } from "./recording.ts";
import { followScreen, type Frame, maxPictureSide } from "./screen.ts";
import { beginScreenRecording, type ScreenRecordingOptions } from "./screen-recording.ts";

export interface ReplaysOptions {
  readonly config: InstanceConfig;
  readonly egressPort: number;
  readonly browser: Pick<BrowserSupervisor, "cdp" | "onBrowser">;
  /** The screen of a browser with a window; recorded as a whole when ffmpeg is installed. */
  readonly display: () => SessionDisplay | undefined;
}

export const maxRunning = 4;
const maxRecordings = 100;
const defaultFramerate = 10;
/** Longest wait for the first picture at the start. */
const firstPictureMs = 3_000;
const chunkBytes = 256 * 1024;
/** Space for the encoder's browser and the first minutes of a film; with less, a recording does not start. */
const leastFreeBytes = 16 * 2 ** 20;

export class Replays {
  readonly #config: ReplaysOptions["config"];
  readonly #egressPort: ReplaysOptions["egressPort"];
  readonly #browser: ReplaysOptions["browser"];
  readonly #display: ReplaysOptions["display"];
  readonly #directory: string;
  readonly #recordings = new Map<string, Recording>();
  #running = 0;
  #encoders = 0;
  /** First bytes of files whose recordings have not started. */
  readonly #early = new Map<string, Buffer[]>();
  #encoder: Promise<Encoder> | undefined;
  #latest: Frame | undefined;
  #stopScreen: (() => void) | undefined;
  #firstFrame = Promise.withResolvers<undefined>();
  #closed = false;
  /** The last recording closes the parts that only recordings need. */
  readonly #release = (): void => {
    this.#running--;
    if (this.#running > 0) return;
    this.#stopScreen?.();
    this.#stopScreen = undefined;
    this.#latest = undefined;
    this.#firstFrame = Promise.withResolvers();
    const ended = this.#encoder;
    this.#encoder = undefined;
    ended?.then(
      (made) => {
        made.close();
      },
      () => undefined,
    );
  };

  readonly #goingOn = (): Recording[] =>
    [...this.#recordings.values()].filter(({ finishedAtMs }) => finishedAtMs === undefined);

  readonly #goOn = async ({ id, framerate, maxDurationMs, startedAtMs }: Recording): Promise<Replay | undefined> => {
    const restMs = maxDurationMs === undefined ? undefined : maxDurationMs - (Date.now() - startedAtMs);
    if (restMs !== undefined && restMs <= 0) return undefined;
    try {
      return await this.start({ framerate, maxDurationSeconds: restMs === undefined ? undefined : restMs / 1000 });
    } catch (error) {
      log("warn", "a recording could not continue at the new size", { replay_id: id, error: String(error) });
      return undefined;
    }
  };

  constructor({ config, egressPort, browser, display }: ReplaysOptions) {
    this.#config = config;
    this.#egressPort = egressPort;
    this.#browser = browser;
    this.#display = display;
    this.#directory = join(this.#config.session_dir, "replays");
  }

  #present(id: string): Recording {
    const recording = this.#recordings.get(id);
    if (recording === undefined)
      throw new ServiceError(404, "not_found", `This session has no recording ${id.slice(0, 100)}.`, {
        hint: "List them with browsers.replays.list.",
      });
    return recording;
  }

  async #openEncoder(): Promise<Encoder> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const made = await startEncoder(
      this.#config,
      join(this.#directory, `encoder-${String(this.#encoders++)}`),
      this.#egressPort,
    );
    made.onBytes((key, bytes) => {
      const recording = this.#recordings.get(key);
      if (recording === undefined) this.#early.get(key)?.push(bytes);
      else recording.write(bytes);
    });
    void made.closed.then(() => {
      if (this.#encoder !== undefined)
        this.#encoder.then(
          (present) => {
            if (present === made) this.#encoder = undefined;
          },
          () => undefined,
        );
    });
    return made;
  }

  #watchScreen(): void {
    this.#stopScreen ??= followScreen(this.#browser, (frame) => {
      this.#latest = frame;
      this.#firstFrame.resolve(undefined);
      for (const recording of this.#recordings.values()) recording.show(frame);
    });
  }

  /** Returns `undefined` for a headless browser or when ffmpeg is missing. */
  async #startOnScreen(
    options: Pick<ScreenRecordingOptions, "id" | "framerate" | "maxDurationMs">,
  ): Promise<Recording | undefined> {
    const screen = this.#display();
    const program = screen && (await findProgram("ffmpeg"));
    if (screen === undefined || program === undefined) return undefined;
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    return beginScreenRecording({
      ...options,
      program,
      sessionDir: this.#config.session_dir,
      display: screen,
      path: join(this.#directory, `${options.id}.mp4`),
    });
  }

  async start({
    framerate = defaultFramerate,
    maxDurationSeconds,
  }: {
    readonly framerate: number | undefined;
    readonly maxDurationSeconds: number | undefined;
  }): Promise<Replay> {
    if (this.#closed) throw new ServiceError(503, "shutting_down", "This session is ending.");
    if (this.#running >= maxRunning)
      throw new ServiceError(409, "conflict", `This session has ${String(maxRunning)} running recordings, the limit.`, {
        limit: maxRunning,
        hint: "Stop one with browsers.replays.stop.",
      });
    if (this.#recordings.size + this.#early.size >= maxRecordings)
      throw new ServiceError(409, "conflict", `This session has ${String(maxRecordings)} recordings, the limit.`, {
        limit: maxRecordings,
        hint: "Record in another session.",
      });
    this.#running++;
    const id = freshBytes(12).toString("hex");
    try {
      await requireSpace(this.#config.session_dir);
      const screen = await this.#startOnScreen({
        id,
        framerate,
        maxDurationMs: maxDurationSeconds === undefined ? undefined : maxDurationSeconds * 1000,
      });
      if (screen !== undefined) {
        this.#recordings.set(id, screen);
        void screen.file.written.then(this.#release);
        if (this.#isClosed()) screen.stop();
        return describe(screen);
      }
      const cdp = await this.#browser.cdp();
      this.#encoder ??= this.#openEncoder();
      const opening = this.#encoder;
      opening.catch(() => {
        if (this.#encoder === opening) this.#encoder = undefined;
      });
      this.#watchScreen();
      const [made, size] = await Promise.all([opening, pictureSize(cdp)]);
      this.#early.set(id, []);
      await made.call("open", id, size.width, size.height, framerate);
      await pTimeout(this.#firstFrame.promise, { milliseconds: firstPictureMs, message: false });
      if (this.#isClosed()) throw new ServiceError(503, "shutting_down", "This session is ending.");
      const recording = beginRecording({
        id,
        path: join(this.#directory, `${id}.mp4`),
        framerate,
        encoder: made,
        first: this.#latest,
        maxDurationMs: maxDurationSeconds === undefined ? undefined : maxDurationSeconds * 1000,
      });
      for (const bytes of this.#early.get(id) ?? []) recording.write(bytes);
      this.#early.delete(id);
      this.#recordings.set(id, recording);
      void recording.file.written.then(this.#release);
      void made.closed.then(() => {
        if (!recording.file.isWritten) log("warn", "a recording ended with its encoder", { replay_id: id });
        recording.lose();
      });
      return describe(recording);
    } catch (error) {
      this.#early.delete(id);
      this.#release();
      if (ServiceError.isInstance(error)) throw error;
      log("warn", "a recording could not be started", { error: String(error) });
      throw new ServiceError(500, "internal_error", `The recording could not be started: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  #isClosed(): boolean {
    return this.#closed;
  }

  get running(): number {
    return this.#goingOn().length;
  }

  /** Ends running recordings, applies a change of size, and starts new recordings. Returns the new ones. */
  async across(change: () => Promise<void>): Promise<ViewportChanged> {
    const ended = this.#goingOn();
    for (const recording of ended) recording.stop();
    // The new recordings use the freed slots and start with a picture of the new size.
    await Promise.all(ended.map(({ file }) => file.written));
    await change();
    const begun = await Promise.all(
      ended.map(async (recording) => ({ id: recording.id, replay: await this.#goOn(recording) })),
    );
    const going = begun.flatMap(({ id, replay }) => (replay === undefined ? [] : [{ id, replay }]));
    return { replays: going.map(({ replay }) => replay), continued: going.map(({ id }) => id) };
  }

  list(): Replay[] {
    return [...this.#recordings.values()].map(describe);
  }

  /** @throws {ServiceError} 404. */
  stop(id: string): void {
    this.#present(id).stop();
  }

  /** Returns the file; `undefined` while it is being written. @throws {ServiceError} 404. */
  read(id: string): { readonly stream: Readable; readonly sizeBytes: number } | undefined {
    const { isWritten, path, sizeBytes } = this.#present(id).file;
    if (!isWritten) return undefined;
    return {
      stream: createReadStream(path, { highWaterMark: chunkBytes, ...(sizeBytes > 0 && { end: sizeBytes - 1 }) }),
      sizeBytes,
    };
  }

  /** Streams the file as it grows, to its end. @throws {ServiceError} 404. */
  follow(id: string): BytesReply {
    const recording = this.#present(id);
    return {
      stream: Readable.from(readGrowing(recording), { objectMode: false, highWaterMark: chunkBytes }),
      trailers: () => ({ "x-finished-at": describe(recording).finished_at ?? "" }),
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const recording of this.#recordings.values()) recording.stop();
    await Promise.all([...this.#recordings.values()].map(({ file }) => file.written));
  }
}

/** @throws {ServiceError} 507. */
async function requireSpace(directory: string): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize >= leastFreeBytes) return;
  throw new ServiceError(
    507,
    "insufficient_storage",
    `The recording cannot start: no space is left (it needs ${String(leastFreeBytes / 2 ** 20)} MB).`,
    { hint: "Delete files of the session and send the request again." },
  );
}

function describe({ id, startedAtMs, finishedAtMs }: Recording): Replay {
  return {
    replay_id: id,
    started_at: new Date(startedAtMs).toISOString(),
    finished_at: finishedAtMs === undefined ? null : new Date(finishedAtMs).toISOString(),
  };
}

/** Returns the size of the page in front, scaled down to the maximum; even, as the encoder requires. */
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

async function* readGrowing({ file }: Recording): AsyncGenerator<Buffer, void, undefined> {
  let sent = 0;
  for (;;) {
    const { sizeBytes, isWritten } = file;
    if (sizeBytes > sent) {
      yield* createReadStream(file.path, {
        start: sent,
        end: sizeBytes - 1,
        highWaterMark: chunkBytes,
      }) as AsyncIterable<Buffer>;
      sent = sizeBytes;
    } else if (isWritten) return;
    else await file.grown();
  }
}
