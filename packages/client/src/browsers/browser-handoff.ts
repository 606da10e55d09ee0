import {
  cancelHandoff,
  createLiveViewLink,
  deleteLiveViewLink,
  getHandoff,
  listLiveViewLinks,
  releaseHandoff,
  requestHandoff,
} from "@shoal/contract";
import type {
  CreatedLiveViewLink,
  CreateLiveViewLink,
  GetHandoff,
  Handoff,
  ListLiveViewLinks,
  LiveViewLink,
  ReleaseHandoff,
  RequestHandoff,
} from "@shoal/schemas";
import { TimeoutError, type Call, type CallOptions, type ItemPage, type Transport } from "@shoal/transport";
import { pollLimits, waitingUpTo } from "../waits/wait-limits.ts";

/** Longest wait of one request, below the minute after which proxies cut idle connections. */
const longestPollSeconds = 30;

/** Control of a session by a person, while its programs pause. */
export class BrowserHandoff {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Pauses input by programs and returns a link for the person. Reading continues. @throws {ApiError} 409 `handoff_active` for a second one. */
  request(browserId: string, body: RequestHandoff, options?: CallOptions): Call<Handoff> {
    return this.#transport.call(requestHandoff, { params: { id: browserId }, body }, options);
  }
  /** Gets the latest handoff, or the one of `handoff_id`. With `wait_seconds`, resolves at its end or after this time; the default of `timeoutMs` is longer by it. @throws {ApiError} 404 `not_found`. */
  get(browserId: string, query: GetHandoff = {}, options?: CallOptions): Call<Handoff> {
    return this.#transport.call(
      getHandoff,
      { params: { id: browserId }, query },
      waitingUpTo(query.wait_seconds, options),
    );
  }
  /** Ends the handoff; programs continue. Returns an ended one unchanged. @throws {ApiError} 404 `not_found`. */
  release(browserId: string, body: ReleaseHandoff = {}, options?: CallOptions): Call<Handoff> {
    return this.#transport.call(releaseHandoff, { params: { id: browserId }, body }, options);
  }
  /** Withdraws the request; programs continue. Returns an ended one unchanged. @throws {ApiError} 404 `not_found`. */
  cancel(browserId: string, options?: CallOptions): Call<Handoff> {
    return this.#transport.call(cancelHandoff, { params: { id: browserId } }, options);
  }
  /**
   * Waits for the end of the latest handoff, or of the one of `handoff_id`: `released`, `expired` or `canceled`.
   *
   * @example
   * const { url } = await shoal.browsers.handoff.request(id, { message: "Please sign in." });
   * const { status, note } = await shoal.browsers.handoff.done(id);
   *
   * @param options - `timeoutMs` excludes the wait, and `totalTimeoutMs` ends it.
   * @throws {TimeoutError} after `totalTimeoutMs`; {@link ApiError} 404 `not_found`.
   */
  async done(
    browserId: string,
    query: Pick<GetHandoff, "handoff_id"> = {},
    options: CallOptions = {},
  ): Promise<Handoff> {
    const startedAt = performance.now();
    const { totalTimeoutMs = Infinity } = options;
    for (;;) {
      const passedMs = performance.now() - startedAt;
      if (passedMs >= totalTimeoutMs)
        throw new TimeoutError(
          `The handoff did not end within ${totalTimeoutMs} ms. Raise totalTimeoutMs.`,
          totalTimeoutMs,
        );
      const handoff = await this.get(
        browserId,
        { ...query, wait_seconds: longestPollSeconds },
        { ...options, ...pollLimits(longestPollSeconds, passedMs, options) },
      );
      if (handoff.ended_at !== null) return handoff;
    }
  }
}

/** Links to the live view of a session, with a scope, an expiry and the name of a person. */
export class LiveViewLinks {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Creates a link. Only this answer has its `url`. @throws {ApiError} 409 `conflict` at 100 links. */
  create(browserId: string, body: CreateLiveViewLink = {}, options?: CallOptions): Call<CreatedLiveViewLink> {
    return this.#transport.call(createLiveViewLink, { params: { id: browserId }, body }, options);
  }
  /** Lists valid links, newest first. `for await` iterates over all pages. */
  list(browserId: string, query: ListLiveViewLinks = {}, options?: CallOptions): Call<ItemPage<LiveViewLink>> {
    return this.#transport.call(listLiveViewLinks, { params: { id: browserId }, query }, options);
  }
  /** Revokes a link and disconnects its viewers. @throws {ApiError} 404 `not_found`. */
  delete(browserId: string, linkId: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteLiveViewLink, { params: { id: browserId, link_id: linkId } }, options);
  }
}
