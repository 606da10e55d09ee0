import pLimit from "p-limit";
import pTimeout from "p-timeout";
import type { CdpConnection } from "../cdp/cdp-connection.ts";
import { type DownloadFinished, DownloadReports } from "../downloads/download-reports.ts";
import { followOpenedPages, openInFirstPage } from "../pages/visible-page.ts";
import { followDialogs } from "../pages/open-dialogs.ts";
import type { OpenPages } from "../pages/open-pages.ts";
import { SessionDownloads } from "../downloads/session-downloads.ts";
import type { InstanceConfig } from "../../protocol/protocol.ts";
import { isTrue } from "../../system/is-true.ts";
import { describeExit, superviseChromium, type Browser, type BrowserEndpoint, type BrowserExit } from "./browser.ts";
import { type BrowserLaunch, firstLaunch } from "./launch.ts";
import type { SpawnedChromium } from "./spawn.ts";
import { controlViewport, type Size, type ViewportControl } from "./viewport.ts";

export interface BrowserSupervisor {
  readonly ready: boolean;
  /** Number of restarts after a crash. */
  readonly restarts: number;
  /** Where the browser listens, once it is ready and sized. Rejects when it crashed for good or the session ends. */
  endpoint(): Promise<BrowserEndpoint>;
  /** Rejects like {@link BrowserSupervisor.endpoint}. After a crash, the next call returns the new connection. */
  cdp(): Promise<CdpConnection>;
  /** Calls `listener` for each browser that becomes ready, and the present one. Returns a function that removes it. */
  onBrowser(listener: (cdp: CdpConnection) => void): () => void;
  readonly launch: BrowserLaunch;
  /**
   * Closes the browser in an orderly way, so that its profile is complete, and starts it with changes. Waits for a
   * ready browser and earlier relaunches. Not a crash. Closes clients with {@link relaunchCloseCode}.
   * @param between - called while no browser runs; when it rejects, the browser starts unchanged.
   * @returns rejects with the error of `between`, or when the new browser crashed for good or the session ends.
   */
  relaunch(change: Partial<BrowserLaunch>, between?: () => Promise<void>): Promise<void>;
  /** Carries state from each browser to the next from now on, also after a crash. */
  keepState(keeper: StateKeeper): void;
  /** Sizes every page, now or once the browser is ready; resolves when the open pages are sized. */
  resize(page: Size): Promise<void>;
  /** Opens a page in the first tab once the browser is ready. Failures are ignored. */
  open(url: string): void;
  readonly downloads: SessionDownloads;
  /** Closes the browser for good in an orderly way. Returns false when it took too long and was killed. */
  close(): Promise<boolean>;
  stop(): Promise<void>;
}

export interface StateKeeper {
  /** Called before a relaunch ends a browser; an error is ignored. */
  readonly beforeClose: (cdp: CdpConnection) => Promise<void>;
  /** Called with each new browser before clients can use it. */
  readonly beforeReady: (cdp: CdpConnection) => Promise<void>;
}

/** What a browser reports to its instance. */
export interface BrowserEvents {
  readonly onReady: () => void;
  readonly onLine: (line: string) => void;
  readonly onRelaunch: () => void;
  readonly onDownload: (event: DownloadFinished) => void;
  readonly pages: Pick<OpenPages, "follow">;
  /** Called when a person has closed the browser, before it is started again. */
  readonly onClosed: (exit: BrowserExit) => void;
  /** Called at the first crash, before the restart. */
  readonly onRestart: (exit: BrowserExit) => void;
  /** Called at the second crash. */
  readonly onCrashed: (exit: BrowserExit) => void;
}

export interface SupervisorOptions extends BrowserEvents {
  readonly config: InstanceConfig;
  readonly first: SpawnedChromium;
  readonly spawn: (launch: BrowserLaunch) => SpawnedChromium;
}

const maxRestarts = 1;
/** Close code for clients of a browser that restarts: "Service Restart". */
export const relaunchCloseCode = 1012;
/** A browser that hangs is closed without its latest state. */
const keepStateTimeoutMs = 10_000;
/** An orderly close, including writing the profile, takes a tenth of a second. */
const closeTimeoutMs = 15_000;

export function superviseBrowser(options: SupervisorOptions): BrowserSupervisor {
  return new Supervisor(options);
}

class Supervisor implements BrowserSupervisor {
  readonly #options: SupervisorOptions;

  #restarts = 0;
  #stopping = false;
  #ready = false;
  #launch: BrowserLaunch;
  #page: Size;
  #browser: Browser;
  #viewport: ViewportControl | undefined;
  #sized: Promise<unknown> = Promise.resolve();
  #started = Promise.withResolvers<BrowserEndpoint>();
  readonly #listeners = new Set<(cdp: CdpConnection) => void>();
  readonly downloads: SessionDownloads;
  #leaving: Browser | undefined;
  readonly #relaunchTurn = pLimit(1);
  #keeper: StateKeeper | undefined;
  /** Has read the state of the browser that a relaunch ends, and may differ from {@link Supervisor.#keeper} by now. */
  #carrier: StateKeeper | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#launch = firstLaunch(options.config);
    this.#page = options.config.viewport;
    this.downloads = new SessionDownloads(options.config, new DownloadReports(options.config.root, options.onDownload));
    this.#renewStarted();
    this.#browser = this.#take(options.first);
  }

  #take(spawned: SpawnedChromium): Browser {
    const taken = superviseChromium(spawned, this.#options.onLine);
    this.#browser = taken;
    // It has ended already or cannot be used.
    void this.#setUp(taken, this.#launch).catch(() => taken.kill());
    void taken.exited.then((exit) => {
      if (taken !== this.#leaving) this.#onExit(exit);
    });
    return taken;
  }

  async #setUp(current: Browser, launched: BrowserLaunch): Promise<void> {
    if (launched.program.kind === "headless_shell") followOpenedPages(current.cdp);
    // Before downloads.attach, which makes Chromium report its pages.
    this.#options.pages.follow(current.cdp);
    // A window is sized with its screen.
    this.#viewport = launched.headless ? controlViewport(current.cdp, launched.program.kind, launched.page) : undefined;
    const [endpoint] = await Promise.all([
      current.endpoint,
      this.downloads.attach(current.cdp, { denies: launched.conditions.downloads === "deny" }),
      this.#sizePages(),
      launched.program.kind === "chrome" ? followDialogs(current.cdp) : undefined,
      this.#applyConditions(current, launched),
      launched.stealth ? this.#hideSigns(current, launched.locale) : undefined,
      launched.clockOffsetMs === undefined ? undefined : this.#shiftClock(current, launched.clockOffsetMs),
    ]);
    const keeper = this.#carrier ?? this.#keeper;
    if (keeper !== undefined) await Promise.race([keeper.beforeReady(current.cdp), this.#failWhenGone(current)]);
    this.#carrier = undefined;
    this.#ready = true;
    this.#started.resolve(endpoint);
    this.#options.onReady();
    for (const listener of this.#listeners) listener(current.cdp);
  }

  async #failWhenGone(current: Browser): Promise<never> {
    await current.cdp.closed;
    throw new Error("the browser has ended");
  }

  async #applyConditions(current: Browser, { conditions }: BrowserLaunch): Promise<void> {
    if (conditions.permissions === undefined && conditions.geolocation === undefined) return;
    const { applyConditions } = await import("./page-conditions.ts");
    await applyConditions(current.cdp, conditions);
  }

  async #hideSigns(current: Browser, locale: string): Promise<void> {
    const { hideAutomation } = await import("./stealth.ts");
    await hideAutomation(current.cdp, locale);
  }

  async #shiftClock(current: Browser, offsetMs: number): Promise<void> {
    const { shiftClock } = await import("./page-clock.ts");
    await shiftClock(current.cdp, offsetMs);
  }

  #sizePages(): Promise<unknown> {
    // A page that closes meanwhile is not an error.
    this.#sized = (this.#viewport?.apply(this.#page) ?? Promise.resolve()).catch(() => undefined);
    return this.#sized;
  }

  #onExit(exit: BrowserExit): void {
    if (this.#stopping) return;
    const isClosed = this.#ready && exit.code === 0 && exit.signal === null;
    this.#lose();
    if (isClosed) {
      this.#options.onClosed(exit);
      this.#startAgain(exit);
      return;
    }
    if (this.#restarts >= maxRestarts) {
      this.#giveUp(exit);
      return;
    }
    this.#restarts++;
    this.#options.onRestart(exit);
    this.#startAgain(exit);
  }

  #lose(): void {
    this.#viewport = undefined;
    if (this.#ready) this.#renewStarted();
    this.#ready = false;
  }

  #startAgain(last: BrowserExit): void {
    this.#launch = { ...this.#launch, page: this.#page };
    try {
      this.#take(this.#options.spawn(this.#launch));
    } catch (error) {
      this.#giveUp({ ...last, lastLines: `${last.lastLines}\n${String(error)}` });
    }
  }

  /** Waits for the browser to write its profile, and kills it if it hangs. */
  async #closeWell(current: Browser): Promise<BrowserExit> {
    current.cdp.send("Browser.close").catch(() => undefined);
    const timer = setTimeout(() => void current.kill(), closeTimeoutMs);
    const exit = await current.exited;
    clearTimeout(timer);
    return exit;
  }

  async #relaunch(change: Partial<BrowserLaunch>, between?: () => Promise<void>): Promise<void> {
    const left = await this.#letGo();
    this.#leaving = left;
    this.#lose();
    const exit = await this.#closeWell(left);
    const failed = await between?.().then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (this.#stopping) throw new Error("the session ends");
    if (failed === undefined) {
      this.#launch = { ...this.#launch, ...change };
      this.#page = change.page ?? this.#page;
    }
    this.#startAgain(exit);
    await this.#started.promise;
    if (failed !== undefined) throw failed.error;
  }

  async #letGo(): Promise<Browser> {
    // Repeats, because the browser may crash just after it became ready or while its state is saved.
    for (;;) {
      while (!this.#ready) await this.#started.promise;
      const current = this.#browser;
      this.#options.onRelaunch();
      await this.#letKeep(current);
      if (isTrue(this.#ready) && current === this.#browser) return current;
    }
  }

  async #letKeep(left: Browser): Promise<void> {
    if (this.#keeper === undefined) return;
    this.#carrier = this.#keeper;
    const keeping = this.#keeper.beforeClose(left.cdp);
    await pTimeout(keeping, { milliseconds: keepStateTimeoutMs }).catch(() => undefined);
  }

  #giveUp(exit: BrowserExit): void {
    this.#stopping = true;
    this.#started.reject(new Error(`the browser crashed again (${describeExit(exit)}), so the session ends`));
    this.#options.onCrashed(exit);
  }

  #renewStarted(): void {
    this.#started = Promise.withResolvers();
    // It may reject without a waiting caller.
    this.#started.promise.catch(() => undefined);
  }

  async #openPage(url: string): Promise<void> {
    await this.#started.promise;
    await openInFirstPage(this.#browser.cdp, url);
  }

  get ready(): boolean {
    return this.#ready;
  }

  get launch(): BrowserLaunch {
    return this.#launch;
  }

  relaunch(change: Partial<BrowserLaunch>, between?: () => Promise<void>): Promise<void> {
    return this.#relaunchTurn(() => this.#relaunch(change, between));
  }

  get restarts(): number {
    return this.#restarts;
  }

  async endpoint(): Promise<BrowserEndpoint> {
    const endpoint = await this.#started.promise;
    await this.#sized;
    return endpoint;
  }

  async cdp(): Promise<CdpConnection> {
    await this.#started.promise;
    return this.#browser.cdp;
  }

  onBrowser(listener: (cdp: CdpConnection) => void): () => void {
    this.#listeners.add(listener);
    if (this.#ready) listener(this.#browser.cdp);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  keepState(given: StateKeeper): void {
    this.#keeper = given;
  }

  async resize(size: Size): Promise<void> {
    this.#page = size;
    await this.#sizePages();
  }

  open(url: string): void {
    this.#openPage(url).catch(() => undefined);
  }

  async close(): Promise<boolean> {
    this.#stopping = true;
    this.#started.reject(new Error("the session ends"));
    const { code, signal } = await this.#closeWell(this.#browser);
    return code === 0 && signal === null;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#started.reject(new Error("the session ends"));
    await this.#browser.kill();
  }
}
