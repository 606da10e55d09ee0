import pLimit from "p-limit";
import { messageOf } from "@shoal/primitives";
import { CdpError, type CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import { beginScreencast, type Screencast } from "../../browser/pages/screencast.ts";
import { attachToPage, findVisiblePage, type AttachedPage } from "../../browser/pages/visible-page.ts";
import { isTrue } from "../../system/is-true.ts";
import { Hand } from "./hand.ts";
import type { LiveViewMessage, ViewerMessage } from "./messages.ts";
import { followPageList, type PageList } from "./page-list.ts";
import { addressOf } from "./typed-address.ts";
import { ViewClipboard } from "./view-clipboard.ts";

export interface LiveScreenSink {
  /** Returns whether a viewer could receive it; if not, {@link LiveScreen.resume} is called later. */
  frame(jpeg: Buffer): boolean;
  tell(message: LiveViewMessage): void;
}

/** Largest width and height of a picture, in pixels. */
const maxPictureSide = 1920;
const jpegQuality = 75;
const maxPages = 50;
/** The title and address of a loading page change several times. */
const tabsQuietMs = 50;
/** Messages for a page that is attached for input. */
const needsHand: ReadonlySet<ViewerMessage["type"]> = new Set([
  "compose",
  "dialog",
  "key",
  "mouse",
  "paste",
  "read_clipboard",
  "text",
  "wheel",
  "write_clipboard",
]);
/** How many messages wait until the page is attached for input; further ones are dropped. */
const maxWaiting = 200;

class Refused extends Error {}

export interface Answering {
  /** Whether the viewer is still connected. */
  isPresent(): boolean;
  /** For this viewer only. */
  answer(message: LiveViewMessage): void;
}

export class LiveScreen {
  readonly #cdp: CdpConnection;
  readonly #sink: LiveScreenSink;
  /** Absent where the browser's own can be used. */
  readonly #clipboard: ViewClipboard | undefined;
  #ended = false;
  #touched = false;
  #list: PageList | undefined;
  #shown: AttachedPage | undefined;
  #hand: Hand | undefined;
  /** Resolves when the page is attached for the input of a new viewer. */
  #holding: Promise<void> = Promise.resolve();
  #waiting = 0;
  #cast: Screencast | undefined;
  #url: string | undefined;
  #size = "";
  #heldAck: (() => void) | undefined;
  #tabsTimer: NodeJS.Timeout | undefined;
  readonly #oneAtATime = pLimit(1);
  readonly #stops: readonly (() => void)[];
  readonly end = (): void => {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#tabsTimer);
    this.#cast?.end();
    for (const stop of this.#stops) stop();
    this.#list?.end();
    this.#letGo();
    void this.#shown?.[Symbol.asyncDispose]();
  };

  constructor(cdp: CdpConnection, sink: LiveScreenSink) {
    this.#cdp = cdp;
    this.#sink = sink;
    this.#clipboard = cdp.sharesClipboard === true ? new ViewClipboard() : undefined;
    this.#stops = [
      this.#cdp.on("Page.screencastFrame", ({ data, metadata, sessionId: number }, from) => {
        if (from === undefined || from !== this.#shown?.sessionId) return;
        this.#cast?.pictureCame();
        const width = Math.round(metadata.deviceWidth);
        const height = Math.round(metadata.deviceHeight);
        if (this.#size !== `${String(width)}x${String(height)}`) {
          this.#size = `${String(width)}x${String(height)}`;
          this.#sink.tell({ type: "size", width, height });
        }
        const ack = (): void => {
          this.#cdp.send("Page.screencastFrameAck", { sessionId: number }, from).catch(() => undefined);
        };
        if (this.#sink.frame(Buffer.from(data, "base64"))) ack();
        else this.#heldAck = ack;
      }),
      this.#cdp.on("Page.screencastVisibilityChanged", ({ visible }, from) => {
        if (from === this.#shown?.sessionId && !visible) this.#look();
      }),
      this.#cdp.on("Target.detachedFromTarget", ({ sessionId }) => {
        if (sessionId !== this.#shown?.sessionId) return;
        this.#shown = undefined;
        this.#look();
      }),
    ];

    void this.#cdp.closed.then(this.end);

    this.#look();

    followPageList(this.#cdp, (change) => {
      this.#tellTabs();
      const now = this.#list?.pages.find(({ id }) => id === this.#shown?.targetId)?.url;
      if (now !== this.#url) this.#cast?.pageChanged();
      this.#url = now;
      // Existing pages are reported too; only a new page is in front.
      if (this.#list !== undefined && change === "opened") this.#look();
    }).then(
      (made) => {
        if (this.#ended) made.end();
        this.#list = made;
        this.#tellTabs();
      },
      () => undefined,
    );
  }

  get shownId(): string | undefined {
    return this.#shown?.targetId;
  }

  #tellTabs(): void {
    this.#tabsTimer ??= setTimeout(() => {
      this.#tabsTimer = undefined;
      if (!this.#ended)
        this.#sink.tell({ type: "tabs", tabs: this.#list?.pages ?? [], shown: this.#shown?.targetId ?? null });
    }, tabsQuietMs);
  }

  #turn(find: () => string | undefined | Promise<string | undefined>): Promise<void> {
    return this.#oneAtATime(async () => {
      if (this.#ended) return;
      const targetId = await find();
      if (targetId === undefined) await this.#showNothing();
      else if (targetId !== this.#shown?.targetId) await this.#show(targetId);
    });
  }

  #look(): void {
    // The end of a page is reported by another event.
    this.#turn(() => findVisiblePage(this.#cdp)).catch(() => undefined);
  }

  async #showNothing(): Promise<void> {
    this.#cast?.end();
    this.#cast = undefined;
    this.#letGo();
    await this.#shown?.[Symbol.asyncDispose]();
    this.#shown = undefined;
    this.#sink.tell({ type: "state", state: "no_page" });
    this.#tellTabs();
  }

  async #show(targetId: string): Promise<void> {
    const former = this.#shown;
    const next = await attachToPage(this.#cdp, targetId);
    this.#cast?.end();
    this.#cast = undefined;
    this.#shown = next;
    this.#heldAck = undefined;
    this.#letGo();
    await former?.[Symbol.asyncDispose]();
    if (isTrue(this.#ended)) {
      await next[Symbol.asyncDispose]();
      return;
    }
    this.#tellTabs();
    this.#sink.tell({ type: "state", state: "running" });
    // Before the first picture: viewers act on what they see.
    if (this.#touched) await this.#takeHold(targetId);
    this.#cast = beginScreencast(this.#cdp, next.sessionId, {
      format: "jpeg",
      quality: jpegQuality,
      maxWidth: maxPictureSide,
      maxHeight: maxPictureSide,
    });
    await this.#cast.begun;
  }

  async #takeHold(targetId: string): Promise<void> {
    this.#hand = await Hand.take(this.#cdp, targetId, {
      clipboard: this.#clipboard,
      tell: (message) => {
        this.#sink.tell(message);
      },
    });
    if (isTrue(this.#ended) || this.#shown?.targetId !== targetId) this.#letGo();
  }

  #letGo(): void {
    const former = this.#hand;
    this.#hand = undefined;
    former?.letGo();
  }

  #onHand(): Hand {
    if (this.#hand === undefined || this.#hand.session.ended) throw new Refused("No page accepts input now.");
    return this.#hand;
  }

  #present(): AttachedPage {
    if (this.#shown === undefined) throw new Refused("No page is shown.");
    return this.#shown;
  }

  async #showTab(targetId: string): Promise<void> {
    if (this.#list?.pages.some(({ id }) => id === targetId) !== true) throw new Refused("That page has been closed.");
    await this.#cdp.send("Target.activateTarget", { targetId });
    await this.#turn(() => targetId);
  }

  async #openTab(): Promise<void> {
    if ((this.#list?.pages.length ?? 0) >= maxPages)
      throw new Refused(`${String(maxPages)} pages are open. Close one first.`);
    const { targetId } = await this.#cdp.send("Target.createTarget", { url: "about:blank" });
    await this.#turn(() => targetId);
  }

  async #closeTab(targetId: string): Promise<void> {
    // A browser may end with its last page.
    if ((this.#list?.pages.length ?? 0) <= 1) await this.#cdp.send("Target.createTarget", { url: "about:blank" });
    await this.#cdp.send("Target.closeTarget", { targetId });
  }

  async #navigate(asked: string): Promise<void> {
    const url = addressOf(asked);
    if (url === undefined) throw new Refused("Only http, https and about:blank addresses can be opened.");
    // Resolves with the site's answer, which may take long.
    this.#cdp.send("Page.navigate", { url }, this.#present().sessionId).then(
      ({ errorText }) => {
        if (errorText !== undefined && errorText !== "net::ERR_ABORTED")
          this.#sink.tell({ type: "notice", message: `${url.slice(0, 200)} could not be opened: ${errorText}` });
      },
      () => undefined,
    );
  }

  async #moveInHistory(action: "back" | "forward" | "reload" | "stop"): Promise<void> {
    const { sessionId } = this.#present();
    if (action === "reload") await this.#cdp.send("Page.reload", undefined, sessionId);
    else if (action === "stop") await this.#cdp.send("Page.stopLoading", undefined, sessionId);
    else {
      const { currentIndex, entries } = await this.#cdp.send("Page.getNavigationHistory", undefined, sessionId);
      const entry = entries[currentIndex + (action === "back" ? -1 : 1)];
      if (entry !== undefined) await this.#cdp.send("Page.navigateToHistoryEntry", { entryId: entry.id }, sessionId);
    }
  }

  async #act(message: Exclude<ViewerMessage, { type: "drawn" }>): Promise<LiveViewMessage | undefined> {
    switch (message.type) {
      case "mouse":
      case "wheel":
      case "key":
      case "text":
      case "compose":
        this.#hand?.send(message);
        return undefined;
      case "paste":
        await this.#onHand().paste(message.text);
        return undefined;
      case "write_clipboard":
        await (this.#clipboard ?? this.#onHand().clipboard).writeClipboard(message.text);
        return undefined;
      case "read_clipboard":
        return { type: "clipboard", text: await (this.#clipboard ?? this.#onHand().clipboard).readClipboard() };
      case "tab":
        await (message.action === "show" ? this.#showTab(message.id) : this.#closeTab(message.id));
        return undefined;
      case "open_tab":
        await this.#openTab();
        return undefined;
      case "navigate":
        await this.#navigate(message.url);
        return undefined;
      case "history":
        await this.#moveInHistory(message.action);
        return undefined;
      case "dialog": {
        const { accept, text } = message;
        await this.#cdp.send(
          "Page.handleJavaScriptDialog",
          { accept, ...(text !== undefined && { promptText: text }) },
          this.#onHand().session.sessionId,
        );
        return undefined;
      }
    }
  }

  /** While a viewer may control the page, it stays attached, so that its dialogs wait for an answer. */
  setTouched(value: boolean): void {
    if (this.#touched === value) return;
    this.#touched = value;
    this.#holding = this.#oneAtATime(() => {
      if (this.#ended || this.#shown === undefined) return undefined;
      if (!this.#touched) {
        this.#letGo();
        return undefined;
      }
      return this.#hand === undefined ? this.#takeHold(this.#shown.targetId) : undefined;
    }).catch(() => undefined);
  }

  /** Resolves when the page has handled the message. */
  async act(message: Exclude<ViewerMessage, { type: "drawn" }>, viewer: Answering): Promise<void> {
    try {
      // In order: a navigation does not overtake keys for the page before it.
      if (this.#hand === undefined && (needsHand.has(message.type) || this.#waiting > 0)) {
        if (this.#waiting >= maxWaiting) return;
        this.#waiting++;
        await this.#holding;
        this.#waiting--;
        if (!viewer.isPresent()) return;
      }
      const hand = this.#hand;
      const answer = await this.#act(message);
      if (answer !== undefined) viewer.answer(answer);
      await hand?.handled();
    } catch (error) {
      viewer.answer({ type: "notice", message: reasonOf(error) });
    }
  }

  release(): void {
    this.#hand?.input.release();
  }

  /** Call this when a viewer can receive pictures again. */
  resume(): void {
    const ack = this.#heldAck;
    this.#heldAck = undefined;
    ack?.();
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof CdpError) return "The page has been closed.";
  return messageOf(error);
}
