import type { CdpConnection } from "../cdp/cdp-connection.ts";
import { attachToPage } from "../pages/visible-page.ts";

/**
 * Playwright's `connectOverCDP` waits for a document in every tab, also when its first navigation became a download.
 * @param frameId - started the download; a main frame's id is also its target's id. @throws {CdpError}
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
