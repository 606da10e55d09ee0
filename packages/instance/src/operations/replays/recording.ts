import pLimit from "p-limit";
import pTimeout from "p-timeout";
import { log } from "../../system/log.ts";
import type { Encoder } from "./encoder.ts";
import { createRecordingFile, type RecordingFile } from "./recording-file.ts";
import type { Frame } from "./screen.ts";

export interface Recording {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  /** Milliseconds since 1970; `undefined` while the recording runs. */
  readonly finishedAtMs: number | undefined;
  readonly file: RecordingFile;
  /** Maximum number of frames per second. */
  readonly framerate: number;
  /** The recording ends automatically after this time. */
  readonly maxDurationMs: number | undefined;
  show(frame: Frame): void;
  write(bytes: Buffer): void;
  /** Ends the recording; the file is complete soon after. */
  stop(): void;
  /** The encoder has ended: the file stays as it is. */
  lose(): void;
}

export interface RecordingOptions {
  readonly id: string;
  readonly path: string;
  readonly framerate: number;
  readonly maxDurationMs: number | undefined;
  /** Must have a file of this id open. */
  readonly encoder: Encoder;
  readonly first: Frame | undefined;
}

/** Interval for repeating an unchanged picture, so that the file's duration grows. */
const repeatMs = 1_000;
/** An encoder that needs longer to finish a file hangs. */
const closeTimeoutMs = 10_000;
/** Longest delay of a Node timer. */
export const maxTimerMs = 2 ** 31 - 1;

export function beginRecording(options: RecordingOptions): Recording {
  return new EncodedRecording(options);
}

class EncodedRecording implements Recording {
  readonly id: string;
  readonly startedAtMs = Date.now();
  readonly file: RecordingFile;
  readonly framerate: number;
  readonly maxDurationMs: number | undefined;
  readonly #encoder: Encoder;
  readonly #frameMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #limit: NodeJS.Timeout | undefined;
  readonly #writes = pLimit(1);
  /** The latest picture, until it is sent. */
  #next: Frame | undefined;
  #hasPicture = false;
  #sending: Promise<unknown> | undefined;
  #lastSentMs = Number.NEGATIVE_INFINITY;
  #finishedAtMs: number | undefined;
  #over = false;

  constructor({ id, path, framerate, maxDurationMs, encoder, first }: RecordingOptions) {
    this.id = id;
    this.file = createRecordingFile(path);
    this.framerate = framerate;
    this.maxDurationMs = maxDurationMs;
    this.#encoder = encoder;
    this.#next = first;
    this.#frameMs = 1000 / framerate;
    this.#timer = setInterval(
      () => {
        this.#tick();
      },
      Math.min(this.#frameMs, repeatMs),
    );
    if (maxDurationMs !== undefined)
      this.#limit = setTimeout(
        () => {
          this.stop();
        },
        Math.min(maxDurationMs, maxTimerMs),
      );
  }

  get finishedAtMs(): number | undefined {
    return this.#finishedAtMs;
  }

  show(frame: Frame): void {
    this.#next = frame;
    if (Date.now() - this.#lastSentMs >= this.#frameMs) this.#tick();
  }

  write(bytes: Buffer): void {
    if (this.#over) return;
    this.#writes(() => this.#append(bytes)).catch((error: unknown) => {
      if (!this.#over)
        log("warn", "a recording ended because its file could not be written", {
          replay_id: this.id,
          error: String(error),
        });
      this.lose();
    });
  }

  stop(): void {
    if (this.#finishedAtMs !== undefined) return;
    void this.#close(this.#secondsAt(this.#end()));
  }

  lose(): void {
    this.#end();
    if (this.#over) return;
    this.#over = true;
    void this.#writes(() => {
      this.file.close();
    });
  }

  #tick(): void {
    if (this.#sending !== undefined || this.#finishedAtMs !== undefined) return;
    const now = Date.now();
    // Timers may fire slightly early.
    if (this.#next !== undefined && now - this.#lastSentMs >= this.#frameMs - 2) {
      const frame = this.#next;
      this.#next = undefined;
      this.#hasPicture = true;
      this.#send(now, this.#encoder.call("frame", this.id, this.#secondsAt(frame.atMs), frame.jpeg));
    } else if (this.#hasPicture && now - this.#lastSentMs >= repeatMs)
      this.#send(now, this.#encoder.call("repeat", this.id, this.#secondsAt(now)));
  }

  #send(now: number, call: Promise<void>): void {
    this.#lastSentMs = now;
    // Skips a frame that cannot be decoded; another event reports an encoder that ended.
    this.#sending = call
      .catch(() => undefined)
      .finally(() => {
        this.#sending = undefined;
      });
  }

  async #append(bytes: Buffer): Promise<void> {
    await this.file.append(bytes);
    if (this.file.isFull) this.stop();
  }

  /** Stops taking pictures. Returns the time of the recording's end. */
  #end(): number {
    clearInterval(this.#timer);
    clearTimeout(this.#limit);
    return (this.#finishedAtMs ??= Date.now());
  }

  async #close(seconds: number): Promise<void> {
    // The existing part stays when the encoder fails or hangs.
    await pTimeout(this.#encodeEnd(seconds), { milliseconds: closeTimeoutMs }).catch(() => undefined);
    this.lose();
  }

  async #encodeEnd(seconds: number): Promise<void> {
    await this.#sending;
    // The last picture, even if it was not due yet.
    const last = this.#next;
    if (last !== undefined)
      await this.#encoder
        .call("frame", this.id, Math.min(this.#secondsAt(last.atMs), seconds), last.jpeg)
        .catch(() => undefined);
    await this.#encoder.call("close", this.id, seconds);
  }

  #secondsAt(atMs: number): number {
    return Math.max(0, atMs - this.startedAtMs) / 1000;
  }
}
