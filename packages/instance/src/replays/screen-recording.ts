import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { authorityPath } from "../display/authority-path.ts";
import type { SessionDisplay } from "../display/session-display.ts";
import { log } from "../log.ts";
import { createRecordingFile } from "./recording-file.ts";
import { maxTimerMs, type Recording } from "./recording.ts";
import { maxPictureSide } from "./screen.ts";

export interface ScreenRecordingOptions {
  /** Path of ffmpeg. */
  readonly program: string;
  readonly sessionDir: string;
  readonly display: Pick<SessionDisplay, "name" | "mode">;
  readonly id: string;
  readonly path: string;
  /** Frames per second. */
  readonly framerate: number;
  readonly maxDurationMs: number | undefined;
}

/** Until ffmpeg has its first picture, and until it has written the last one. */
const startTimeoutMs = 20_000;
const closeTimeoutMs = 10_000;
/** A file plays as far as its last fragment. */
const fragmentSeconds = 2;

/**
 * Records a whole screen, with the browser's own windows and the pointer.
 *
 * @throws with what ffmpeg said when it does not start.
 */
export async function beginScreenRecording({
  program,
  sessionDir,
  display,
  id,
  path,
  framerate,
  maxDurationMs,
}: ScreenRecordingOptions): Promise<Recording> {
  const { width, height } = display.mode;
  const child = spawn(program, ffmpegArguments({ name: display.name, width, height, framerate }), {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, XAUTHORITY: authorityPath(sessionDir) },
  });
  let lastWords = "";
  let recordedMs = 0;
  createInterface(child.stderr).on("line", (line) => {
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (name === undefined) lastWords = `${lastWords}\n${line}`.slice(-1_000);
    else if (name === "out_time_us" && Number.isFinite(Number(value))) recordedMs = Number(value) / 1_000;
  });
  child.stdin.on("error", () => undefined);
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => {
      resolve();
    });
    child.once("error", (error) => {
      lastWords += error.message;
      resolve();
    });
  });
  const file = createRecordingFile(path);
  let startedAtMs: number | undefined;
  let finishedAtMs: number | undefined;
  const first = Promise.withResolvers<undefined>();

  async function write(): Promise<void> {
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      // It says nothing before it has a picture.
      startedAtMs ??= Date.now();
      first.resolve(undefined);
      await file.append(chunk);
      if (file.isFull) stop();
    }
  }

  function finish(): void {
    clearTimeout(limit);
    finishedAtMs ??= Date.now();
  }

  function stop(): void {
    if (finishedAtMs !== undefined) return;
    finish();
    // As at its terminal: it writes what it has, and ends.
    child.stdin.end("q");
    const timer = setTimeout(kill, closeTimeoutMs);
    void ended.then(() => {
      clearTimeout(timer);
    });
  }

  function kill(): void {
    child.kill("SIGKILL");
  }

  const timeout = setTimeout(kill, startTimeoutMs);
  void Promise.all([ended, write().catch(kill)]).then(() => {
    if (finishedAtMs === undefined && startedAtMs !== undefined)
      log("warn", "the recording of a screen broke off", { replay_id: id, last_words: lastWords });
    finish();
    // It takes its last picture some time after it was told to stop.
    if (startedAtMs !== undefined && recordedMs > 0) finishedAtMs = startedAtMs + Math.round(recordedMs);
    file.close();
  });
  const limit = maxDurationMs === undefined ? undefined : setTimeout(stop, Math.min(maxDurationMs, maxTimerMs));
  await Promise.race([first.promise, ended]);
  clearTimeout(timeout);
  if (startedAtMs === undefined) throw new Error(`ffmpeg recorded nothing. It said: ${lastWords.trim() || "nothing"}`);

  return {
    id,
    startedAtMs,
    file,
    framerate,
    maxDurationMs,
    get finishedAtMs() {
      return finishedAtMs;
    },
    // Pictures and pieces are ffmpeg's own affair.
    show: () => undefined,
    write: () => undefined,
    stop,
    lose: kill,
  };
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
  // The encoder wants them even.
  const even = (side: number): string => String(Math.max(2, Math.round((side * scale) / 2) * 2));
  return [
    ...["-hide_banner", "-loglevel", "error", "-nostats", "-progress", "pipe:2"],
    ...["-f", "x11grab", "-framerate", String(framerate), "-video_size", `${String(width)}x${String(height)}`, "-i", `${name}+0,0`],
    ...["-vf", `scale=${even(width)}:${even(height)}`, "-c:v", "libx264", "-preset", "ultrafast", "-crf", "26", "-pix_fmt", "yuv420p"],
    ...["-g", String(framerate * fragmentSeconds), "-force_key_frames", `expr:gte(t,n_forced*${String(fragmentSeconds)})`],
    ...["-movflags", "+frag_keyframe+empty_moov+default_base_moof", "-flush_packets", "1", "-f", "mp4", "pipe:1"],
  ];
}
