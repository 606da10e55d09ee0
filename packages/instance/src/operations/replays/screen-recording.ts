import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { authorityPath } from "../../system/authority-path.ts";
import type { SessionDisplay } from "../../browser/display/session-display.ts";
import { log } from "../../system/log.ts";
import { createRecordingFile, type RecordingFile } from "./recording-file.ts";
import { maxTimerMs, type Recording } from "./recording.ts";
import { maxPictureSide } from "./screen.ts";

export interface ScreenRecordingOptions {
  readonly program: string;
  readonly sessionDir: string;
  readonly display: Pick<SessionDisplay, "name" | "mode">;
  readonly id: string;
  readonly path: string;
  readonly framerate: number;
  readonly maxDurationMs: number | undefined;
}

/** Time limits for ffmpeg's first picture and for the end of its file. */
const startTimeoutMs = 20_000;
const closeTimeoutMs = 10_000;
/** A file plays up to its last fragment. */
const fragmentSeconds = 2;

/** Includes the browser's windows and the pointer. @throws with ffmpeg's output when it does not start. */
export async function beginScreenRecording(options: ScreenRecordingOptions): Promise<Recording> {
  const recording = new ScreenRecording(options, startFfmpeg(options));
  await recording.begun();
  return recording;
}

type Ffmpeg = ChildProcessByStdio<Writable, Readable, Readable>;

class ScreenRecording implements Recording {
  readonly id: string;
  readonly file: RecordingFile;
  readonly framerate: number;
  readonly maxDurationMs: number | undefined;
  readonly #ffmpeg: Ffmpeg;
  readonly #ended = Promise.withResolvers<void>();
  readonly #first = Promise.withResolvers<void>();
  readonly #limit: NodeJS.Timeout | undefined;
  #lastWords = "";
  /** Duration of the file, as ffmpeg reports it. */
  #recordedMs = 0;
  #startedAtMs: number | undefined;
  #finishedAtMs: number | undefined;

  constructor({ id, path, framerate, maxDurationMs }: ScreenRecordingOptions, ffmpeg: Ffmpeg) {
    this.id = id;
    this.file = createRecordingFile(path);
    this.framerate = framerate;
    this.maxDurationMs = maxDurationMs;
    this.#ffmpeg = ffmpeg;
    this.#followFfmpeg();
    if (maxDurationMs !== undefined)
      this.#limit = setTimeout(
        () => {
          this.stop();
        },
        Math.min(maxDurationMs, maxTimerMs),
      );
    void Promise.all([
      this.#ended.promise,
      this.#write().catch(() => {
        this.lose();
      }),
    ]).then(() => {
      this.#complete();
    });
  }

  get startedAtMs(): number {
    return this.#startedAtMs ?? Date.now();
  }

  get finishedAtMs(): number | undefined {
    return this.#finishedAtMs;
  }

  async begun(): Promise<void> {
    const timeout = setTimeout(() => {
      this.lose();
    }, startTimeoutMs);
    await Promise.race([this.#first.promise, this.#ended.promise]);
    clearTimeout(timeout);
    if (this.#startedAtMs === undefined)
      throw new Error(`ffmpeg recorded nothing. Its last output: ${this.#lastWords.trim() || "nothing"}`);
  }

  // ffmpeg captures and encodes on its own.
  readonly show = (): void => undefined;
  readonly write = (): void => undefined;

  stop(): void {
    if (this.#finishedAtMs !== undefined) return;
    this.#finish();
    // The key for "quit": ffmpeg finishes the file and exits.
    this.#ffmpeg.stdin.end("q");
    const timer = setTimeout(() => {
      this.lose();
    }, closeTimeoutMs);
    void this.#ended.promise.then(() => {
      clearTimeout(timer);
    });
  }

  lose(): void {
    this.#ffmpeg.kill("SIGKILL");
  }

  #followFfmpeg(): void {
    createInterface(this.#ffmpeg.stderr).on("line", (line) => {
      const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
      if (name === undefined) this.#lastWords = `${this.#lastWords}\n${line}`.slice(-1_000);
      else if (name === "out_time_us" && Number.isFinite(Number(value))) this.#recordedMs = Number(value) / 1_000;
    });
    this.#ffmpeg.stdin.on("error", () => undefined);
    this.#ffmpeg.once("close", () => {
      this.#ended.resolve();
    });
    this.#ffmpeg.once("error", (error) => {
      this.#lastWords += error.message;
      this.#ended.resolve();
    });
  }

  async #write(): Promise<void> {
    for await (const chunk of this.#ffmpeg.stdout as AsyncIterable<Buffer>) {
      // The first output means that it has a picture.
      this.#startedAtMs ??= Date.now();
      this.#first.resolve();
      await this.file.append(chunk);
      if (this.file.isFull) this.stop();
    }
  }

  #finish(): void {
    clearTimeout(this.#limit);
    this.#finishedAtMs ??= Date.now();
  }

  #complete(): void {
    const startedAtMs = this.#startedAtMs;
    if (this.#finishedAtMs === undefined && startedAtMs !== undefined)
      log("warn", "the recording of a screen ended unexpectedly", { replay_id: this.id, last_words: this.#lastWords });
    this.#finish();
    // ffmpeg takes its last picture some time after the stop.
    if (startedAtMs !== undefined && this.#recordedMs > 0)
      this.#finishedAtMs = startedAtMs + Math.round(this.#recordedMs);
    this.file.close();
  }
}

function startFfmpeg({ program, sessionDir, display, framerate }: ScreenRecordingOptions): Ffmpeg {
  const { width, height } = display.mode;
  return spawn(program, ffmpegArguments({ name: display.name, width, height, framerate }), {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, XAUTHORITY: authorityPath(sessionDir) },
  });
}

function ffmpegArguments({
  name,
  width,
  height,
  framerate,
}: {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly framerate: number;
}): string[] {
  const scale = Math.min(1, maxPictureSide / Math.max(width, height));
  // The encoder requires even sides.
  const even = (side: number): string => String(Math.max(2, Math.round((side * scale) / 2) * 2));
  return [
    ...["-hide_banner", "-loglevel", "error", "-nostats", "-progress", "pipe:2"],
    ...[
      "-f",
      "x11grab",
      "-framerate",
      String(framerate),
      "-video_size",
      `${String(width)}x${String(height)}`,
      "-i",
      `${name}+0,0`,
    ],
    ...[
      "-vf",
      `scale=${even(width)}:${even(height)}`,
      "-c:v",
      "libx264",
      "-preset",
      "ultrafast",
      "-crf",
      "26",
      "-pix_fmt",
      "yuv420p",
    ],
    ...[
      "-g",
      String(framerate * fragmentSeconds),
      "-force_key_frames",
      `expr:gte(t,n_forced*${String(fragmentSeconds)})`,
    ],
    ...["-movflags", "+frag_keyframe+empty_moov+default_base_moof", "-flush_packets", "1", "-f", "mp4", "pipe:1"],
  ];
}
