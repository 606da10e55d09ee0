import {
  createBrowser,
  curl,
  deleteBrowser,
  extendBrowser,
  getBrowser,
  listBrowsers,
  loadExtensions,
  saveBrowserProfile,
  updateBrowser,
  type BytesInput,
} from "@shoal/contract";
import type { Browser, CreateBrowser, Curl, CurlResult, ExtendBrowser, GetBrowser, ListBrowsers, Profile, UpdateBrowser } from "@shoal/schemas";
import type { CallOptions, ItemPage, Transport } from "@shoal/transport";
import { BrowserComputer } from "./browser-computer.ts";
import { browserFetch, type BrowserFetchInit, type BrowserFetchParts } from "./browser-fetch.ts";
import { BrowserFiles } from "./browser-fs.ts";
import { BrowserLogs } from "./browser-logs.ts";
import { BrowserPlaywright } from "./browser-playwright.ts";
import { BrowserProcesses } from "./browser-processes.ts";
import { BrowserReplays, type ListeningTransport } from "./browser-replays.ts";
import { sessionOf, type BrowserSession } from "./browser-session.ts";
import { SessionTelemetry } from "./browser-telemetry.ts";

/** An extension to load: its name within the session, and the unpacked extension as a ZIP archive. */
export interface SessionExtension {
  readonly name: string;
  readonly zip_file: BytesInput;
}

/** Browser sessions. */
export class Browsers {
  /** The sessions' files. */
  readonly fs: BrowserFiles;
  /** Mouse, keyboard, screen and clipboard. */
  readonly computer: BrowserComputer;
  /** Playwright code beside the browser. */
  readonly playwright: BrowserPlaywright;
  /** Processes beside the browser. */
  readonly process: BrowserProcesses;
  /** The sessions' logs. */
  readonly logs: BrowserLogs;
  /** What happens in the sessions. */
  readonly telemetry: SessionTelemetry;
  /** Recordings of the sessions' screens. */
  readonly replays: BrowserReplays;
  readonly #transport: Transport;
  readonly #fetchParts: BrowserFetchParts;
  constructor(
    transport: Transport,
    { listening, ...fetchParts }: Omit<BrowserFetchParts, "transport"> & { readonly listening?: ListeningTransport } = {
      routes: undefined,
      fetch: undefined,
    },
  ) {
    this.#transport = transport;
    this.#fetchParts = { transport, ...fetchParts };
    this.fs = new BrowserFiles(transport);
    this.computer = new BrowserComputer(transport);
    this.playwright = new BrowserPlaywright(transport);
    this.process = new BrowserProcesses(transport);
    this.logs = new BrowserLogs(transport);
    this.telemetry = new SessionTelemetry(transport);
    this.replays = new BrowserReplays(transport, listening);
  }

  /**
   * Starts a session. Answers when its browser takes CDP connections, at `cdp_ws_url`.
   *
   * @example
   * await using browser = await shoal.browsers.create({ timeout_seconds: 300 });
   * const page = await chromium.connectOverCDP(browser.cdp_ws_url);
   *
   * @throws {ApiError} 400 `bad_request` for an option that does not fit, or that this host cannot give; 404 for a profile, proxy or extension that does not exist; 409 `name_taken`,
   * or `profile_in_use` when another session writes to the profile; 429 `too_many_requests` at the project's limit, 529 `capacity_exhausted` when the server is full; 501 for `invocation_id`.
   */
  async create(body: CreateBrowser = {}, options?: CallOptions): Promise<BrowserSession> {
    const browser = await this.#transport.call(createBrowser, { body }, options);
    const { session_id: id } = browser;
    return sessionOf(browser, { fetch: (url, init) => this.fetch(id, url, init), end: () => this.delete(id) });
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
  /** Gives a running session more time: the time without use is counted from now, and that of `max_duration_seconds` too. @throws {ApiError} 404 `not_found`. */
  extend(idOrName: string, body: ExtendBrowser = {}, options?: CallOptions): Promise<Browser> {
    return this.#transport.call(extendBrowser, { params: { id_or_name: idOrName }, body }, options);
  }
  /** Ends a session with everything that runs beside its browser, and its files. @throws {ApiError} 404 `not_found`. */
  delete(idOrName: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(deleteBrowser, { params: { id_or_name: idOrName } }, options);
  }
  /** Saves a running session's state to its profile, which it must have been given with `save_changes`. @throws {ApiError} 404 `not_found`; 409 `conflict` without such a profile. */
  saveProfile(idOrName: string, options?: CallOptions): Promise<Profile> {
    return this.#transport.call(saveBrowserProfile, { params: { id_or_name: idOrName } }, options);
  }
  /**
   * Sends an HTTP request through the browser: with its cookies, its TLS and its proxy. Redirects are followed. The answer is held in memory; see {@link fetch} for a stream.
   *
   * @returns what the site answered, whatever its status. One try waits for `timeout_ms` and 10 seconds, unless `timeoutMs` is given.
   * @throws {ApiError} 502 when the browser gets no answer; `fields.net_error_name` is Chromium's reason.
   */
  curl(browserId: string, body: Curl, options: CallOptions = {}): Promise<CurlResult> {
    const timeoutMs = options.timeoutMs ?? (body.timeout_ms ?? 30_000) + 10_000;
    return this.#transport.call(curl, { params: { id: browserId }, body }, { ...options, timeoutMs });
  }
  /**
   * Sends a request through the browser's network and gives a standard `Response`. It is streamed from the session's own address where
   * that is known, from `create`, `get` or `list`; otherwise it goes through {@link curl}, whole in memory and with bodies of text only.
   * Sent once, as `fetch` does.
   *
   * @example
   * const response = await shoal.browsers.fetch(id, "https://example.com/api", { method: "POST", body: JSON.stringify({ a: 1 }) });
   *
   * @throws {ApiError} 502 when the browser gets no answer; `TypeError` for what cannot be sent.
   */
  fetch(browserId: string, url: string | URL, init: BrowserFetchInit = {}): Promise<Response> {
    return browserFetch(this.#fetchParts, browserId, url, init);
  }
  /** Loads extensions into a running session, at most 20. CDP clients may have to connect anew. @throws {ApiError} 400 for an archive without `manifest.json`. */
  loadExtensions(browserId: string, body: { readonly extensions: readonly SessionExtension[] }, options?: CallOptions): Promise<void> {
    return this.#transport.call(loadExtensions, { params: { id: browserId }, body }, options);
  }
}
