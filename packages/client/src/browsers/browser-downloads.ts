import { getBrowserDownload, listBrowserDownloads, readBrowserDownload, waitForDownload } from "@shoal/contract";
import type { BrowserDownload, ListBrowserDownloads, WaitForDownload } from "@shoal/schemas";
import {
  TimeoutError,
  type Call,
  type CallOptions,
  type Download,
  type DownloadOptions,
  type ItemPage,
  type Transport,
} from "@shoal/transport";
import { pollLimits, waitingUpTo } from "../waits/wait-limits.ts";

/** Options of `browsers.downloads.waitForDownload`. */
export interface WaitForDownloadOptions extends Omit<CallOptions, "timeoutMs" | "idempotencyKey"> {
  /** `download_id` of a finished download: wait for the download that finishes next. Default: the first of the session. */
  readonly after?: string | undefined;
  /** Total milliseconds to wait. Default 60,000. */
  readonly timeoutMs?: number | undefined;
}

/** Longest wait of one request, below the minute after which proxies cut idle connections. */
const longestPollSeconds = 30;

/** Downloads of a session, with any download settings of its clients. */
export class BrowserDownloads {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists downloads, newest first; after the end of the session the downloads that the service kept. `for await` iterates over all pages. */
  list(browserId: string, query: ListBrowserDownloads = {}, options?: CallOptions): Call<ItemPage<BrowserDownload>> {
    return this.#transport.call(listBrowserDownloads, { params: { id: browserId }, query }, options);
  }
  /** Gets a download, also while it runs. @throws {ApiError} 404 `not_found`. */
  get(browserId: string, downloadId: string, options?: CallOptions): Call<BrowserDownload> {
    return this.#transport.call(getBrowserDownload, { params: { id: browserId, download_id: downloadId } }, options);
  }
  /** Downloads the file as a stream. Read the stream to its end or cancel it. @throws {ApiError} 404 `not_found` without a complete file. */
  read(browserId: string, downloadId: string, options?: DownloadOptions): Promise<Download> {
    return this.#transport.download(
      readBrowserDownload,
      { params: { id: browserId, download_id: downloadId } },
      options,
    );
  }
  /** Waits in one request, up to `body.timeout_seconds`; `undefined` if none finished. {@link waitForDownload} repeats it. @throws {ApiError} 404 `not_found` for an ended session or an unknown `after`. */
  wait(browserId: string, body: WaitForDownload = {}, options?: CallOptions): Call<BrowserDownload | undefined> {
    return this.#transport.call(
      waitForDownload,
      { params: { id: browserId }, body },
      waitingUpTo(body.timeout_seconds ?? longestPollSeconds, options),
    );
  }
  /**
   * Waits for the first finished download after `after`, also if it finished before the call. It may be
   * `canceled` or `interrupted`.
   *
   * @example
   * const { path, sha256, download_id } = await shoal.browsers.downloads.waitForDownload(id);
   * const next = await shoal.browsers.downloads.waitForDownload(id, { after: download_id });
   *
   * @throws {TimeoutError} after `timeoutMs`; {@link ApiError} 404 `not_found` for an ended session or an unknown `after`.
   */
  async waitForDownload(browserId: string, options: WaitForDownloadOptions = {}): Promise<BrowserDownload> {
    const { after, timeoutMs = 60_000, ...others } = options;
    const startedAt = performance.now();
    const until = startedAt + timeoutMs;
    for (;;) {
      const now = performance.now();
      const leftMs = Math.max(0, until - now);
      const timeout_seconds = Math.min(longestPollSeconds, Math.ceil(leftMs / 1000));
      const limits = pollLimits(timeout_seconds, now - startedAt, { totalTimeoutMs: others.totalTimeoutMs });
      const found = await this.wait(browserId, { after, timeout_seconds }, { ...others, ...limits });
      if (found !== undefined) return found;
      if (performance.now() >= until)
        throw new TimeoutError(`No download finished within ${timeoutMs} ms. Raise timeoutMs.`, timeoutMs);
    }
  }
}
