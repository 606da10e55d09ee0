import { join } from "node:path";
import type { CdpConnection } from "../cdp/pipe-connection.ts";
import type { InstanceConfig } from "../protocol.ts";
import { describeExit, superviseChromium, type Browser, type BrowserEndpoint, type BrowserExit } from "./browser.ts";
import type { SpawnedChromium } from "./spawn.ts";
import { controlViewport, type Size, type ViewportControl } from "./viewport.ts";

/** The session's browser, whichever process it is at the moment. */
export interface BrowserSupervisor {
  readonly ready: boolean;
  /** How often it was started again after a crash. */
  readonly restarts: number;
  /** Where it listens, once it is ready and sized; rejects when it has crashed for good, or the session ends. */
  endpoint(): Promise<BrowserEndpoint>;
  /** The instance's own connection to it, once it is ready; rejects as {@link BrowserSupervisor.endpoint} does. After a crash the next call gives the new browser's. */
  cdp(): Promise<CdpConnection>;
  /**
   * Calls `listener` with the connection to each browser that becomes ready, the present one included.
   *
   * @returns stops that.
   */
  onBrowser(listener: (cdp: CdpConnection) => void): () => void;
  /** Sizes every page, now or once it is ready. */
  resize(page: Size): void;
  /** Opens a page in the first tab, once it is ready; what becomes of it is not looked at. */
  open(url: string): void;
  /** Sets what a CDP client's going has set back: Chromium forgets the download directory with the last client that gave one. */
  restoreDownloads(): void;
  /** Ends it; resolves when it is gone. */
  stop(): Promise<void>;
}

export interface SupervisorOptions {
  readonly config: InstanceConfig;
  readonly first: SpawnedChromium;
  /** Starts another one, with pages of the configured size. */
  readonly spawn: (config: InstanceConfig) => SpawnedChromium;
  readonly onReady: () => void;
  /** Told of each line that a browser prints. */
  readonly onLine: (line: string) => void;
  /** Called at the first crash; it is being started again. */
  readonly onRestart: (exit: BrowserExit) => void;
  /** Called at the second crash. */
  readonly onCrashed: (exit: BrowserExit) => void;
}

/** Crashes that are survived. */
const maxRestarts = 1;

export function superviseBrowser(options: SupervisorOptions): BrowserSupervisor {
  const { config } = options;
  let restarts = 0;
  let stopping = false;
  let ready = false;
  let page: Size = config.viewport;
  let browser: Browser;
  let viewport: ViewportControl | undefined;
  let sized: Promise<unknown> = Promise.resolve();
  let started = Promise.withResolvers<BrowserEndpoint>();
  const listeners = new Set<(cdp: CdpConnection) => void>();

  function take(spawned: SpawnedChromium, launched: Size): void {
    browser = superviseChromium(spawned, options.onLine);
    void setUp(browser, launched).catch(() => undefined);
    void browser.exited.then(onExit);
  }

  async function setUp(current: Browser, launched: Size): Promise<void> {
    viewport = controlViewport(current.cdp, config.chromium.kind, launched);
    const [endpoint] = await Promise.all([current.endpoint, allowDownloads(current), sizePages()]);
    ready = true;
    started.resolve(endpoint);
    options.onReady();
    for (const listener of listeners) listener(current.cdp);
  }

  async function allowDownloads(current: Browser): Promise<void> {
    await current.cdp.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: join(config.root, config.home, "Downloads"), eventsEnabled: true });
  }

  function sizePages(): Promise<unknown> {
    // A page that goes away in the meantime is no failure of the rest.
    sized = (viewport?.apply(page) ?? Promise.resolve()).catch(() => undefined);
    return sized;
  }

  function onExit(exit: BrowserExit): void {
    if (stopping) return;
    viewport = undefined;
    if (ready) renewStarted();
    ready = false;
    if (restarts >= maxRestarts) {
      giveUp(exit);
      return;
    }
    restarts++;
    options.onRestart(exit);
    try {
      take(options.spawn({ ...config, viewport: page }), page);
    } catch (error) {
      giveUp({ ...exit, lastLines: `${exit.lastLines}\n${String(error)}` });
    }
  }

  function giveUp(exit: BrowserExit): void {
    stopping = true;
    started.reject(new Error(`the browser crashed again (${describeExit(exit)}), so the session ends`));
    options.onCrashed(exit);
  }

  function renewStarted(): void {
    started = Promise.withResolvers();
    // It may be that nobody waits when it is rejected.
    started.promise.catch(() => undefined);
  }

  async function openPage(url: string): Promise<void> {
    await started.promise;
    const { cdp } = browser;
    const { targetInfos } = await cdp.send("Target.getTargets");
    const target = targetInfos.find((info) => info.type === "page");
    if (target === undefined) {
      await cdp.send("Target.createTarget", { url });
      return;
    }
    const { sessionId } = await cdp.send("Target.attachToTarget", { targetId: target.targetId, flatten: true });
    await cdp.send("Page.navigate", { url }, sessionId);
    await cdp.send("Target.detachFromTarget", { sessionId });
  }

  renewStarted();
  take(options.first, config.viewport);

  return {
    get ready() {
      return ready;
    },
    get restarts() {
      return restarts;
    },
    async endpoint() {
      const endpoint = await started.promise;
      await sized;
      return endpoint;
    },
    async cdp() {
      await started.promise;
      return browser.cdp;
    },
    onBrowser(listener) {
      listeners.add(listener);
      if (ready) listener(browser.cdp);
      return () => {
        listeners.delete(listener);
      };
    },
    resize(size) {
      page = size;
      void sizePages();
    },
    open(url) {
      openPage(url).catch(() => undefined);
    },
    restoreDownloads() {
      if (ready) allowDownloads(browser).catch(() => undefined);
    },
    async stop() {
      stopping = true;
      started.reject(new Error("the session ends"));
      await browser.kill();
    },
  };
}
