import { CdpError, type CdpConnection } from "../cdp/pipe-connection.ts";
import { openPageSession, type PageSession } from "../computer/page-session.ts";
import { createPageView } from "../computer/page-view.ts";
import { beginScreencast, type Screencast } from "../pages/screencast.ts";
import { attachToPage, findVisiblePage, type AttachedPage } from "../pages/visible-page.ts";
import { createLiveInput, type LiveInput } from "./live-input.ts";
import type { LiveViewMessage, ViewerMessage } from "./messages.ts";
import { followPageList, type PageList } from "./page-list.ts";

/** Where a live screen shows itself. */
export interface LiveScreenSink {
  /** A picture, JPEG. @returns whether anybody could take it; else {@link LiveScreen.resume} tells when. */
  frame(jpeg: Buffer): boolean;
  tell(message: LiveViewMessage): void;
}

/** The page that viewers see of one browser, and what they do to it. */
export interface LiveScreen {
  /** Whether anybody may touch it: the page is then held so that its dialogs wait for an answer. */
  setTouched(touched: boolean): void;
  /** Does what a viewer asks for. @returns resolves with what there is to answer to it alone. */
  act(message: Exclude<ViewerMessage, { type: "drawn" }>): Promise<LiveViewMessage | undefined>;
  /** Lets go of the keys and buttons that are down. */
  release(): void;
  /** Somebody can take pictures again. */
  resume(): void;
  end(): void;
}

/** Most that a picture is wide or high, in pixels. */
const maxPictureSide = 1920;
const jpegQuality = 75;
/** More pages than a person overlooks. */
const maxPages = 50;
/** Of pages that load, title and address change several times. */
const tabsQuietMs = 50;

/** An action that could not be done, with the reason for the viewer. */
class Refused extends Error {}

export function showScreen(cdp: CdpConnection, sink: LiveScreenSink): LiveScreen {
  let ended = false;
  let touched = false;
  let list: PageList | undefined;
  let shown: AttachedPage | undefined;
  let hand: { readonly session: PageSession; readonly input: LiveInput; readonly stop: () => void } | undefined;
  let cast: Screencast | undefined;
  /** Where the page that is shown is. */
  let url: string | undefined;
  let size = "";
  let heldAck: (() => void) | undefined;
  let tabsTimer: NodeJS.Timeout | undefined;
  /** One turn after the other. */
  let turning: Promise<unknown> = Promise.resolve();

  function tellTabs(): void {
    tabsTimer ??= setTimeout(() => {
      tabsTimer = undefined;
      if (!ended) sink.tell({ type: "tabs", tabs: list?.pages ?? [], shown: shown?.targetId ?? null });
    }, tabsQuietMs);
  }

  function turn(find: () => string | undefined | Promise<string | undefined>): Promise<void> {
    const turned = turning.then(async () => {
      if (ended) return;
      const targetId = await find();
      if (targetId === undefined) await showNothing();
      else if (targetId !== shown?.targetId) await show(targetId);
    });
    turning = turned.catch(() => undefined);
    return turned;
  }

  function look(): void {
    // A page that went meanwhile is told of by itself.
    turn(() => findVisiblePage(cdp)).catch(() => undefined);
  }

  async function showNothing(): Promise<void> {
    cast?.end();
    cast = undefined;
    await letGo();
    await shown?.[Symbol.asyncDispose]();
    shown = undefined;
    sink.tell({ type: "state", state: "no_page" });
    tellTabs();
  }

  async function show(targetId: string): Promise<void> {
    const former = shown;
    const next = await attachToPage(cdp, targetId);
    cast?.end();
    cast = undefined;
    shown = next;
    heldAck = undefined;
    await letGo();
    await former?.[Symbol.asyncDispose]();
    if (isTrue(ended)) {
      await next[Symbol.asyncDispose]();
      return;
    }
    tellTabs();
    sink.tell({ type: "state", state: "running" });
    cast = beginScreencast(cdp, next.sessionId, { format: "jpeg", quality: jpegQuality, maxWidth: maxPictureSide, maxHeight: maxPictureSide });
    await cast.begun;
    if (touched) await takeHold(targetId);
  }

  /** Attaches for input. It tells of dialogs too, and so keeps them open. */
  async function takeHold(targetId: string): Promise<void> {
    const session = await openPageSession(cdp, targetId);
    const { sessionId } = session;
    const stops = [
      cdp.on("Page.javascriptDialogOpening", ({ type, message, defaultPrompt = "" }, from) => {
        if (from === sessionId) sink.tell({ type: "dialog", dialog: { kind: type, message, default_text: defaultPrompt } });
      }),
      cdp.on("Page.javascriptDialogClosed", (_event, from) => {
        if (from === sessionId) sink.tell({ type: "dialog", dialog: null });
      }),
    ];
    hand = {
      session,
      input: createLiveInput(cdp, sessionId),
      stop() {
        for (const stop of stops) stop();
      },
    };
    if (isTrue(ended) || shown?.targetId !== targetId) await letGo();
  }

  async function letGo(): Promise<void> {
    const former = hand;
    hand = undefined;
    if (former === undefined) return;
    former.input.release();
    former.stop();
    sink.tell({ type: "dialog", dialog: null });
    await former.session.close();
  }

  function onHand(): NonNullable<typeof hand> {
    if (hand === undefined || hand.session.ended) throw new Refused("No page is shown that takes input.");
    return hand;
  }

  function present(): AttachedPage {
    if (shown === undefined) throw new Refused("No page is shown.");
    return shown;
  }

  async function showTab(targetId: string): Promise<void> {
    if (list?.pages.some(({ id }) => id === targetId) !== true) throw new Refused("That page was closed meanwhile.");
    await cdp.send("Target.activateTarget", { targetId });
    await turn(() => targetId);
  }

  async function openTab(): Promise<void> {
    if ((list?.pages.length ?? 0) >= maxPages) throw new Refused(`${String(maxPages)} pages are open. Close one first.`);
    const { targetId } = await cdp.send("Target.createTarget", { url: "about:blank" });
    await turn(() => targetId);
  }

  async function closeTab(targetId: string): Promise<void> {
    // A browser may end with its last page.
    if ((list?.pages.length ?? 0) <= 1) await cdp.send("Target.createTarget", { url: "about:blank" });
    await cdp.send("Target.closeTarget", { targetId });
  }

  async function navigate(asked: string): Promise<void> {
    const url = addressOf(asked);
    if (url === undefined) throw new Refused("Only http, https and about:blank addresses can be opened here.");
    // Answered when there is an answer of the site, which may take its time.
    cdp.send("Page.navigate", { url }, present().sessionId).then(
      ({ errorText }) => {
        if (errorText !== undefined && errorText !== "net::ERR_ABORTED")
          sink.tell({ type: "notice", message: `${url.slice(0, 200)} could not be opened: ${errorText}` });
      },
      () => undefined,
    );
  }

  async function moveInHistory(action: "back" | "forward" | "reload" | "stop"): Promise<void> {
    const { sessionId } = present();
    if (action === "reload") await cdp.send("Page.reload", undefined, sessionId);
    else if (action === "stop") await cdp.send("Page.stopLoading", undefined, sessionId);
    else {
      const { currentIndex, entries } = await cdp.send("Page.getNavigationHistory", undefined, sessionId);
      const entry = entries[currentIndex + (action === "back" ? -1 : 1)];
      if (entry !== undefined) await cdp.send("Page.navigateToHistoryEntry", { entryId: entry.id }, sessionId);
    }
  }

  async function paste(text: string): Promise<void> {
    const { session, input } = onHand();
    try {
      await createPageView(session).writeClipboard(text);
    } catch {
      // A page that does not let the clipboard be written, or a frame of another site with the focus.
      input.send({ type: "text", text });
      return;
    }
    const key = { type: "key", key: "v", code: "KeyV", key_code: 86, location: 0, modifiers: 2, repeat: false } as const;
    input.send({ ...key, action: "down" });
    input.send({ ...key, action: "up" });
  }

  async function act(message: Exclude<ViewerMessage, { type: "drawn" }>): Promise<LiveViewMessage | undefined> {
    switch (message.type) {
      case "mouse":
      case "wheel":
      case "key":
      case "text":
      case "compose":
        hand?.input.send(message);
        return undefined;
      case "paste":
        await paste(message.text);
        return undefined;
      case "write_clipboard":
        await createPageView(onHand().session).writeClipboard(message.text);
        return undefined;
      case "read_clipboard":
        return { type: "clipboard", text: await createPageView(onHand().session).readClipboard() };
      case "tab":
        await (message.action === "show" ? showTab(message.id) : closeTab(message.id));
        return undefined;
      case "open_tab":
        await openTab();
        return undefined;
      case "navigate":
        await navigate(message.url);
        return undefined;
      case "history":
        await moveInHistory(message.action);
        return undefined;
      case "dialog": {
        const { accept, text } = message;
        await cdp.send("Page.handleJavaScriptDialog", { accept, ...(text !== undefined && { promptText: text }) }, onHand().session.sessionId);
        return undefined;
      }
    }
  }

  const stops = [
    cdp.on("Page.screencastFrame", ({ data, metadata, sessionId: number }, from) => {
      if (from === undefined || from !== shown?.sessionId) return;
      cast?.pictureCame();
      const width = Math.round(metadata.deviceWidth);
      const height = Math.round(metadata.deviceHeight);
      if (size !== `${String(width)}x${String(height)}`) {
        size = `${String(width)}x${String(height)}`;
        sink.tell({ type: "size", width, height });
      }
      const ack = (): void => {
        cdp.send("Page.screencastFrameAck", { sessionId: number }, from).catch(() => undefined);
      };
      if (sink.frame(Buffer.from(data, "base64"))) ack();
      else heldAck = ack;
    }),
    cdp.on("Page.screencastVisibilityChanged", ({ visible }, from) => {
      if (from === shown?.sessionId && !visible) look();
    }),
    cdp.on("Target.detachedFromTarget", ({ sessionId }) => {
      if (sessionId !== shown?.sessionId) return;
      shown = undefined;
      look();
    }),
  ];

  function end(): void {
    if (ended) return;
    ended = true;
    clearTimeout(tabsTimer);
    cast?.end();
    for (const stop of stops) stop();
    list?.end();
    void letGo();
    void shown?.[Symbol.asyncDispose]();
  }

  void cdp.closed.then(end);
  look();
  followPageList(cdp, (change) => {
    tellTabs();
    const now = list?.pages.find(({ id }) => id === shown?.targetId)?.url;
    if (now !== url) cast?.pageChanged();
    url = now;
    // Those that were open before are told of too: only what is new has come to the front.
    if (list !== undefined && change === "opened") look();
  }).then(
    (made) => {
      if (ended) made.end();
      list = made;
      tellTabs();
    },
    () => undefined,
  );

  return {
    setTouched(value) {
      if (touched === value) return;
      touched = value;
      turning = turning
        .then(() => {
          if (ended || shown === undefined) return undefined;
          if (!touched) return letGo();
          return hand === undefined ? takeHold(shown.targetId) : undefined;
        })
        .catch(() => undefined);
    },
    async act(message) {
      try {
        return await act(message);
      } catch (error) {
        return { type: "notice", message: reasonOf(error) };
      }
    },
    release() {
      hand?.input.release();
    },
    resume() {
      const ack = heldAck;
      heldAck = undefined;
      ack?.();
    },
    end,
  };
}

/** What a person means who types an address; `undefined` for what a viewer may not open. */
export function addressOf(typed: string): string | undefined {
  const text = typed.trim();
  if (text === "about:blank") return text;
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(\/|$)/i.test(text);
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `${isLocal ? "http" : "https"}://${text}`;
  if (!URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return protocol === "http:" || protocol === "https:" ? href : undefined;
}

function reasonOf(error: unknown): string {
  if (error instanceof CdpError) return "The page went away meanwhile.";
  return error instanceof Error ? error.message : String(error);
}

/** As a function, for the compiler takes what it saw before an `await` for what holds after it. */
function isTrue(value: boolean): boolean {
  return value;
}
