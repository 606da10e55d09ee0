import type { Protocol } from "devtools-protocol";
import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import { beginScreencast, type Screencast } from "../../browser/pages/screencast.ts";
import { attachToPage, findVisiblePage, type AttachedPage } from "../../browser/pages/visible-page.ts";

export interface Frame {
  readonly jpeg: string;
  /** When it was shown, in milliseconds since 1970. */
  readonly atMs: number;
}

/** Largest width and height of a picture, in pixels; larger pages are scaled down. */
export const maxPictureSide = 1920;
const jpegQuality = 80;
/** Interval for listing pages; a page that closes or is covered is noticed immediately. */
const lookMs = 1_000;

/** Follows the visible page across tabs and browser restarts. Returns a function that stops. */
export function followScreen(
  browser: Pick<BrowserSupervisor, "onBrowser">,
  onFrame: (frame: Frame) => void,
): () => void {
  let stopped = false;
  let leave: (() => void) | undefined;
  const stopFollowing = browser.onBrowser((cdp) => {
    leave?.();
    if (!stopped) leave = new PageFollower(cdp, onFrame).end;
  });
  return () => {
    stopped = true;
    stopFollowing();
    leave?.();
  };
}

class PageFollower {
  readonly #cdp: CdpConnection;
  readonly #onFrame: (frame: Frame) => void;
  readonly #stops: readonly (() => void)[];
  readonly #timer: NodeJS.Timeout;
  #page: AttachedPage | undefined;
  #cast: Screencast | undefined;
  #url: string | undefined;
  #known = "";
  #isHidden = false;
  #looking = false;
  #ended = false;

  constructor(cdp: CdpConnection, onFrame: (frame: Frame) => void) {
    this.#cdp = cdp;
    this.#onFrame = onFrame;
    this.#stops = this.#follow();
    this.#timer = setInterval(() => void this.#look(), lookMs);
    void this.#look();
    void cdp.closed.then(this.end);
  }

  readonly end = (): void => {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#timer);
    for (const stop of this.#stops) stop();
    this.#cast?.end();
    void this.#page?.[Symbol.asyncDispose]();
  };

  #follow(): (() => void)[] {
    const cdp = this.#cdp;
    return [
      cdp.on("Page.screencastFrame", ({ data, metadata, sessionId: number }, from) => {
        if (from === undefined || from !== this.#page?.sessionId) return;
        this.#cast?.pictureCame();
        cdp.send("Page.screencastFrameAck", { sessionId: number }, from).catch(() => undefined);
        this.#onFrame({ jpeg: data, atMs: metadata.timestamp === undefined ? Date.now() : metadata.timestamp * 1000 });
      }),
      cdp.on("Page.screencastVisibilityChanged", ({ visible }, from) => {
        if (from !== this.#page?.sessionId) return;
        this.#isHidden = !visible;
        if (this.#isHidden) void this.#look();
      }),
      cdp.on("Target.detachedFromTarget", ({ sessionId }) => {
        if (sessionId !== this.#page?.sessionId) return;
        this.#page = undefined;
        void this.#look();
      }),
    ];
  }

  async #look(): Promise<void> {
    if (this.#looking || this.#ended) return;
    this.#looking = true;
    try {
      const { targetInfos } = await this.#cdp.send("Target.getTargets", { filter: [{ type: "page" }] });
      if (!this.#hasChanged(targetInfos)) return;
      const targetId = await findVisiblePage(this.#cdp);
      if (targetId !== undefined && targetId !== this.#page?.targetId) await this.#turnTo(targetId);
    } catch {
      // The page or the browser has ended: the next look finds another page.
    } finally {
      this.#looking = false;
    }
  }

  /** Returns whether another page may be visible now. Checking visibility leaves traces in the pages. */
  #hasChanged(pages: readonly Protocol.Target.TargetInfo[]): boolean {
    const url = pages.find(({ targetId }) => targetId === this.#page?.targetId)?.url;
    if (url !== this.#url) this.#cast?.pageChanged();
    this.#url = url;
    const present = pages
      .map(({ targetId }) => targetId)
      .sort()
      .join();
    if (this.#page !== undefined && !this.#isHidden && present === this.#known) return false;
    this.#known = present;
    this.#isHidden = false;
    return true;
  }

  async #turnTo(targetId: string): Promise<void> {
    const former = this.#page;
    const next = await attachToPage(this.#cdp, targetId);
    this.#cast?.end();
    this.#cast = undefined;
    this.#page = next;
    await former?.[Symbol.asyncDispose]();
    if (this.#ended) {
      await next[Symbol.asyncDispose]();
      return;
    }
    this.#cast = beginScreencast(this.#cdp, next.sessionId, {
      format: "jpeg",
      quality: jpegQuality,
      maxWidth: maxPictureSide,
      maxHeight: maxPictureSide,
    });
    await this.#cast.begun;
  }
}
