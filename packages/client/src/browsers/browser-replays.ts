import { downloadReplay, listReplays, markReplay, startReplay, stopReplay } from "@shoal/contract";
import type { MarkReplay, Replay, ReplayMark, StartReplay } from "@shoal/schemas";
import {
  pause,
  TimeoutError,
  type Call,
  type CallOptions,
  type Download,
  type DownloadOptions,
  type Transport,
  type TransportHooks,
} from "@shoal/transport";

export interface ReplayDownloadOptions extends DownloadOptions {
  /** Total milliseconds to wait for a file that is being written. Default 300,000 (5 minutes). */
  readonly totalTimeoutMs?: number | undefined;
}

const defaultWaitMs = 300_000;
const firstPauseMs = 250;
const longestPauseMs = 2000;

/** Creates a transport with additional hooks. */
export type ListeningTransport = (hooks: TransportHooks) => Transport;

/** Recordings of a session's screen, which outlive the session. */
export class BrowserReplays {
  readonly #transport: Transport;
  readonly #listening: ListeningTransport;
  constructor(transport: Transport, listening: ListeningTransport = () => transport) {
    this.#transport = transport;
    this.#listening = listening;
  }

  /** Lists the session's recordings, oldest first. */
  list(browserId: string, options?: CallOptions): Call<Replay[]> {
    return this.#transport.call(listReplays, { params: { id: browserId } }, options);
  }
  /** Starts a recording, until {@link stop}, `max_duration_in_seconds` or the end of the session. @throws {ApiError} 409 for too many recordings. */
  start(browserId: string, body: StartReplay = {}, options?: CallOptions): Call<Replay> {
    return this.#transport.call(startReplay, { params: { id: browserId }, body }, options);
  }
  /** Starts a chapter, now or at `body.offset_seconds`. @throws {ApiError} 404 `not_found`; 409 for more than 500 chapters. */
  mark(browserId: string, replayId: string, body: MarkReplay, options?: CallOptions): Call<ReplayMark> {
    return this.#transport.call(markReplay, { params: { id: browserId, replay_id: replayId }, body }, options);
  }
  /** Ends a recording; its file is written afterwards. @throws {ApiError} 404 `not_found`; 409 `conflict` for a recording with `by_default`. */
  stop(browserId: string, replayId: string, options?: CallOptions): Call<void> {
    return this.#transport.call(stopReplay, { params: { id: browserId, replay_id: replayId } }, options);
  }
  /** Downloads a recording as a stream: MP4 (H.264). Polls while the file is being written. @throws {ApiError} 404 `not_found`; {@link TimeoutError} after `totalTimeoutMs`, for example because the recording still runs. */
  async download(browserId: string, replayId: string, options: ReplayDownloadOptions = {}): Promise<Download> {
    const { totalTimeoutMs: waitMs = defaultWaitMs, ...others } = options;
    const until = performance.now() + waitMs;
    let wishedMs: number | undefined;
    // A pending download returns no headers, so a hook reads them.
    const transport = this.#listening({
      onResponse: ({ responseHeaders }) => void (wishedMs = retryAfterMs(responseHeaders)),
    });
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const download = await transport.download(
        downloadReplay,
        { params: { id: browserId, replay_id: replayId } },
        others,
      );
      if (download !== undefined) return download;
      const leftMs = until - performance.now();
      if (leftMs <= 0)
        throw new TimeoutError(
          `The file of replay ${replayId} was not ready after ${waitMs} ms. Stop the recording, or raise totalTimeoutMs.`,
          waitMs,
        );
      await pause(Math.min(wishedMs ?? pauseMs, leftMs), options.signal);
    }
  }
}

/** At least the first pause, because 0 would poll without pause. `undefined` when the header is missing or invalid. */
function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(ms, firstPauseMs);
}
