import type { CdpConnection } from "../cdp/pipe-connection.ts";
import type { BrowserSupervisor } from "../chromium/supervisor.ts";
import { beginScreencast, type Screencast } from "../pages/screencast.ts";
import { attachToPage, findVisiblePage, type AttachedPage } from "../pages/visible-page.ts";

/** A picture of the page in front. */
export interface Frame {
  /** Base64. */
  readonly jpeg: string;
  /** When it was shown, in milliseconds since 1970. */
  readonly atMs: number;
}

/** Most that a picture is wide or high, in pixels; larger pages are recorded smaller. */
export const maxPictureSide = 1920;
const jpegQuality = 80;
/** How often it is looked which pages there are; one that goes away, or behind another, is noticed at once. */
const lookMs = 1_000;

/**
 * Follows what a person in front of the browser would see, from page to page, and into the browser that is started after a crash.
 *
 * @returns ends it.
 */
export function followScreen(browser: Pick<BrowserSupervisor, "onBrowser">, onFrame: (frame: Frame) => void): () => void {
  let stopped = false;
  let leave: (() => void) | undefined;
  const stopFollowing = browser.onBrowser((cdp) => {
    leave?.();
    if (!stopped) leave = followPages(cdp, onFrame);
  });
  return () => {
    stopped = true;
    stopFollowing();
    leave?.();
  };
}

function followPages(cdp: CdpConnection, onFrame: (frame: Frame) => void): () => void {
  let page: AttachedPage | undefined;
  let cast: Screencast | undefined;
  /** Where the page was at the last look. */
  let url: string | undefined;
  let looking = false;
  let ended = false;
  /** Pages of the last look. */
  let known = "";
  /** Whether the page has gone behind another since then. */
  let isHidden = false;

  async function look(): Promise<void> {
    if (looking || ended) return;
    looking = true;
    try {
      const { targetInfos } = await cdp.send("Target.getTargets", { filter: [{ type: "page" }] });
      const present = targetInfos
        .map(({ targetId }) => targetId)
        .sort()
        .join();
      const now = targetInfos.find(({ targetId }) => targetId === page?.targetId)?.url;
      if (now !== url) cast?.pageChanged();
      url = now;
      // To find out what is visible leaves traces in the pages: not without a reason.
      if (page !== undefined && !isHidden && present === known) return;
      known = present;
      isHidden = false;
      const targetId = await findVisiblePage(cdp);
      if (targetId !== undefined && targetId !== page?.targetId) await turnTo(targetId);
    } catch {
      // The page went meanwhile, or the browser: the next look finds another.
    } finally {
      looking = false;
    }
  }

  async function turnTo(targetId: string): Promise<void> {
    const former = page;
    const next = await attachToPage(cdp, targetId);
    cast?.end();
    cast = undefined;
    page = next;
    await former?.[Symbol.asyncDispose]();
    if (isEnded()) {
      await next[Symbol.asyncDispose]();
      return;
    }
    cast = beginScreencast(cdp, next.sessionId, { format: "jpeg", quality: jpegQuality, maxWidth: maxPictureSide, maxHeight: maxPictureSide });
    await cast.begun;
  }
  // TypeScript would take it for unchanged across an `await`.
  const isEnded = (): boolean => ended;

  const stops = [
    cdp.on("Page.screencastFrame", ({ data, metadata, sessionId: number }, from) => {
      if (from === undefined || from !== page?.sessionId) return;
      cast?.pictureCame();
      cdp.send("Page.screencastFrameAck", { sessionId: number }, from).catch(() => undefined);
      onFrame({ jpeg: data, atMs: metadata.timestamp === undefined ? Date.now() : metadata.timestamp * 1000 });
    }),
    cdp.on("Page.screencastVisibilityChanged", ({ visible }, from) => {
      if (from !== page?.sessionId) return;
      isHidden = !visible;
      if (isHidden) void look();
    }),
    cdp.on("Target.detachedFromTarget", ({ sessionId }) => {
      if (sessionId !== page?.sessionId) return;
      page = undefined;
      void look();
    }),
  ];
  const timer = setInterval(() => void look(), lookMs);
  void look();
  function end(): void {
    if (ended) return;
    ended = true;
    clearInterval(timer);
    for (const stop of stops) stop();
    cast?.end();
    void page?.[Symbol.asyncDispose]();
  }
  void cdp.closed.then(end);
  return end;
}
