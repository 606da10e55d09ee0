import { log } from "../log.ts";
import type { Encoder } from "./encoder.ts";
import { createRecordingFile, type RecordingFile } from "./recording-file.ts";
import type { Frame } from "./screen.ts";

/** One recording and its file, which grows while it goes on. */
export interface Recording {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  /** Milliseconds since 1970; `undefined` while it goes on. */
  readonly finishedAtMs: number | undefined;
  readonly file: RecordingFile;
  /** Frames per second at most. */
  readonly framerate: number;
  /** It ends by itself after so long. */
  readonly maxDurationMs: number | undefined;
  show(frame: Frame): void;
  /** A piece of its file. */
  write(bytes: Buffer): void;
  /** Ends it; the file is written soon after. */
  stop(): void;
  /** The encoder is gone: the file stays as it is. */
  lose(): void;
}

export interface RecordingOptions {
  readonly id: string;
  readonly path: string;
  /** Frames per second at most. */
  readonly framerate: number;
  readonly maxDurationMs: number | undefined;
  /** Has a file of this id open. */
  readonly encoder: Encoder;
  /** What is seen when it begins. */
  readonly first: Frame | undefined;
}

/** A picture that does not change is written again so often, for the file to keep up with the time. */
const repeatMs = 1_000;
/** An encoder that needs longer for the end of a file has hung. */
const closeTimeoutMs = 10_000;
/** Longest wait that timers can keep. */
export const maxTimerMs = 2 ** 31 - 1;

export function beginRecording({ id, path, framerate, maxDurationMs, encoder, first }: RecordingOptions): Recording {
  const startedAtMs = Date.now();
  const frameMs = 1000 / framerate;
  let finishedAtMs: number | undefined;
  const file = createRecordingFile(path);
  let next = first;
  let hasPicture = false;
  let busy = false;
  let lastSentMs = Number.NEGATIVE_INFINITY;
  let sending: Promise<unknown> = Promise.resolve();
  let writing: Promise<unknown> = Promise.resolve();
  let over = false;
  const timer = setInterval(tick, Math.min(frameMs, repeatMs));
  const limit = maxDurationMs === undefined ? undefined : setTimeout(stop, Math.min(maxDurationMs, maxTimerMs));

  const secondsAt = (atMs: number): number => Math.max(0, atMs - startedAtMs) / 1000;

  function tick(): void {
    if (busy || finishedAtMs !== undefined) return;
    const now = Date.now();
    // Timers come a little early at times.
    if (next !== undefined && now - lastSentMs >= frameMs - 2) {
      const frame = next;
      next = undefined;
      hasPicture = true;
      send(now, encoder.call("frame", id, secondsAt(frame.atMs), frame.jpeg));
    } else if (hasPicture && now - lastSentMs >= repeatMs) send(now, encoder.call("repeat", id, secondsAt(now)));
  }

  function send(now: number, call: Promise<void>): void {
    busy = true;
    lastSentMs = now;
    // One frame that cannot be read is left out; an encoder that is gone is told by itself.
    sending = call
      .catch(() => undefined)
      .finally(() => {
        busy = false;
      });
  }

  function end(): number {
    clearInterval(timer);
    clearTimeout(limit);
    return (finishedAtMs ??= Date.now());
  }

  function stop(): void {
    if (finishedAtMs !== undefined) return;
    void close(secondsAt(end()));
  }

  async function close(seconds: number): Promise<void> {
    const timeout = setTimeout(lose, closeTimeoutMs);
    try {
      await sending;
      // What was seen last, though its turn had not come.
      if (next !== undefined) await encoder.call("frame", id, Math.min(secondsAt(next.atMs), seconds), next.jpeg).catch(() => undefined);
      await encoder.call("close", id, seconds);
    } catch {
      // What is there stays.
    } finally {
      clearTimeout(timeout);
    }
    lose();
  }

  function lose(): void {
    end();
    if (over) return;
    over = true;
    void writing.finally(() => {
      file.close();
    });
  }

  return {
    id,
    startedAtMs,
    file,
    framerate,
    maxDurationMs,
    get finishedAtMs() {
      return finishedAtMs;
    },
    show(frame) {
      next = frame;
      if (!busy && Date.now() - lastSentMs >= frameMs) tick();
    },
    write(bytes) {
      if (over) return;
      writing = writing
        .then(async () => {
          await file.append(bytes);
          if (file.isFull) stop();
        })
        .catch((error: unknown) => {
          if (!over) log("warn", "a recording ended, for it could not be written", { replay_id: id, error: String(error) });
          lose();
        });
    },
    stop,
    lose,
  };
}
