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
import { pause, type CallOptions, type ItemPage, type Transport } from "@shoal/transport";
import { sessionOf, type BrowserSession } from "./browser-session.ts";
import type { Browsers } from "./browsers.ts";

/** A session that was leased from a pool. With `await using` it goes back to the pool at the end of the scope; otherwise it is plain data, to be given back with `browserPools.release`. */
export interface BrowserLease extends BrowserSession {}

/** How a lease is taken and given back. */
export interface AcquireOptions extends CallOptions {
  /** What becomes of the browser at the end of the scope: `true`, the default, cleans it for the next caller, `false` ends it. */
  readonly reuse?: boolean | undefined;
}

/** A wait without an end: it is over when there is a browser. */
type AcquireAtLast = Omit<AcquireBrowser, "acquire_timeout_seconds"> & { readonly acquire_timeout_seconds?: never };

/** What one request asks the service to wait for at most: below the minute after which proxies cut connections that say nothing. */
const longestPollSeconds = 30;
/** Between two requests that were answered at once. */
const shortestPollMs = 500;

/** Pools of warm browsers, to be leased one at a time. */
export class BrowserPools {
  readonly #transport: Transport;
  readonly #browsers: Pick<Browsers, "fetch">;
  /** @param browsers - sends what leases are to `fetch`. */
  constructor(transport: Transport, browsers: Pick<Browsers, "fetch">) {
    this.#transport = transport;
    this.#browsers = browsers;
  }

  /** Makes a pool, which fills in the background. @throws {ApiError} 404 for a profile, an extension or a proxy that does not exist; 409 `name_taken`; 429 when the limits have no room for it. */
  create(body: CreateBrowserPool, options?: CallOptions): Promise<BrowserPool> {
    return this.#transport.call(createBrowserPool, { body }, options);
  }
  /** Lists pools, newest first. `for await` over the page gives all of them, page by page. */
  list(query: ListBrowserPools = {}, options?: CallOptions): Promise<ItemPage<BrowserPool>> {
    return this.#transport.call(listBrowserPools, { query }, options);
  }
  /** Finds a pool. An id is looked for before a name. @throws {ApiError} 404 `not_found`. */
  get(idOrName: string, options?: CallOptions): Promise<BrowserPool> {
    return this.#transport.call(getBrowserPool, { params: { id_or_name: idOrName } }, options);
  }
  /** Changes a pool; fields that are absent stay as they are. Browsers that are leased or warm keep the old configuration, unless `discard_all_idle` replaces the warm ones. @throws {ApiError} 404 `not_found`, 409 `name_taken`, 429. */
  update(idOrName: string, body: UpdateBrowserPool, options?: CallOptions): Promise<BrowserPool> {
    return this.#transport.call(updateBrowserPool, { params: { id_or_name: idOrName }, body }, options);
  }
  /** Deletes a pool and ends its warm browsers; leased ones too with `force`. @throws {ApiError} 404 `not_found`; 400 or 409 while browsers are leased. */
  delete(idOrName: string, body: DeleteBrowserPool = {}, options?: CallOptions): Promise<void> {
    return this.#transport.call(deleteBrowserPool, { params: { id_or_name: idOrName }, body }, options);
  }
  /**
   * Leases a browser. Waits for one when none is warm, in requests of at most 30 seconds each: until there is one, `signal` ends the wait,
   * `totalTimeoutMs` is over, or `acquire_timeout_seconds` is.
   *
   * @example
   * await using browser = await shoal.browserPools.acquire("search");
   * const page = await chromium.connectOverCDP(browser.cdp_ws_url);
   *
   * @param options - `timeoutMs` counts beside the time that the service was asked to wait.
   * @returns `undefined` when `acquire_timeout_seconds` is over without a browser; with 0 the service is asked once.
   * @throws {ApiError} 404 `not_found`; 409 `name_taken`.
   */
  acquire(idOrName: string, body?: AcquireAtLast, options?: AcquireOptions): Promise<BrowserLease>;
  acquire(idOrName: string, body: AcquireBrowser, options?: AcquireOptions): Promise<BrowserLease | undefined>;
  async acquire(idOrName: string, body: AcquireBrowser = {}, options: AcquireOptions = {}): Promise<BrowserLease | undefined> {
    const { acquire_timeout_seconds: waitSeconds = Infinity, ...lease } = body;
    const { idempotencyKey, reuse = true, signal, timeoutMs = 60_000, totalTimeoutMs, ...rest } = options;
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
          timeoutMs: timeoutMs + seconds * 1000,
          ...(totalTimeoutMs !== undefined && { totalTimeoutMs: Math.max(1, totalTimeoutMs - passedMs) }),
          // The answer to a key is kept: a further request with the same one would get the same "none".
          idempotencyKey: typeof idempotencyKey === "string" && poll > 1 ? `${idempotencyKey}-${poll}` : idempotencyKey,
        },
      );
      if (browser !== undefined) return this.#leaseOf(idOrName, browser, reuse);
      if (performance.now() - startedAt >= waitSeconds * 1000) return undefined;
      await pause(Math.max(0, shortestPollMs - (performance.now() - polledAt)), signal);
    }
  }
  /** Gives a leased browser back. The next caller gets it clean, without cookies, storage and tabs; with `reuse: false` it ends. @throws {ApiError} 404 for a session that this pool has not leased. */
  release(idOrName: string, body: ReleaseBrowser, options?: CallOptions): Promise<void> {
    return this.#transport.call(releaseBrowser, { params: { id_or_name: idOrName }, body }, options);
  }
  /** Ends all warm browsers of a pool; it fills again. @throws {ApiError} 404 `not_found`. */
  flush(idOrName: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(flushBrowserPool, { params: { id_or_name: idOrName } }, options);
  }

  #leaseOf(idOrName: string, browser: Browser, reuse: boolean): BrowserLease {
    const { session_id: id } = browser;
    return sessionOf(browser, {
      fetch: (url, init) => this.#browsers.fetch(id, url, init),
      end: () => this.release(idOrName, { session_id: id, reuse }),
    });
  }
}
