import {
  actOnPage,
  createBrowser,
  curl,
  deleteBrowser,
  downloadEvidence,
  extendBrowser,
  forkBrowser,
  getBrowser,
  getBrowserStats,
  listBrowsers,
  loadExtensions,
  observePage,
  printPage,
  readPage,
  renderPage,
  runRepl,
  saveBrowserProfile,
  screenshotPage,
  snapshotBrowser,
  updateBrowser,
} from "@shoal/contract";
import type { BytesInput } from "@shoal/contract/endpoint";
import type {
  ActOnPage,
  ActResult,
  Browser,
  BrowserStats,
  CreateBrowser,
  CreateSnapshot,
  Curl,
  CurlResult,
  DownloadEvidence,
  ExtendBrowser,
  ForkBrowser,
  ForkedBrowsers,
  GetBrowser,
  ListBrowsers,
  ObservePage,
  PageObservation,
  PageText,
  PrintPage,
  Profile,
  ReadPage,
  RenderedPage,
  RenderPage,
  ReplResult,
  RunRepl,
  ScreenshotPage,
  Snapshot,
  UpdateBrowser,
} from "@shoal/schemas";
import {
  ApiError,
  ConnectionError,
  type Call,
  type CallOptions,
  type Download,
  type DownloadOptions,
  type ItemPage,
  type Transport,
} from "@shoal/transport";
import { BrowserComputer } from "./browser-computer.ts";
import type { BrowserFetchInit, BrowserFetchParts } from "./browser-fetch.ts";
import { BrowserDownloads } from "./browser-downloads.ts";
import { BrowserFiles } from "./browser-fs.ts";
import { BrowserHandoff, LiveViewLinks } from "./browser-handoff.ts";
import { BrowserLogs } from "./browser-logs.ts";
import { BrowserPlaywright } from "./browser-playwright.ts";
import { BrowserProcesses } from "./browser-processes.ts";
import { BrowserReplays, type ListeningTransport } from "./browser-replays.ts";
import { SessionTelemetry } from "./browser-telemetry.ts";
import { BrowserTools, BrowserWebMcp } from "./session/browser-tools.ts";
import { attachedTo, sessionOf, type AttachedSession, type BrowserSession } from "./session/browser-session.ts";

/** An extension to load: its name within the session, and a ZIP archive of the unpacked extension. */
export interface SessionExtension {
  readonly name: string;
  readonly zip_file: BytesInput;
}

/** The forks of a session. */
export interface Forks extends Omit<ForkedBrowsers, "browsers"> {
  readonly browsers: BrowserSession[];
}

/** Browser sessions. */
export class Browsers {
  readonly fs: BrowserFiles;
  readonly downloads: BrowserDownloads;
  readonly handoff: BrowserHandoff;
  readonly liveViewLinks: LiveViewLinks;
  readonly computer: BrowserComputer;
  readonly playwright: BrowserPlaywright;
  readonly process: BrowserProcesses;
  readonly logs: BrowserLogs;
  readonly telemetry: SessionTelemetry;
  readonly replays: BrowserReplays;
  readonly tools: BrowserTools;
  readonly webmcp: BrowserWebMcp;
  readonly #transport: Transport;
  readonly #fetchParts: BrowserFetchParts;
  constructor(
    transport: Transport,
    {
      listening,
      ...fetchParts
    }: Pick<BrowserFetchParts, "routes" | "fetch"> & { readonly listening?: ListeningTransport } = {
      routes: undefined,
      fetch: undefined,
    },
  ) {
    this.#transport = transport;
    this.#fetchParts = { transport, ...fetchParts, values: { ApiError, ConnectionError, curl } };
    this.fs = new BrowserFiles(transport);
    this.downloads = new BrowserDownloads(transport);
    this.handoff = new BrowserHandoff(transport);
    this.liveViewLinks = new LiveViewLinks(transport);
    this.computer = new BrowserComputer(transport);
    this.playwright = new BrowserPlaywright(transport);
    this.process = new BrowserProcesses(transport);
    this.logs = new BrowserLogs(transport);
    this.telemetry = new SessionTelemetry(transport);
    this.replays = new BrowserReplays(transport, listening);
    this.tools = new BrowserTools(transport);
    this.webmcp = new BrowserWebMcp(transport);
  }

  /**
   * Starts a session. Resolves when its browser accepts CDP connections at `cdp_ws_url`. Default of `timeoutMs`: 60 seconds, and
   * 240 for a start from a snapshot.
   *
   * @example
   * await using browser = await shoal.browsers.create({ timeout_seconds: 300 });
   * const page = await chromium.connectOverCDP(browser.cdp_ws_url);
   *
   * @throws {ApiError} 400 `bad_request` for an invalid or unsupported option; 404 for an unknown profile, proxy or extension; 409
   * `name_taken`, or `profile_in_use` while another session writes to the profile; 429 `too_many_requests` at the project's limit; 529
   * `capacity_exhausted` when the server is full; 501 for `invocation_id`.
   */
  async create(body: CreateBrowser = {}, options: CallOptions = {}): Promise<BrowserSession> {
    const limits = body.snapshot ? { ...options, timeoutMs: options.timeoutMs ?? 240_000 } : options;
    return this.#own(await this.#transport.call(createBrowser, { body }, limits));
  }
  /**
   * Gets a running session with methods that need no id. Leaving the scope does not end it.
   *
   * @example
   * const browser = await shoal.browsers.attach("research");
   * await browser.goto("https://example.com/");
   *
   * @throws {ApiError} 404 `not_found`.
   */
  async attach(idOrName: string, options?: CallOptions): Promise<AttachedSession> {
    return attachedTo(await this.get(idOrName, {}, options), this);
  }
  /** Lists sessions, newest first; only running ones unless `status` is set. `for await` iterates over all pages. */
  list(query: ListBrowsers = {}, options?: CallOptions): Call<ItemPage<Browser>> {
    return this.#transport.call(listBrowsers, { query }, options);
  }
  /** Gets a session by its id, or a running one by its name; with `include_deleted` also an ended one by its id. @throws {ApiError} 404 `not_found`. */
  get(idOrName: string, query: GetBrowser = {}, options?: CallOptions): Call<Browser> {
    return this.#transport.call(getBrowser, { params: { id_or_name: idOrName }, query }, options);
  }
  /** Changes the given fields of a running session. @throws {ApiError} 404 `not_found`, 409 `name_taken`. */
  update(idOrName: string, body: UpdateBrowser, options?: CallOptions): Call<Browser> {
    return this.#transport.call(updateBrowser, { params: { id_or_name: idOrName }, body }, options);
  }
  /** Extends a running session: restarts its idle timeout and its `max_duration_seconds`. @throws {ApiError} 404 `not_found`. */
  extend(idOrName: string, body: ExtendBrowser = {}, options?: CallOptions): Call<Browser> {
    return this.#transport.call(extendBrowser, { params: { id_or_name: idOrName }, body }, options);
  }
  /**
   * Starts sessions that go on from the present state of a running one. `errors` of the result has the failed starts.
   * A call that is aborted or times out ends them. Default of `timeoutMs`: 60 seconds, and 20 for every four forks.
   *
   * @example
   * const { browsers } = await shoal.browsers.fork("research", { count: 8 });
   *
   * @throws {ApiError} 409 `conflict` for a session that cannot be forked; 501 for `exact` where it is not possible; otherwise as
   * {@link create}, if none of them starts.
   */
  async fork(idOrName: string, body: ForkBrowser = {}, options: CallOptions = {}): Promise<Forks> {
    const rounds = Math.ceil((body.count ?? body.names?.length ?? 1) / 4);
    const limits = { ...options, timeoutMs: options.timeoutMs ?? (60 + 20 * rounds) * 1000 };
    const forks = await this.#transport.call(forkBrowser, { params: { id_or_name: idOrName }, body }, limits);
    return { ...forks, browsers: forks.browsers.map((browser) => this.#own(browser)) };
  }
  /**
   * Stores the present state of a running session, for sessions that start from it later:
   * `browsers.create({ snapshot: { id } })`. Default of `timeoutMs`: 180 seconds.
   *
   * @throws {ApiError} 409 `conflict` for a session that cannot be copied; 501 for `exact` where it is not possible; 507
   * `insufficient_storage` at the limit of the project.
   */
  snapshot(idOrName: string, body: CreateSnapshot = {}, options: CallOptions = {}): Call<Snapshot> {
    const limits = { ...options, timeoutMs: options.timeoutMs ?? 180_000 };
    return this.#transport.call(snapshotBrowser, { params: { id_or_name: idOrName }, body }, limits);
  }
  #own(browser: Browser): BrowserSession {
    return sessionOf(browser, this, () => this.delete(browser.session_id));
  }
  /** Ends a session with its processes and deletes its files. @throws {ApiError} 404 `not_found`. */
  delete(idOrName: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteBrowser, { params: { id_or_name: idOrName } }, options);
  }
  /** Returns the present load of a session: processor, memory, pages and clients. Does not count as use. @throws {ApiError} 404 `not_found`. */
  stats(browserId: string, options?: CallOptions): Call<BrowserStats> {
    return this.#transport.call(getBrowserStats, { params: { id: browserId } }, options);
  }
  /** Saves a running session's state to its profile. @throws {ApiError} 404 `not_found`; 409 `conflict` for a session without a profile or without `save_changes`. */
  saveProfile(idOrName: string, options?: CallOptions): Call<Profile> {
    return this.#transport.call(saveBrowserProfile, { params: { id_or_name: idOrName } }, options);
  }
  /**
   * Sends an HTTP request through the browser: with its cookies, its TLS and its proxy. Follows redirects. The response is buffered; see
   * {@link fetch} for a stream. Default of `timeoutMs`: `timeout_ms` plus 10 seconds.
   * @returns the site's response with any status.
   * @throws {ApiError} 502 when the site does not respond; `fields.net_error_name` is Chromium's reason.
   */
  curl(browserId: string, body: Curl, options: CallOptions = {}): Call<CurlResult> {
    const timeoutMs = options.timeoutMs ?? (body.timeout_ms ?? 30_000) + 10_000;
    return this.#transport.call(curl, { params: { id: browserId }, body }, { ...options, timeoutMs });
  }
  /**
   * Sends a request through the browser's network and returns a standard `Response`. Streams directly from the session's instance if
   * `create`, `get` or `list` returned its `base_url`. Otherwise it uses {@link curl}, which buffers and supports only text bodies.
   * Not retried, like the standard `fetch`.
   *
   * @example
   * const response = await shoal.browsers.fetch(id, "https://example.com/api", { method: "POST", body: JSON.stringify({ a: 1 }) });
   *
   * @throws {ApiError} 502 when the site does not respond; `TypeError` for an invalid request.
   */
  async fetch(browserId: string, url: string | URL, init: BrowserFetchInit = {}): Promise<Response> {
    // Few programs need it.
    const { browserFetch } = await import("./browser-fetch.ts");
    return browserFetch(this.#fetchParts, browserId, url, init);
  }
  /**
   * Outlines a page as indented lines, with references for {@link act}. A reference such as `e12` stays with its element.
   *
   * @example
   * const { outline } = await shoal.browsers.observe(id, { max_tokens: 2000 });
   *
   * @throws {ApiError} 409 `stale_reference` for a `ref` whose element was removed.
   */
  observe(browserId: string, body: ObservePage = {}, options?: CallOptions): Call<PageObservation> {
    return this.#transport.call(observePage, { params: { id: browserId }, body }, options);
  }
  /**
   * Acts on a page with real input events, when the element is ready, and reports the effects. Default of `timeoutMs`:
   * `timeout_ms` plus 15 seconds.
   *
   * @example
   * await shoal.browsers.act(id, { type: "fill", role: "textbox", name: "Search", text: "herring", submit: true });
   *
   * @throws {ApiError} 404 `element_not_found`; 409 `stale_reference`, `ambiguous_target`, `not_actionable`,
   * `dialog_open` or `navigation_failed`.
   */
  act(browserId: string, body: ActOnPage, options: CallOptions = {}): Call<ActResult> {
    const timeoutMs = options.timeoutMs ?? (body.timeout_ms ?? 10_000) + 15_000;
    return this.#transport.call(actOnPage, { params: { id: browserId }, body }, { ...options, timeoutMs });
  }
  /**
   * Runs JavaScript in a process of the session that keeps variables and functions between calls. When the code fails, the
   * call resolves with `success: false` and `error`. Default of `timeoutMs`: `timeout_sec` plus 40 seconds.
   *
   * @example
   * await shoal.browsers.repl(id, { code: "await gotoUrl('https://example.com'); const info = await pageInfo();" });
   * const { content } = await shoal.browsers.repl(id, { code: "repl.write(info.title)" });
   */
  repl(browserId: string, body: RunRepl, options: CallOptions = {}): Call<ReplResult> {
    const timeoutMs = options.timeoutMs ?? ((body.timeout_sec ?? 60) + 40) * 1000;
    return this.#transport.call(runRepl, { params: { id: browserId }, body }, { ...options, timeoutMs });
  }
  /** Reads a page as Markdown. */
  read(browserId: string, body: ReadPage = {}, options?: CallOptions): Call<PageText> {
    return this.#transport.call(readPage, { params: { id: browserId }, body }, options);
  }
  /** Prints a page as PDF. */
  pdf(browserId: string, body: PrintPage = {}, options?: DownloadOptions): Promise<Download> {
    return this.#transport.download(printPage, { params: { id: browserId }, body }, options);
  }
  /** Takes a picture of a page, its visible part, or an element. */
  screenshot(browserId: string, body: ScreenshotPage = {}, options?: DownloadOptions): Promise<Download> {
    return this.#transport.download(screenshotPage, { params: { id: browserId }, body }, options);
  }
  /**
   * Renders an address or HTML without a session, and returns all its outputs. Times out 10 seconds after `timeout_ms`.
   *
   * @example
   * const { markdown, status } = await shoal.browsers.render({ url: "https://example.com/" });
   *
   * @throws {ApiError} 409 `navigation_failed` for an address that is not a page, `wait_timeout` if it takes too long.
   */
  render(body: RenderPage, options: CallOptions = {}): Call<RenderedPage> {
    const timeoutMs = options.timeoutMs ?? (body.timeout_ms ?? 30_000) + 10_000;
    return this.#transport.call(renderPage, { body }, { ...options, timeoutMs });
  }
  /**
   * Downloads the stored data of a session as one ZIP archive with a signed manifest. Works while the session runs and after its
   * end. Read the stream to its end or cancel it.
   *
   * @example
   * const { stream } = await shoal.browsers.evidence(id, { include: ["telemetry", "har"] });
   */
  evidence(browserId: string, query: DownloadEvidence = {}, options?: DownloadOptions): Promise<Download> {
    return this.#transport.download(downloadEvidence, { params: { id: browserId }, query }, options);
  }
  /** Loads at most 20 extensions into a running session. CDP clients may have to reconnect. @throws {ApiError} 400 for an archive without `manifest.json`. */
  loadExtensions(
    browserId: string,
    body: { readonly extensions: readonly SessionExtension[] },
    options?: CallOptions,
  ): Call<void> {
    return this.#transport.call(loadExtensions, { params: { id: browserId }, body }, options);
  }
}
