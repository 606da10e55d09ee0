import type { Log } from "../../log/log.ts";

export interface UploadQueueOptions {
  /** Uploads all files of a session that are complete. */
  readonly upload: (sessionId: string, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
  /** Sessions whose files are uploaded at once. */
  readonly concurrency?: number;
  readonly firstRetryMs?: number;
}

const maxRetryMs = 5 * 60 * 1000;

interface Entry {
  isRunning: boolean;
  /** The session got further files during its upload. */
  isAgain: boolean;
  failures: number;
  timer: NodeJS.Timeout | undefined;
}

/** A function, so that TypeScript does not narrow across the `await`. */
const needsAnother = ({ isAgain }: Entry) => isAgain;

/** Uploads files of sessions in the background, and retries with a growing pause until they are stored. */
export class UploadQueue {
  readonly #upload: UploadQueueOptions["upload"];
  readonly #log: Log;
  readonly #concurrency: number;
  readonly #firstRetryMs: number;
  readonly #entries = new Map<string, Entry>();
  readonly #waiting = new Set<string>();
  readonly #stop = new AbortController();
  #running = 0;
  /** While the store fails, one session at a time tries it. */
  #failures = 0;
  #changed = Promise.withResolvers<undefined>();

  constructor({ upload, log, concurrency = 2, firstRetryMs = 1000 }: UploadQueueOptions) {
    this.#upload = upload;
    this.#log = log;
    this.#concurrency = concurrency;
    this.#firstRetryMs = firstRetryMs;
  }

  /** Sessions whose files are not stored yet. */
  get size(): number {
    return this.#entries.size;
  }

  /** Never fails. */
  add(sessionId: string): void {
    if (this.#stop.signal.aborted) return;
    const entry = this.#entries.get(sessionId);
    if (entry === undefined) {
      this.#entries.set(sessionId, { isRunning: false, isAgain: false, failures: 0, timer: undefined });
      this.#waiting.add(sessionId);
    } else if (entry.isRunning) entry.isAgain = true;
    this.#fill();
  }

  /** Continues until all files are stored, an upload fails, or the time is over. */
  async close(waitMs: number): Promise<void> {
    const timer = setTimeout(() => {
      this.#stop.abort();
      this.#ring();
    }, waitMs);
    while (this.#entries.size > 0 && this.#failures === 0 && !this.#stop.signal.aborted) await this.#changed.promise;
    clearTimeout(timer);
    this.#stop.abort();
    for (const { timer: retry } of this.#entries.values()) clearTimeout(retry);
    while (this.#running > 0) await this.#changed.promise;
    if (this.#entries.size > 0)
      this.#log.warn(
        { sessions: this.#entries.size },
        "files of sessions are not in the store yet; they remain in the data folder until the next start of this server",
      );
  }

  #fill(): void {
    const most = this.#failures > 0 ? 1 : this.#concurrency;
    for (const sessionId of this.#waiting) {
      if (this.#running >= most || this.#stop.signal.aborted) return;
      this.#waiting.delete(sessionId);
      const entry = this.#entries.get(sessionId);
      if (entry !== undefined) void this.#run(sessionId, entry);
    }
  }

  async #run(sessionId: string, entry: Entry): Promise<void> {
    this.#running += 1;
    entry.isRunning = true;
    entry.isAgain = false;
    try {
      await this.#upload(sessionId, this.#stop.signal);
      entry.failures = 0;
      this.#failures = 0;
      if (needsAnother(entry)) this.#waiting.add(sessionId);
      else this.#entries.delete(sessionId);
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#retry(sessionId, entry, error);
    }
    entry.isRunning = false;
    this.#running -= 1;
    this.#ring();
    this.#fill();
  }

  #retry(sessionId: string, entry: Entry, error: unknown): void {
    entry.failures += 1;
    this.#failures += 1;
    const failures = Math.max(entry.failures, Math.min(this.#failures, 10));
    const delayMs =
      Math.min(maxRetryMs, this.#firstRetryMs * 2 ** Math.min(failures - 1, 20)) * (0.5 + Math.random() / 2);
    this.#log.warn(
      { session_id: sessionId, retry_in_ms: Math.round(delayMs), err: error },
      "files of a session could not be uploaded to the store",
    );
    entry.timer = setTimeout(() => {
      this.#waiting.add(sessionId);
      this.#fill();
    }, delayMs).unref();
  }

  #ring(): void {
    this.#changed.resolve(undefined);
    this.#changed = Promise.withResolvers();
  }
}
