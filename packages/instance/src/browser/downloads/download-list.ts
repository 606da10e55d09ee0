import type { DownloadEnd, ListedDownload, StartedDownload } from "./listed-download.ts";

/** Finished downloads above this number are forgotten, oldest first. Their files stay. */
export const maxListed = 1_000;
const maxRunning = 1_000;

/** Downloads of the session, also of earlier browsers. */
export class DownloadList {
  readonly #running = new Map<string, ListedDownload>();
  /** In the order of their ends. */
  readonly #finished = new Map<string, ListedDownload>();
  readonly #listeners = new Set<(download: ListedDownload) => void>();

  get running(): number {
    return this.#running.size;
  }

  /** @returns `false` at the limit of concurrent downloads. */
  begin({ id, name, url, frameId }: StartedDownload): boolean {
    if (this.#running.size >= maxRunning) return false;
    this.#running.set(id, {
      id,
      name,
      url,
      frameId,
      state: "in_progress",
      path: undefined,
      sizeBytes: undefined,
      receivedBytes: 0,
      sha256: undefined,
      startedAtMs: Date.now(),
      finishedAtMs: undefined,
    });
    return true;
  }

  /** @param totalBytes - 0 = unknown. */
  progress(id: string, receivedBytes: number, totalBytes: number): void {
    const download = this.#running.get(id);
    if (download === undefined) return;
    this.#running.set(id, { ...download, receivedBytes, sizeBytes: totalBytes > 0 ? totalBytes : undefined });
  }

  finish(id: string, end: DownloadEnd): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    const finished = { ...running, ...end, finishedAtMs: Date.now() };
    this.#running.delete(id);
    this.#finished.set(id, finished);
    const [oldest] = this.#finished.keys();
    if (this.#finished.size > maxListed && oldest !== undefined) this.#finished.delete(oldest);
    for (const listener of this.#listeners) listener(finished);
  }

  /** Ends running downloads of a browser that has ended. @param except - their files are complete. */
  interrupt(except: ReadonlySet<string>): void {
    for (const id of this.#running.keys()) if (!except.has(id)) this.finish(id, { state: "interrupted" });
  }

  find(id: string): ListedDownload | undefined {
    return this.#running.get(id) ?? this.#finished.get(id);
  }

  /** Newest first. */
  all(): ListedDownload[] {
    return [...this.#finished.values(), ...this.#running.values()]
      .sort((a, b) => a.startedAtMs - b.startedAtMs)
      .reverse();
  }

  /** Calls `listener` for each download that ends. Returns a function that removes it. */
  onFinished(listener: (download: ListedDownload) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /**
   * Returns the first download that ended after `after`, and waits for one if necessary.
   * @param after - id of a finished download; by default the oldest finished download is returned.
   * @returns `undefined` when `signal` aborts.
   */
  async next(after: string | undefined, signal: AbortSignal): Promise<ListedDownload | undefined> {
    const ids = [...this.#finished.keys()];
    const id = ids[after === undefined ? 0 : ids.indexOf(after) + 1];
    if (id !== undefined) return this.#finished.get(id);
    if (signal.aborted) return undefined;
    return new Promise((resolve) => {
      const stop = this.onFinished(end);
      const abort = () => {
        end(undefined);
      };
      signal.addEventListener("abort", abort, { once: true });
      function end(download: ListedDownload | undefined): void {
        stop();
        signal.removeEventListener("abort", abort);
        resolve(download);
      }
    });
  }

  hasFinished(id: string): boolean {
    return this.#finished.has(id);
  }
}
