import {
  type Browser,
  type BrowserContext,
  type CDPSession,
  chromium,
  type Dialog,
  type Frame,
  type Page,
} from "playwright-core";
import { connectCode } from "../playwright/code-transport.ts";

const connectTimeoutMs = 30_000;
const maxEvents = 1_000;

export interface ReplTarget {
  readonly endpoint: string | undefined;
  readonly visibleTarget: string | undefined;
}

export interface CdpEvent {
  readonly method: string;
  readonly params: unknown;
}

interface Tab {
  readonly page: Page;
  readonly targetId: string;
}

/** The connection of the helpers, made when one needs it, and again when the browser was restarted. */
export class ReplBrowser {
  #target: ReplTarget = { endpoint: undefined, visibleTarget: undefined };
  #browser: Promise<Browser> | undefined;
  #current: Tab | undefined;
  #sessions = new WeakMap<Page, Promise<CDPSession>>();
  #browserSession: Promise<CDPSession> | undefined;
  #events: CdpEvent[] = [];
  readonly #listeners = new Set<(event: CdpEvent) => void>();
  /** Open ones. Without a listener, Playwright would dismiss them. */
  readonly #dialogs = new WeakMap<Page, Dialog>();

  use(target: ReplTarget): void {
    this.#target = target;
  }

  /** @throws {Error} while the browser does not run. */
  async context(): Promise<BrowserContext> {
    const [context] = (await (this.#browser ??= this.#connect())).contexts();
    if (context === undefined) throw new Error("The browser has no context.");
    return context;
  }

  /** The current tab: the latest chosen tab, or the front page. */
  async tab(): Promise<Tab> {
    const context = await this.context();
    if (this.#current?.page.isClosed() === false) return this.#current;
    const tabs = await this.tabs();
    const found =
      tabs.find(({ targetId }) => targetId === this.#target.visibleTarget) ??
      tabs.find(({ page }) => isReal(page.url())) ??
      tabs[0];
    return (this.#current = found ?? (await this.#tabOf(await context.newPage())));
  }

  async page(): Promise<Page> {
    return (await this.tab()).page;
  }

  async tabs(): Promise<Tab[]> {
    const pages = (await this.context()).pages();
    const tabs = await Promise.all(pages.map(async (page) => this.#tabOf(page).catch(() => undefined)));
    return tabs.filter((tab) => tab !== undefined);
  }

  async open(): Promise<Tab> {
    return (this.#current = await this.#tabOf(await (await this.context()).newPage()));
  }

  /** @throws {Error} for an unknown tab. */
  async choose(targetId: string): Promise<Tab> {
    const tab = (await this.tabs()).find((known) => known.targetId === targetId);
    if (tab === undefined) throw new Error(`No tab has the target ${targetId}. List them with listTabs().`);
    await tab.page.bringToFront();
    return (this.#current = tab);
  }

  /** Frames of the current tab in other processes, which are separate targets. */
  async frameTargets(): Promise<{ readonly targetId: string; readonly frame: Frame }[]> {
    const page = await this.page();
    const found = await Promise.all(
      page
        .frames()
        .slice(1)
        .map(async (frame) => {
          const session = await page
            .context()
            .newCDPSession(frame)
            .catch(() => undefined);
          const info = await session?.send("Target.getTargetInfo").catch(() => undefined);
          await session?.detach().catch(() => undefined);
          return info === undefined ? undefined : { targetId: info.targetInfo.targetId, frame };
        }),
    );
    return found.filter((target) => target !== undefined);
  }

  dialog(page: Page): Dialog | undefined {
    return this.#dialogs.get(page);
  }

  async send(method: string, params: object = {}): Promise<unknown> {
    const session = /^(?:Browser|Target|SystemInfo)\./.test(method)
      ? await this.#rootSession()
      : await this.#sessionOf(await this.page());
    return session.send(method as "Browser.getVersion", params);
  }

  drainEvents(): CdpEvent[] {
    return this.#events.splice(0);
  }

  async onEvent(listener: (event: CdpEvent) => void): Promise<() => void> {
    await this.#sessionOf(await this.page());
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #rootSession(): Promise<CDPSession> {
    await this.context();
    const browser = await this.#browser;
    if (browser === undefined) throw notRunning();
    return (this.#browserSession ??= browser.newBrowserCDPSession());
  }

  #sessionOf(page: Page): Promise<CDPSession> {
    let session = this.#sessions.get(page);
    if (session === undefined) {
      session = this.#openSession(page);
      session.catch(() => this.#sessions.delete(page));
      this.#sessions.set(page, session);
    }
    return session;
  }

  async #openSession(page: Page): Promise<CDPSession> {
    const session = await page.context().newCDPSession(page);
    session.on("event", ({ method, params }) => {
      const event = { method, params };
      this.#events.push(event);
      if (this.#events.length > maxEvents) this.#events.shift();
      for (const listener of this.#listeners) listener(event);
    });
    // Without it, the session cannot answer dialogs. A page that waits for an answer answers this later.
    session.send("Page.enable").catch(() => undefined);
    return session;
  }

  async #tabOf(page: Page): Promise<Tab> {
    const { targetInfo } = await (await this.#sessionOf(page)).send("Target.getTargetInfo");
    return { page, targetId: targetInfo.targetId };
  }

  async #connect(): Promise<Browser> {
    const { endpoint } = this.#target;
    try {
      if (endpoint === undefined) throw notRunning();
      const { transport } = await connectCode(endpoint);
      // Downloads, focus and media stay as the session has them.
      const browser = await chromium.connectOverCDP(transport, { timeout: connectTimeoutMs, noDefaults: true });
      browser.on("disconnected", () => {
        this.#forget();
      });
      const keepDialog = (dialog: Dialog): void => {
        const page = dialog.page();
        if (page !== null) this.#dialogs.set(page, dialog);
      };
      for (const context of browser.contexts()) context.on("dialog", keepDialog);
      return browser;
    } catch (error) {
      this.#forget();
      throw error;
    }
  }

  #forget(): void {
    this.#browser = undefined;
    this.#browserSession = undefined;
    this.#current = undefined;
  }
}

export function isReal(url: string): boolean {
  return !/^(?:chrome|chrome-untrusted|devtools|chrome-extension):/.test(url);
}

function notRunning(): Error {
  return new Error("The browser does not run now. Call again in a second.");
}
