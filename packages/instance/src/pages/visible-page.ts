import { CdpError, type CdpConnection } from "../cdp/pipe-connection.ts";

/** How long a page may take to say whether it can be seen, before another one is taken, in milliseconds. */
const visibilityTimeoutMs = 500;

/**
 * Finds the page that a person in front of the browser would see: in the window that was opened last, its visible tab. The headless
 * shell gives every page a window of its own and hides none, so there it is the page that was opened last; that another one was
 * brought to its front cannot be seen from outside.
 *
 * @returns the page's target; `undefined` when no page is open.
 * @throws {CdpError} when the browser is gone.
 */
export async function findVisiblePage(cdp: CdpConnection): Promise<string | undefined> {
  const { targetInfos } = await cdp.send("Target.getTargets", { filter: [{ type: "page" }] });
  // A subtype is a page that is being prepared and not shown, such as a prerendered one.
  const pages = targetInfos.filter(({ type, subtype }) => type === "page" && subtype === undefined).map(({ targetId }) => targetId);
  if (pages.length < 2) return pages[0];
  const shown = await newestWindow(cdp, pages);
  if (shown.length < 2) return shown[0] ?? pages[0];
  const visible = await Promise.all(shown.map((targetId) => isVisible(cdp, targetId)));
  // A page that cannot answer, because a dialog is open or a script runs, most likely has the front: those behind are idle.
  const found = ["visible" as const, "silent" as const].map((state) => visible.indexOf(state)).find((place) => place !== -1);
  return shown[found ?? 0];
}

/** An attached CDP session on one page; other clients do not notice it. */
export interface AttachedPage extends AsyncDisposable {
  readonly targetId: string;
  readonly sessionId: string;
}

/**
 * Attaches to a page; disposing detaches.
 *
 * @throws {CdpError} when the page or the browser is gone.
 */
export async function attachToPage(cdp: CdpConnection, targetId: string): Promise<AttachedPage> {
  const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
  return {
    targetId,
    sessionId,
    async [Symbol.asyncDispose]() {
      // It may be gone already, with its page or the whole browser.
      await cdp.send("Target.detachFromTarget", { sessionId }).catch(() => undefined);
    },
  };
}

/** The pages of the window that was opened last: windows are numbered upwards. */
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

async function isVisible(cdp: CdpConnection, targetId: string): Promise<"visible" | "hidden" | "silent"> {
  const timeout = Promise.withResolvers<"silent">();
  const timer = setTimeout(timeout.resolve, visibilityTimeoutMs, "silent");
  try {
    return await Promise.race([readVisibility(cdp, targetId), timeout.promise]);
  } catch {
    // It is gone.
    return "hidden";
  } finally {
    clearTimeout(timer);
  }
}

async function readVisibility(cdp: CdpConnection, targetId: string): Promise<"visible" | "hidden"> {
  const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
  try {
    // Not in the page's own world, whose scripts may give `document` another `visibilityState`. A page's main frame has its target's id.
    const { executionContextId } = await cdp.send("Page.createIsolatedWorld", { frameId: targetId, worldName: "" }, sessionId);
    const { result } = await cdp.send("Runtime.evaluate", { expression: "document.visibilityState", contextId: executionContextId }, sessionId);
    return result.value === "visible" ? "visible" : "hidden";
  } finally {
    cdp.send("Target.detachFromTarget", { sessionId }).catch(() => undefined);
  }
}
