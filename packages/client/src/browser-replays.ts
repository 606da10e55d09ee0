import { downloadReplay, listReplays, markReplay, startReplay, stopReplay } from "@shoal/contract";
import type { MarkReplay, Replay, ReplayMark, StartReplay } from "@shoal/schemas";
import { pause, TimeoutError, type CallOptions, type Download, type DownloadOptions, type Transport, type TransportHooks } from "@shoal/transport";

/** How long to wait for a recording's file. */
export interface ReplayDownloadOptions extends DownloadOptions {
  /** Milliseconds to wait for the file while it is being written, in all; 300,000 (5 minutes) when absent. */
  readonly totalTimeoutMs?: number | undefined;
}

const defaultWaitMs = 300_000;
const firstPauseMs = 250;
const longestPauseMs = 2000;

/** Makes a transport like the client's own that one more listener hears of. */
export type ListeningTransport = (hooks: TransportHooks) => Transport;

/** Recordings of a session's screen. They are kept after the session. */
export class BrowserReplays {
  readonly #transport: Transport;
  readonly #listening: ListeningTransport;
  constructor(transport: Transport, listening: ListeningTransport = () => transport) {
    this.#transport = transport;
    this.#listening = listening;
  }

  /** Lists the session's recordings, oldest first. */
  list(browserId: string, options?: CallOptions): Promise<Replay[]> {
    return this.#transport.call(listReplays, { params: { id: browserId } }, options);
  }
  /** Begins to record. It ends with {@link stop}, after `max_duration_in_seconds`, or with the session. @throws {ApiError} 409 when no more recordings can run. */
  start(browserId: string, body: StartReplay = {}, options?: CallOptions): Promise<Replay> {
    return this.#transport.call(startReplay, { params: { id: browserId }, body }, options);
  }
  /** Begins a chapter of a recording, now or at `body.offset_seconds`. @throws {ApiError} 404 `not_found`; 409 when it has 500. */
  mark(browserId: string, replayId: string, body: MarkReplay, options?: CallOptions): Promise<ReplayMark> {
    return this.#transport.call(markReplay, { params: { id: browserId, replay_id: replayId }, body }, options);
  }
  /** Ends a recording; its file is written then. @throws {ApiError} 404 `not_found`. */
  stop(browserId: string, replayId: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(stopReplay, { params: { id: browserId, replay_id: replayId } }, options);
  }
  /**
   * Downloads a recording as a stream: MP4 (H.264). Waits for the file while it is being written, and asks again as seldom as the service wishes.
   *
   * @throws {ApiError} 404 `not_found`; {@link TimeoutError} when the file is not there after `totalTimeoutMs`, for a recording that goes on for instance.
   */
  async download(browserId: string, replayId: string, options: ReplayDownloadOptions = {}): Promise<Download> {
    const { totalTimeoutMs: waitMs = defaultWaitMs, ...others } = options;
    const until = performance.now() + waitMs;
    let wishedMs: number | undefined;
    // A download that is not there yet has no headers to look at.
    const transport = this.#listening({ onResponse: ({ responseHeaders }) => void (wishedMs = retryAfterMs(responseHeaders)) });
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const download = await transport.download(downloadReplay, { params: { id: browserId, replay_id: replayId } }, others);
      if (download !== undefined) return download;
      const leftMs = until - performance.now();
      if (leftMs <= 0)
        throw new TimeoutError(
          `browsers.replays.download waited ${waitMs} ms for the file of replay ${replayId}, which is still being written. Stop the recording if it goes on; raise totalTimeoutMs if the file needs longer.`,
          waitMs,
        );
      await pause(Math.min(wishedMs ?? pauseMs, leftMs), options.signal);
    }
  }
}

/** What `Retry-After` asks for, at least the first pause: 0 would ask without end. `undefined` where it says nothing that is understood. */
function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(ms, firstPauseMs);
}
