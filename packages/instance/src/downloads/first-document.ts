import type { CdpConnection } from "../cdp/pipe-connection.ts";
import { attachToPage } from "../pages/visible-page.ts";

/**
 * Navigates a tab to `about:blank` when its first navigation became a download. Such a tab has no document, and Playwright's
 * `connectOverCDP` waits for one in every tab: a single such tab blocks all later Playwright clients.
 *
 * @param frameId - the frame that started the download; the id of a main frame is also its target's id.
 * @throws {CdpError} when the tab or the browser is gone, or the frame is inside a page.
 */
export async function ensureDocument(cdp: CdpConnection, frameId: string): Promise<void> {
  const { targetInfo } = await cdp.send("Target.getTargetInfo", { targetId: frameId });
  if (targetInfo.type !== "page") return;
  await using page = await attachToPage(cdp, frameId);
  const { frameTree } = await cdp.send("Page.getFrameTree", undefined, page.sessionId);
  // Playwright reads both values as an initial empty document.
  if (frameTree.frame.url !== "" && frameTree.frame.url !== ":") return;
  await cdp.send("Page.navigate", { url: "about:blank" }, page.sessionId);
}
