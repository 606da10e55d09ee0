import { ServiceError } from "@shoal/router";
import type { BrowserTab } from "@shoal/schemas";
import pTimeout from "p-timeout";
import type { CdpConnection } from "../../../browser/cdp/cdp-connection.ts";
import type { BrowserSupervisor } from "../../../browser/chromium/supervisor.ts";
import type { BeforeClose } from "../../../browser/pages/closing.ts";
import { findVisiblePage, visibleOf } from "../../../browser/pages/visible-page.ts";
import { browserGone } from "../../computer/page-session.ts";
import { FollowedPage } from "../follow/followed-page.ts";
import { ElementHandle } from "../follow/element-handle.ts";
import { describeElement, noTab, staleReference, unknownReference, unknownTab } from "./page-errors.ts";
import { type DescribedElement, type KnownElement, References } from "./references.ts";
import { type ListedTab, TabList } from "./tab-list.ts";

export interface OpenTab {
  /** `t1` */
  readonly id: string;
  readonly targetId: string;
  /** Followed since the first call that used this tab. */
  readonly page: FollowedPage;
}

export interface ResolvedElement {
  readonly tab: OpenTab;
  readonly known: KnownElement;
  readonly element: ElementHandle;
  /** Whether the page had replaced the element by another one with the same identity. */
  readonly replaced: boolean;
}

/** Reads the elements of a page as they are now. */
export type ReadElements = (tab: OpenTab) => Promise<readonly DescribedElement[]>;

export interface ListedTabs {
  readonly cdp: CdpConnection;
  readonly listed: readonly ListedTab[];
}

const maxFollowed = 20;
/** Longest wait for a closing tab, in milliseconds. */
const closeMs = 5_000;

/** The tabs of a session for `observe`, `act`, `read` and pictures. */
export class SessionPages {
  readonly references = new References();
  readonly #browser: Pick<BrowserSupervisor, "cdp">;
  readonly #readElements: ReadElements;
  readonly #beforeClose: BeforeClose;
  /** Addresses of the last downloads, by the frames in whose place they began. */
  readonly #downloads = new Map<string, string>();
  readonly #followed = new Map<string, Promise<FollowedPage>>();
  /** In the headless shell each tab has a window, and their order stays. The selection lasts until it changes. */
  #selected: { readonly targetId: string; readonly shown: string | undefined } | undefined;
  #tabs: { readonly cdp: CdpConnection; readonly list: TabList } | undefined;

  constructor(
    browser: Pick<BrowserSupervisor, "cdp">,
    readElements: ReadElements,
    beforeClose: BeforeClose = () => undefined,
  ) {
    this.#browser = browser;
    this.#readElements = readElements;
    this.#beforeClose = beforeClose;
  }

  /** The number of the tab that was opened last. */
  get lastTab(): number {
    return this.#tabs?.list.lastId ?? 0;
  }

  /** The address whose download took the place of a frame's document. */
  downloadOf(frameId: string): string | undefined {
    return this.#downloads.get(frameId);
  }

  /** In the order in which they were opened. */
  async tabs(): Promise<readonly BrowserTab[]> {
    return this.#shown(await this.#list());
  }

  /** In the order in which they were opened, without following them. */
  targets(): Promise<ListedTabs> {
    return this.#list();
  }

  /** Returns all tabs and an opened one of them. @throws {ServiceError} 404 for an unknown tab, 409 without tabs. */
  async tabsWith(id?: string): Promise<{ readonly tabs: readonly BrowserTab[]; readonly tab: OpenTab }> {
    const list = await this.#list();
    const [tabs, tab] = await Promise.all([this.#shown(list), this.#open(list, id)]);
    return { tabs, tab };
  }

  /** Returns the front tab without `id`. @throws {ServiceError} 404 for an unknown tab, 409 without tabs. */
  async tab(id?: string): Promise<OpenTab> {
    return this.#open(await this.#list(), id);
  }

  /** Brings a tab to the front. @throws {ServiceError} 404 for an unknown tab. */
  async select(id: string): Promise<void> {
    const { cdp, listed } = await this.#list();
    const found = listed.find((tab) => tab.id === id);
    if (found === undefined) throw ServiceError.of(unknownTab(id, listed));
    const { targetId } = found;
    await cdp.send("Target.activateTarget", { targetId });
    this.#selected = { targetId, shown: await findVisiblePage(cdp) };
  }

  /** Opens an empty tab in front. */
  async open(): Promise<OpenTab> {
    const { cdp } = await this.#list();
    const { targetId } = await cdp.send("Target.createTarget", { url: "about:blank" });
    const { listed } = await this.#list();
    const { id } = listed.find((tab) => tab.targetId === targetId) ?? {};
    if (id === undefined) throw ServiceError.of(noTab);
    await this.select(id);
    return this.tab(id);
  }

  /** Closes a tab; instead of the last one, an empty tab stays open, because the browser would end. */
  async closeTab({ page }: Pick<OpenTab, "page">): Promise<void> {
    const { cdp, listed } = await this.#list();
    if (listed.length < 2) await cdp.send("Target.createTarget", { url: "about:blank" });
    await this.#beforeClose({ targetId: page.session.targetId });
    // The tab may be closing already.
    await cdp.send("Target.closeTarget", { targetId: page.session.targetId }).catch(() => undefined);
    await pTimeout(page.session.end, { milliseconds: closeMs, message: false });
  }

  /**
   * Finds the element of a reference, also after the page replaced it. Searches the reference's tab; with `tabId`, only
   * that one. @throws {ServiceError} 409 `stale_reference`.
   */
  async resolve(ref: string, tabId?: string): Promise<ResolvedElement> {
    const known = this.references.get(ref);
    if (known === undefined || (tabId !== undefined && tabId !== known.tabId))
      throw ServiceError.of(unknownReference(ref, tabId));
    const tab = await this.tab(known.tabId).catch((error: unknown) => {
      throw ServiceError.isInstance(error) && error.status === 404
        ? ServiceError.of(staleReference(describeElement(known)))
        : error;
    });
    const present = await find(tab, known);
    if (present !== undefined) return { tab, known, element: present, replaced: false };
    const elements = await this.#readElements(tab);
    const { identity } = known;
    const next = identity === undefined ? undefined : elements.find((one) => one.identity === identity);
    const element = next && (await find(tab, next));
    if (next === undefined || element === undefined) throw ServiceError.of(staleReference(describeElement(known)));
    this.references.rebind(ref, next);
    return { tab, known: { ...known, ...next }, element, replaced: true };
  }

  async close(): Promise<void> {
    const followed = [...this.#followed.values()];
    this.#followed.clear();
    this.#tabs?.list.close();
    this.#tabs = undefined;
    // Pages that could not be opened have nothing to close.
    await Promise.allSettled(followed.map(async (opening) => (await opening).close()));
  }

  async #shown({ cdp, listed }: ListedTabs): Promise<readonly BrowserTab[]> {
    const front = await this.#front(cdp, listed);
    return listed.map((tab) => ({ id: tab.id, url: tab.url, title: tab.title, active: tab === front }));
  }

  async #open({ cdp, listed }: ListedTabs, id: string | undefined): Promise<OpenTab> {
    const found = id === undefined ? await this.#front(cdp, listed) : listed.find((tab) => tab.id === id);
    if (found === undefined) throw ServiceError.of(id === undefined ? noTab : unknownTab(id, listed));
    return { id: found.id, targetId: found.targetId, page: await this.#follow(cdp, found.targetId) };
  }

  async #list(): Promise<ListedTabs> {
    const cdp = await this.#browser.cdp().catch((error: unknown) => {
      throw browserGone(error);
    });
    if (this.#tabs?.cdp !== cdp) {
      this.#tabs?.list.close();
      this.#tabs = { cdp, list: new TabList(cdp, this.#tabs?.list.lastId) };
      cdp.on("Browser.downloadWillBegin", ({ frameId, url }, sessionId) => {
        if (sessionId !== undefined) return;
        this.#downloads.set(frameId, url);
        for (const oldest of this.#downloads.keys())
          if (this.#downloads.size > maxFollowed) this.#downloads.delete(oldest);
      });
    }
    const listed = await this.#tabs.list.list().catch((error: unknown) => {
      throw browserGone(error);
    });
    return { cdp, listed };
  }

  async #front(cdp: CdpConnection, listed: readonly ListedTab[]): Promise<ListedTab | undefined> {
    const shown = await visibleOf(
      cdp,
      listed.map(({ targetId }) => targetId),
    );
    const selected = this.#selected?.shown === shown ? this.#selected?.targetId : undefined;
    return listed.find((tab) => tab.targetId === selected) ?? listed.find((tab) => tab.targetId === shown);
  }

  async #follow(cdp: CdpConnection, targetId: string): Promise<FollowedPage> {
    const known = await this.#followed.get(targetId)?.catch(() => undefined);
    if (known !== undefined && !known.session.ended && known.cdp === cdp) return known;
    const opening = FollowedPage.open(cdp, targetId);
    this.#followed.set(targetId, opening);
    opening.catch(() => this.#followed.delete(targetId));
    const page = await opening;
    void page.session.end.then(() => {
      this.#forget(targetId, opening);
    });
    this.#limitFollowed();
    return page;
  }

  #forget(targetId: string, opening: Promise<FollowedPage>): void {
    if (this.#followed.get(targetId) === opening) this.#followed.delete(targetId);
  }

  #limitFollowed(): void {
    const [oldest] = this.#followed;
    if (oldest === undefined || this.#followed.size <= maxFollowed) return;
    const [targetId, opening] = oldest;
    this.#followed.delete(targetId);
    opening.then(
      (page) => page.close(),
      () => undefined,
    );
  }
}

async function find(tab: OpenTab, { address }: DescribedElement): Promise<ElementHandle | undefined> {
  return tab.page.hasTarget(address.target.sessionId) ? ElementHandle.connectedAt(tab.page, address) : undefined;
}
