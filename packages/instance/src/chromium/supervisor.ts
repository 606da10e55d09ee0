import type { CdpConnection } from "../cdp/pipe-connection.ts";
import { SessionDownloads } from "../downloads/session-downloads.ts";
import type { InstanceConfig } from "../protocol.ts";
import { describeExit, superviseChromium, type Browser, type BrowserEndpoint, type BrowserExit } from "./browser.ts";
import { type BrowserLaunch, firstLaunch } from "./launch.ts";
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
  /** How the present browser was started, or the one that is being started. */
  readonly launch: BrowserLaunch;
  /**
   * Ends the browser as a person would, so that its profile is whole on disk, and starts it in another way once it has exited. Waits for its start first
   * where it has not answered yet, and for another relaunch. It is no crash. CDP and BiDi clients are closed with {@link relaunchCloseCode}, and
   * {@link BrowserSupervisor.onBrowser}'s listeners get the new connection. Pages that were open are gone.
   *
   * @param change - what is different from {@link BrowserSupervisor.launch}.
   * @param between - called while no browser runs; when it rejects, the browser is started as it was before.
   * @returns resolves when the new browser is ready; rejects with what `between` threw, or when the new browser crashed for good or the session ends.
   */
  relaunch(change: Partial<BrowserLaunch>, between?: () => Promise<void>): Promise<void>;
  /** Has state carried from now on from the browser to the next one, after a crash too. */
  keepState(keeper: StateKeeper): void;
  /** Sizes every page, now or once it is ready; resolves when those that are open have been told. */
  resize(page: Size): Promise<void>;
  /** Opens a page in the first tab, once it is ready; what becomes of it is not looked at. */
  open(url: string): void;
  /** Where its downloads go. */
  readonly downloads: SessionDownloads;
  /** Ends it for good as a person would, so that its profile is whole on disk. @returns whether it ended by itself, and was not killed because it took too long. */
  close(): Promise<boolean>;
  /** Ends it; resolves when it is gone. */
  stop(): Promise<void>;
}

/** Carries state from one browser to the next. */
export interface StateKeeper {
  /** Called before a relaunch ends a browser; an error is ignored. */
  readonly beforeClose: (cdp: CdpConnection) => Promise<void>;
  /** Called with each new browser before clients can use it. */
  readonly beforeReady: (cdp: CdpConnection) => Promise<void>;
}

export interface SupervisorOptions {
  readonly config: InstanceConfig;
  readonly first: SpawnedChromium;
  /** Starts another one. */
  readonly spawn: (launch: BrowserLaunch) => SpawnedChromium;
  readonly onReady: () => void;
  /** Told of each line that a browser prints. */
  readonly onLine: (line: string) => void;
  /** Called before it is ended to be started in another way. */
  readonly onRelaunch: () => void;
  /** Called at the first crash; it is being started again. */
  readonly onRestart: (exit: BrowserExit) => void;
  /** Called at the second crash. */
  readonly onCrashed: (exit: BrowserExit) => void;
}

/** Crashes that are survived. */
const maxRestarts = 1;
/** With which clients lose their connection to a browser that is started again: "Service Restart". */
export const relaunchCloseCode = 1012;
/** A browser that hangs is closed without its latest state. */
const keepStateTimeoutMs = 10_000;
/** A browser that was asked to close takes a tenth of a second to write its profile. */
const closeTimeoutMs = 15_000;

export function superviseBrowser(options: SupervisorOptions): BrowserSupervisor {
  const { config } = options;
  let restarts = 0;
  let stopping = false;
  let ready = false;
  let launch = firstLaunch(config);
  let page: Size = config.viewport;
  let browser: Browser;
  let viewport: ViewportControl | undefined;
  let sized: Promise<unknown> = Promise.resolve();
  let started = Promise.withResolvers<BrowserEndpoint>();
  const listeners = new Set<(cdp: CdpConnection) => void>();
  const downloads = new SessionDownloads(config);
  /** The browser that is being ended in order to be started in another way. */
  let leaving: Browser | undefined;
  let relaunching: Promise<void> = Promise.resolve();
  let keeper: StateKeeper | undefined;

  function take(spawned: SpawnedChromium): void {
    const taken = superviseChromium(spawned, options.onLine);
    browser = taken;
    // It is gone already, or is of no use.
    void setUp(taken, launch).catch(() => taken.kill());
    void taken.exited.then((exit) => {
      if (taken !== leaving) onExit(exit);
    });
  }

  async function setUp(current: Browser, launched: BrowserLaunch): Promise<void> {
    // A window is sized with its screen.
    viewport = launched.headless ? controlViewport(current.cdp, launched.program.kind, launched.page) : undefined;
    const [endpoint] = await Promise.all([
      current.endpoint,
      downloads.attach(current.cdp),
      sizePages(),
      launched.stealth ? hideSigns(current) : undefined,
    ]);
    if (keeper !== undefined) await Promise.race([keeper.beforeReady(current.cdp), failWhenGone(current)]);
    ready = true;
    started.resolve(endpoint);
    options.onReady();
    for (const listener of listeners) listener(current.cdp);
  }

  async function failWhenGone(current: Browser): Promise<never> {
    await current.cdp.closed;
    throw new Error("the browser is gone");
  }

  async function hideSigns(current: Browser): Promise<void> {
    const { hideAutomation } = await import("./stealth.ts");
    await hideAutomation(current.cdp);
  }

  function sizePages(): Promise<unknown> {
    // A page that goes away in the meantime is no failure of the rest.
    sized = (viewport?.apply(page) ?? Promise.resolve()).catch(() => undefined);
    return sized;
  }

  function onExit(exit: BrowserExit): void {
    if (stopping) return;
    lose();
    if (restarts >= maxRestarts) {
      giveUp(exit);
      return;
    }
    restarts++;
    options.onRestart(exit);
    startAgain(exit);
  }

  function lose(): void {
    viewport = undefined;
    if (ready) renewStarted();
    ready = false;
  }

  function startAgain(last: BrowserExit): void {
    launch = { ...launch, page };
    try {
      take(options.spawn(launch));
    } catch (error) {
      giveUp({ ...last, lastLines: `${last.lastLines}\n${String(error)}` });
    }
  }

  /** Loses nothing that the browser has yet to write, unless it hangs. */
  async function closeWell(current: Browser): Promise<BrowserExit> {
    current.cdp.send("Browser.close").catch(() => undefined);
    const timer = setTimeout(() => void current.kill(), closeTimeoutMs);
    const exit = await current.exited;
    clearTimeout(timer);
    return exit;
  }

  async function relaunch(change: Partial<BrowserLaunch>, between?: () => Promise<void>): Promise<void> {
    const left = await letGo();
    leaving = left;
    lose();
    const exit = await closeWell(left);
    const failed = await between?.().then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (stopping) throw new Error("the session ends");
    if (failed === undefined) {
      launch = { ...launch, ...change };
      page = change.page ?? page;
    }
    startAgain(exit);
    await started.promise;
    if (failed !== undefined) throw failed.error;
  }

  /** A function, so that TypeScript does not narrow across an `await`. */
  const isReady = (): boolean => ready;

  /** Takes the browser from its clients. @returns it, when its state is kept. */
  async function letGo(): Promise<Browser> {
    // Not only once: it may crash at the moment at which it has become ready, or while its state is kept.
    for (;;) {
      while (!ready) await started.promise;
      const current = browser;
      options.onRelaunch();
      await letKeep(current);
      if (isReady() && current === browser) return current;
    }
  }

  async function letKeep(left: Browser): Promise<void> {
    if (keeper === undefined) return;
    const timeout = Promise.withResolvers<undefined>();
    const timer = setTimeout(timeout.resolve, keepStateTimeoutMs, undefined);
    await Promise.race([keeper.beforeClose(left.cdp), timeout.promise]).catch(() => undefined);
    clearTimeout(timer);
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
  take(options.first);

  return {
    get ready() {
      return ready;
    },
    downloads,
    get launch() {
      return launch;
    },
    relaunch(change, between) {
      relaunching = relaunching.then(
        () => relaunch(change, between),
        () => relaunch(change, between),
      );
      return relaunching;
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
    keepState(given) {
      keeper = given;
    },
    async resize(size) {
      page = size;
      await sizePages();
    },
    open(url) {
      openPage(url).catch(() => undefined);
    },
    async close() {
      stopping = true;
      started.reject(new Error("the session ends"));
      const { code, signal } = await closeWell(browser);
      return code === 0 && signal === null;
    },
    async stop() {
      stopping = true;
      started.reject(new Error("the session ends"));
      await browser.kill();
    },
  };
}
