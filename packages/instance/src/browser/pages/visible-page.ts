import pTimeout from "p-timeout";
import { CdpError, type CdpConnection, type PageOrder } from "../cdp/cdp-connection.ts";

/** Milliseconds to wait for a page to report whether it is visible. */
const visibilityTimeoutMs = 500;

/**
 * The visible tab of the window opened last; in the headless shell, the page opened last. @throws {CdpError}
 */
export async function findVisiblePage(cdp: CdpConnection): Promise<string | undefined> {
  const { targetInfos } = await cdp.send("Target.getTargets", { filter: [{ type: "page" }] });
  // A subtype marks a page that is not shown, such as a prerendered one.
  const pages = targetInfos
    .filter(({ type, subtype }) => type === "page" && subtype === undefined)
    .map(({ targetId }) => targetId);
  return visibleOf(cdp, pages);
}

/** Like {@link findVisiblePage}, for the caller that has just read the list of all pages. */
export async function visibleOf(cdp: CdpConnection, pages: readonly string[]): Promise<string | undefined> {
  if (pages.length < 2) return pages[0];
  if (cdp.pageOrder !== undefined) return cdp.pageOrder.newestOf(pages);
  const shown = await newestWindow(cdp, pages);
  if (shown.length < 2) return shown[0] ?? pages[0];
  const visible = await Promise.all(shown.map((targetId) => isVisible(cdp, targetId)));
  // A page that does not answer (a dialog or a busy script) is most likely in front: pages behind it are idle.
  const found = ["visible" as const, "silent" as const]
    .map((state) => visible.indexOf(state))
    .find((place) => place !== -1);
  return shown[found ?? 0];
}

/** The pages of a browser in the order in which they were opened. */
class OpenedPages implements PageOrder {
  readonly #places = new Map<string, number>();
  #last = 0;

  constructor(cdp: CdpConnection) {
    cdp.on("Target.targetCreated", ({ targetInfo: { targetId, type } }) => {
      if (type === "page" && !this.#places.has(targetId)) this.#places.set(targetId, ++this.#last);
    });
    cdp.on("Target.targetDestroyed", ({ targetId }) => {
      this.#places.delete(targetId);
    });
  }

  /** The event of a new page may follow the answer that names it. */
  newestOf(pages: readonly string[]): string | undefined {
    const placeOf = (targetId: string): number => this.#places.get(targetId) ?? Infinity;
    return pages.toSorted((first, second) => placeOf(second) - placeOf(first))[0];
  }
}

/**
 * For a headless shell, before `Target.setDiscoverTargets`: `Browser.getWindowForTarget` crashes it if the page is a
 * popup that closes.
 */
export function followOpenedPages(cdp: CdpConnection): void {
  cdp.pageOrder = new OpenedPages(cdp);
}

/** Other clients do not notice it. */
export interface AttachedPage extends AsyncDisposable {
  readonly targetId: string;
  readonly sessionId: string;
}

/** Disposing detaches. @throws {CdpError} when the page or the browser has ended. */
export async function attachToPage(cdp: CdpConnection, targetId: string): Promise<AttachedPage> {
  const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
  return {
    targetId,
    sessionId,
    async [Symbol.asyncDispose]() {
      // The page or the browser may have ended.
      await cdp.send("Target.detachFromTarget", { sessionId }).catch(() => undefined);
    },
  };
}

/** Opens an address in the first page, or in a new one. @throws {CdpError} */
export async function openInFirstPage(cdp: CdpConnection, url: string): Promise<void> {
  const { targetInfos } = await cdp.send("Target.getTargets");
  const target = targetInfos.find((info) => info.type === "page");
  if (target === undefined) {
    await cdp.send("Target.createTarget", { url });
    return;
  }
  await using page = await attachToPage(cdp, target.targetId);
  await cdp.send("Page.navigate", { url }, page.sessionId);
}

/** Returns the pages of the window opened last: window ids increase. */
async function newestWindow(cdp: CdpConnection, pages: readonly string[]): Promise<readonly string[]> {
  let newest = Number.NEGATIVE_INFINITY;
  let found: string[] = [];
  const windows = await Promise.all(
    pages.map(async (targetId) => {
      try {
        return (await cdp.send("Browser.getWindowForTarget", { targetId })).windowId;
      } catch (error) {
        // Closed meanwhile, or without a window.
        if (error instanceof CdpError) return undefined;
        throw error;
      }
    }),
  );
  for (const [place, targetId] of pages.entries()) {
    const window = windows[place];
    if (window === undefined || window < newest) continue;
    if (window > newest) found = [];
    newest = window;
    found.push(targetId);
  }
  return found;
}

function isVisible(cdp: CdpConnection, targetId: string): Promise<"visible" | "hidden" | "silent"> {
  return pTimeout(
    // A failure means that it was closed.
    readVisibility(cdp, targetId).catch(() => "hidden" as const),
    { milliseconds: visibilityTimeoutMs, fallback: () => "silent" as const },
  );
}

async function readVisibility(cdp: CdpConnection, targetId: string): Promise<"visible" | "hidden"> {
  const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
  try {
    // A page that was rendered in advance has a main frame with another id than its target's.
    const { frameTree } = await cdp.send("Page.getFrameTree", undefined, sessionId);
    // In an isolated world: page scripts may redefine `document.visibilityState`.
    const { executionContextId } = await cdp.send(
      "Page.createIsolatedWorld",
      { frameId: frameTree.frame.id, worldName: "" },
      sessionId,
    );
    const { result } = await cdp.send(
      "Runtime.evaluate",
      { expression: "document.visibilityState", contextId: executionContextId },
      sessionId,
    );
    return result.value === "visible" ? "visible" : "hidden";
  } finally {
    cdp.send("Target.detachFromTarget", { sessionId }).catch(() => undefined);
  }
}
