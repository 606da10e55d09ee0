import {
  acquireBrowser,
  createBrowserPool,
  deleteBrowserPool,
  flushBrowserPool,
  getBrowserPool,
  listBrowserPools,
  releaseBrowser,
  updateBrowserPool,
} from "@shoal/contract";
import type {
  AcquireBrowser,
  Browser,
  BrowserPool,
  CreateBrowserPool,
  DeleteBrowserPool,
  ListBrowserPools,
  ReleaseBrowser,
  UpdateBrowserPool,
} from "@shoal/schemas";
import { pause, type Call, type CallOptions, type ItemPage, type Transport } from "@shoal/transport";
import { sessionOf, type BrowserSession } from "./session/browser-session.ts";
import type { Browsers } from "./browsers.ts";
import { pollLimits } from "../waits/wait-limits.ts";

/** A leased session. With `await using` it returns to the pool at the end of the scope; otherwise call `browserPools.release`. */
export interface BrowserLease extends BrowserSession {}

export interface AcquireOptions extends CallOptions {
  /** At the end of the scope `true` (default) cleans the browser for the next caller, `false` ends it. */
  readonly reuse?: boolean | undefined;
}

type AcquireAtLast = Omit<AcquireBrowser, "acquire_timeout_seconds"> & { readonly acquire_timeout_seconds?: never };

/** Longest wait of one request, below the minute after which proxies cut idle connections. */
const longestPollSeconds = 30;
/** Pause between two requests that were answered immediately. */
const shortestPollMs = 500;

/** Pools of warm browsers. */
export class BrowserPools {
  readonly #transport: Transport;
  readonly #browsers: Browsers;
  /** @param browsers - has the methods of leases. */
  constructor(transport: Transport, browsers: Browsers) {
    this.#transport = transport;
    this.#browsers = browsers;
  }

  /** Creates a pool, which fills in the background. @throws {ApiError} 404 for an unknown profile, extension or proxy; 409 `name_taken`; 429 above the limits. */
  create(body: CreateBrowserPool, options?: CallOptions): Call<BrowserPool> {
    return this.#transport.call(createBrowserPool, { body }, options);
  }
  /** Lists pools, newest first. `for await` iterates over all pages. */
  list(query: ListBrowserPools = {}, options?: CallOptions): Call<ItemPage<BrowserPool>> {
    return this.#transport.call(listBrowserPools, { query }, options);
  }
  /** Gets a pool. Ids take precedence over names. @throws {ApiError} 404 `not_found`. */
  get(idOrName: string, options?: CallOptions): Call<BrowserPool> {
    return this.#transport.call(getBrowserPool, { params: { id_or_name: idOrName } }, options);
  }
  /** Changes the given fields of a pool. Leased and warm browsers keep the old configuration; `discard_all_idle` replaces the warm ones. @throws {ApiError} 404 `not_found`, 409 `name_taken`, 429. */
  update(idOrName: string, body: UpdateBrowserPool, options?: CallOptions): Call<BrowserPool> {
    return this.#transport.call(updateBrowserPool, { params: { id_or_name: idOrName }, body }, options);
  }
  /** Deletes a pool and ends its warm browsers; with `force` also leased ones. @throws {ApiError} 404 `not_found`; 400 or 409 while browsers are leased. */
  delete(idOrName: string, body: DeleteBrowserPool = {}, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteBrowserPool, { params: { id_or_name: idOrName }, body }, options);
  }
  /**
   * Leases a browser. Waits for a free one, in requests of at most 30 seconds, until `signal`, `totalTimeoutMs` or
   * `acquire_timeout_seconds` ends the wait.
   *
   * @example
   * await using browser = await shoal.browserPools.acquire("search");
   * const page = await chromium.connectOverCDP(browser.cdp_ws_url);
   *
   * @param options - `timeoutMs` excludes the requested waiting time.
   * @returns `undefined` when `acquire_timeout_seconds` ends without a browser; 0 means one request without waiting.
   * @throws {ApiError} 404 `not_found`; 409 `name_taken`.
   */
  acquire(idOrName: string, body?: AcquireAtLast, options?: AcquireOptions): Promise<BrowserLease>;
  acquire(idOrName: string, body: AcquireBrowser, options?: AcquireOptions): Promise<BrowserLease | undefined>;
  async acquire(
    idOrName: string,
    body: AcquireBrowser = {},
    options: AcquireOptions = {},
  ): Promise<BrowserLease | undefined> {
    const { acquire_timeout_seconds: waitSeconds = Infinity, ...lease } = body;
    const { idempotencyKey, reuse = true, signal, timeoutMs, totalTimeoutMs, ...rest } = options;
    const startedAt = performance.now();
    for (let poll = 1; ; poll += 1) {
      const polledAt = performance.now();
      const passedMs = polledAt - startedAt;
      const seconds = Math.min(longestPollSeconds, Math.max(0, Math.ceil(waitSeconds - passedMs / 1000)));
      const browser = await this.#transport.call(
        acquireBrowser,
        { params: { id_or_name: idOrName }, body: { ...lease, acquire_timeout_seconds: seconds } },
        {
          ...rest,
          signal,
          ...pollLimits(seconds, passedMs, { timeoutMs, totalTimeoutMs }),
          // The service stores the response to a key: the same key would return "none" again.
          idempotencyKey: typeof idempotencyKey === "string" && poll > 1 ? `${idempotencyKey}-${poll}` : idempotencyKey,
        },
      );
      if (browser !== undefined) return this.#leaseOf(idOrName, browser, reuse);
      if (performance.now() - startedAt >= waitSeconds * 1000) return undefined;
      await pause(Math.max(0, shortestPollMs - (performance.now() - polledAt)), signal);
    }
  }
  /** Returns a leased browser. It is cleaned of cookies, storage and tabs for the next caller; with `reuse: false` it ends. @throws {ApiError} 404 for a session that is not leased from this pool. */
  release(idOrName: string, body: ReleaseBrowser, options?: CallOptions): Call<void> {
    return this.#transport.call(releaseBrowser, { params: { id_or_name: idOrName }, body }, options);
  }
  /** Ends all warm browsers of a pool, which then fills again. @throws {ApiError} 404 `not_found`. */
  flush(idOrName: string, options?: CallOptions): Call<void> {
    return this.#transport.call(flushBrowserPool, { params: { id_or_name: idOrName } }, options);
  }

  #leaseOf(idOrName: string, browser: Browser, reuse: boolean): BrowserLease {
    const { session_id: id } = browser;
    return sessionOf(browser, this.#browsers, () => this.release(idOrName, { session_id: id, reuse }));
  }
}
