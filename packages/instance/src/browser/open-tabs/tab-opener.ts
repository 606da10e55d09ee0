import type { CdpConnection } from "../cdp/cdp-connection.ts";
import type { AttachedPage } from "../pages/visible-page.ts";
import { evaluateApart } from "./evaluate-apart.ts";
import { emptyPageId, fillStorageScript, restorePageScript } from "./page-scripts.ts";
import type { SavedTab } from "./saved-tab.ts";

/** An error status, so that Chromium does not keep the page for the way back. */
const emptyPage = {
  responseCode: 404,
  responseHeaders: [
    { name: "content-type", value: "text/html" },
    { name: "cache-control", value: "no-store" },
  ],
  body: Buffer.from(`<!doctype html><title></title><p id="${emptyPageId}">`).toString("base64"),
};

/** Opens one tab again. */
export class TabOpener {
  readonly #cdp: CdpConnection;
  readonly #page: AttachedPage;
  readonly #tab: SavedTab;
  #stopAnswering = (): void => undefined;
  #isPrepared = false;
  #isLoading = false;

  constructor(cdp: CdpConnection, page: AttachedPage, tab: SavedTab) {
    this.#cdp = cdp;
    this.#page = page;
    this.#tab = tab;
  }

  get targetId(): string {
    return this.#page.targetId;
  }

  get #address(): string {
    const { history, index } = this.#tab;
    return history[index] ?? "about:blank";
  }

  /** Makes the history of empty pages, and fills the storage of the present one. */
  async prepare(): Promise<void> {
    const { history, index, content } = this.#tab;
    const { sessionId } = this.#page;
    await this.#answerWithEmptyPages();
    for (const [place, url] of history.entries()) {
      if (this.#isLate()) return;
      await this.#untilLoaded(async () => {
        const { errorText, loaderId } = await this.#cdp.send("Page.navigate", { url }, sessionId);
        // Without a loader it is another place of the same document.
        return loaderId !== undefined && errorText === undefined;
      });
      // The page that the tab was created with.
      if (place === 0) await this.#cdp.send("Page.resetNavigationHistory", undefined, sessionId);
    }
    await this.#goBack(index);
    if (this.#isLate()) return;
    this.#isPrepared = true;
    if (content?.local_storage === undefined && content?.session_storage === undefined) return;
    await evaluateApart(this.#cdp, this.#page, fillStorageScript(content, this.#address));
  }

  /** Loads the present page from its site. */
  async load(): Promise<void> {
    const { sessionId } = this.#page;
    this.#isLoading = true;
    // Pages of the history must not be requested from their sites.
    if (!this.#isPrepared) await this.#cdp.send("Page.stopLoading", undefined, sessionId);
    this.#stopAnswering();
    await this.#cdp.send("Fetch.disable", undefined, sessionId);
    await this.#cdp.send("Network.setBypassServiceWorker", { bypass: false }, sessionId);
    await this.#cdp.send("Network.disable", undefined, sessionId);
    await this.#untilLoaded(async () => {
      const { loaderId } = this.#isPrepared
        ? {}
        : await this.#cdp.send("Page.navigate", { url: this.#address }, sessionId);
      // Without a loader, the document is still an empty page.
      if (loaderId === undefined) await this.#cdp.send("Page.reload", {}, sessionId);
      return true;
    });
    if (this.#tab.content !== undefined)
      await evaluateApart(this.#cdp, this.#page, restorePageScript(this.#tab.content, this.#address));
  }

  /** Preparing took too long: from here on, sites would be asked. */
  #isLate(): boolean {
    return this.#isLoading;
  }

  async close(): Promise<void> {
    this.#stopAnswering();
    await this.#page[Symbol.asyncDispose]();
  }

  async #answerWithEmptyPages(): Promise<void> {
    const { sessionId } = this.#page;
    this.#stopAnswering = this.#cdp.on("Fetch.requestPaused", ({ requestId }, from) => {
      if (from === sessionId)
        this.#cdp.send("Fetch.fulfillRequest", { requestId, ...emptyPage }, sessionId).catch(() => undefined);
    });
    await this.#cdp.send("Fetch.enable", { patterns: [{ urlPattern: "*" }] }, sessionId);
    await this.#cdp.send("Network.enable", {}, sessionId);
    await this.#cdp.send("Network.setBypassServiceWorker", { bypass: true }, sessionId);
    await this.#cdp.send("Page.enable", undefined, sessionId);
  }

  /** To an entry of the history. Its document may be the present one. */
  async #goBack(index: number): Promise<void> {
    const { sessionId } = this.#page;
    const { currentIndex, entries } = await this.#cdp.send("Page.getNavigationHistory", undefined, sessionId);
    const entry = entries[index];
    if (entry === undefined || index === currentIndex || this.#isLate()) return;
    const arrived = Promise.withResolvers<undefined>();
    const look = (from: string | undefined): void => {
      if (from === sessionId) arrived.resolve(undefined);
    };
    const stops = [
      this.#cdp.on("Page.loadEventFired", (_event, from) => {
        look(from);
      }),
      this.#cdp.on("Page.navigatedWithinDocument", (_event, from) => {
        look(from);
      }),
    ];
    try {
      await this.#cdp.send("Page.navigateToHistoryEntry", { entryId: entry.id }, sessionId);
      await arrived.promise;
    } finally {
      for (const stop of stops) stop();
    }
  }

  /** @param start - whether a document is loaded then. */
  async #untilLoaded(start: () => Promise<boolean>): Promise<void> {
    const loaded = Promise.withResolvers<undefined>();
    const stop = this.#cdp.on("Page.loadEventFired", (_event, from) => {
      if (from === this.#page.sessionId) loaded.resolve(undefined);
    });
    try {
      if (await start()) await loaded.promise;
    } finally {
      stop();
    }
  }
}
