import { createBrowser, deleteBrowser, getBrowser, listBrowsers, updateBrowser } from "@shoal/contract";
import type { Browser, CreateBrowser, GetBrowser, ListBrowsers, UpdateBrowser } from "@shoal/schemas";
import { ApiError, type CallOptions, type ItemPage, type Transport } from "@shoal/transport";
import { BrowserFiles } from "./browser-fs.ts";

/** A session that was just started. With `await using` it ends with the scope; otherwise it is plain data and lives on. */
export interface BrowserSession extends Browser, AsyncDisposable {}

/** Browser sessions. */
export class Browsers {
  /** The sessions' files. */
  readonly fs: BrowserFiles;
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
    this.fs = new BrowserFiles(transport);
  }

  /**
   * Starts a session. Answers when its browser takes CDP connections, at `cdp_ws_url`.
   *
   * @example
   * await using browser = await shoal.browsers.create({ timeout_seconds: 300 });
   * const page = await chromium.connectOverCDP(browser.cdp_ws_url);
   *
   * @throws {ApiError} 409 `name_taken`; 404 for a profile that does not exist; 429 or 529 when there is no room; 501 for an option that this service cannot serve.
   */
  async create(body: CreateBrowser = {}, options?: CallOptions): Promise<BrowserSession> {
    const browser = await this.#transport.call(createBrowser, { body }, options);
    const end = async (): Promise<void> => {
      try {
        await this.delete(browser.session_id);
      } catch (error) {
        // It has ended by itself, or somebody else ended it.
        if (!ApiError.isInstance(error) || error.status !== 404) throw error;
      }
    };
    // Not enumerable: printed, copied and serialised, the session is data only.
    Object.defineProperty(browser, Symbol.asyncDispose, { value: end });
    return browser as BrowserSession;
  }
  /** Lists sessions, newest first: those that run, unless `status` says otherwise. `for await` over the page gives all of them, page by page. */
  list(query: ListBrowsers = {}, options?: CallOptions): Promise<ItemPage<Browser>> {
    return this.#transport.call(listBrowsers, { query }, options);
  }
  /** Finds a session by its id, or a running one by its name; one that has ended by its id with `include_deleted`. @throws {ApiError} 404 `not_found`. */
  get(idOrName: string, query: GetBrowser = {}, options?: CallOptions): Promise<Browser> {
    return this.#transport.call(getBrowser, { params: { id_or_name: idOrName }, query }, options);
  }
  /** Changes a running session; fields that are absent stay as they are. @throws {ApiError} 404 `not_found`, 409 `name_taken`. */
  update(idOrName: string, body: UpdateBrowser, options?: CallOptions): Promise<Browser> {
    return this.#transport.call(updateBrowser, { params: { id_or_name: idOrName }, body }, options);
  }
  /** Ends a session with everything that runs beside its browser, and its files. @throws {ApiError} 404 `not_found`. */
  delete(idOrName: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(deleteBrowser, { params: { id_or_name: idOrName } }, options);
  }
}
