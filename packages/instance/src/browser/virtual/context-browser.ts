import { randomBytes } from "node:crypto";
import type { CdpConnection } from "../cdp/cdp-connection.ts";
import type { BrowserEndpoint, BrowserExit } from "../chromium/browser.ts";
import type { BrowserLaunch } from "../chromium/launch.ts";
import type { BrowserEvents, BrowserSupervisor } from "../chromium/supervisor.ts";
import { controlViewport, type Size, type ViewportControl } from "../chromium/viewport.ts";
import { DownloadReports } from "../downloads/download-reports.ts";
import { SessionDownloads } from "../downloads/session-downloads.ts";
import { followDialogs } from "../pages/open-dialogs.ts";
import { followOpenedPages, openInFirstPage } from "../pages/visible-page.ts";
import type { InstanceConfig } from "../../protocol/protocol.ts";
import { ContextConnection } from "./context-connection.ts";
import { ContextEndpoint } from "./context-endpoint.ts";
import { ContextJson } from "./context-json.ts";
import type { ContextScope } from "./context-scope.ts";
import { OwnTargets } from "./own-targets.ts";

/** A browser context, and the browser that it belongs to. */
export interface ContextPlace {
  readonly owner: CdpConnection;
  readonly endpoint: BrowserEndpoint;
  readonly scope: ContextScope;
  readonly launch: BrowserLaunch;
}

/**
 * Opens a browser context.
 * @param root - folder of the session's files. @param proxyPort - of the session's egress forwarder.
 * @throws {CdpError} when the shared browser has ended.
 */
export async function openContext(
  shared: Pick<BrowserSupervisor, "cdp" | "endpoint" | "launch">,
  { root, proxyPort }: { readonly root: string; readonly proxyPort: number },
): Promise<ContextPlace> {
  const [owner, endpoint] = await Promise.all([shared.cdp(), shared.endpoint()]);
  const { browserContextId: contextId } = await owner.send("Target.createBrowserContext", {
    proxyServer: `http://127.0.0.1:${String(proxyPort)}`,
    proxyBypassList: "<-loopback>",
  });
  const targets = new OwnTargets(owner, contextId);
  return { owner, endpoint, scope: { contextId, root, targets }, launch: shared.launch };
}

/** The instance of the shared browser knows more. */
const sharedExit: BrowserExit = {
  pid: undefined,
  code: null,
  signal: null,
  lastLines: "The shared browser has ended.",
};

/** Shows one context of a shared browser as a whole browser. It cannot be started in another way. */
export class ContextBrowser implements BrowserSupervisor {
  readonly ready = true;
  readonly restarts = 0;
  readonly launch: BrowserLaunch;
  readonly downloads: SessionDownloads;
  readonly #place: ContextPlace;
  readonly #events: BrowserEvents;
  readonly #cdp: ContextConnection;
  readonly #port: ContextEndpoint;
  readonly #viewport: ViewportControl;
  #sized: Promise<unknown> = Promise.resolve();
  #stopped: Promise<void> | undefined;

  constructor(config: InstanceConfig, place: ContextPlace, events: BrowserEvents) {
    const { endpoint, launch, scope } = place;
    this.#place = place;
    this.#events = events;
    this.launch = { ...launch, page: config.viewport };
    this.#cdp = new ContextConnection(place);
    this.#port = new ContextEndpoint({
      scope,
      browser: endpoint,
      json: new ContextJson(this.#cdp, endpoint),
      secret: randomBytes(16).toString("hex"),
    });
    this.#viewport = controlViewport(this.#cdp, launch.program.kind, launch.page);
    this.downloads = new SessionDownloads(config, new DownloadReports(config.root, events.onDownload));
  }

  /** Opens the first page. @throws {CdpError} when the shared browser has ended. */
  async start(): Promise<void> {
    const { kind } = this.launch.program;
    if (kind === "headless_shell") followOpenedPages(this.#cdp);
    // Before downloads.attach, which makes Chromium report its pages.
    this.#events.pages.follow(this.#cdp);
    await Promise.all([
      this.#port.listen(),
      // In this order: the context of the first known page becomes the default one.
      this.#cdp.send("Target.createTarget", { url: "about:blank" }).then(() => this.downloads.attach(this.#cdp)),
      kind === "chrome" ? followDialogs(this.#cdp) : undefined,
    ]);
    void this.#cdp.closed.then(() => {
      if (this.#stopped === undefined) this.#events.onCrashed(sharedExit);
    });
    this.#events.onReady();
  }

  async endpoint(): Promise<BrowserEndpoint> {
    await this.#sized;
    return this.#port.endpoint;
  }

  async cdp(): Promise<CdpConnection> {
    return this.#cdp;
  }

  onBrowser(listener: (cdp: CdpConnection) => void): () => void {
    listener(this.#cdp);
    return () => undefined;
  }

  async relaunch(): Promise<never> {
    throw new Error('the session has isolation "context", and its browser also serves other sessions');
  }

  keepState(): void {
    // No other browser follows.
  }

  async resize(page: Size): Promise<void> {
    // A page that closes meanwhile is not an error.
    this.#sized = this.#viewport.apply(page).catch(() => undefined);
    await this.#sized;
  }

  open(url: string): void {
    openInFirstPage(this.#cdp, url).catch(() => undefined);
  }

  async close(): Promise<boolean> {
    await this.stop();
    return true;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { owner, scope } = this.#place;
    this.#port.close();
    this.#cdp.close();
    // The shared browser may have ended.
    await owner.send("Target.disposeBrowserContext", { browserContextId: scope.contextId }).catch(() => undefined);
  }
}
