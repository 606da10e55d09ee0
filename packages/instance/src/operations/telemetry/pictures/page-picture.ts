import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { CdpConnection } from "../../../browser/cdp/cdp-connection.ts";
import { attachToPage } from "../../../browser/pages/visible-page.ts";

/** Of a JPEG file. */
const maxBytes = 2 ** 20;
/** Tried in this order. */
const qualities = [70, 30];

type PageInfo = Pick<Protocol.Target.TargetInfo, "targetId" | "title" | "url">;

export interface PagePicture extends PageInfo {
  /** Base64. */
  readonly jpeg: string;
}

/** Whether the page shows something: not `about:blank` or a page of the browser. */
export function hasContent({ url }: PageInfo): boolean {
  return /^(?:https?|file|data|blob|chrome-error):/.test(url);
}

/** Without pages that are not shown, such as prerendered ones. */
export async function shownPages(cdp: CdpConnection): Promise<readonly Protocol.Target.TargetInfo[]> {
  const { targetInfos } = await cdp.send("Target.getTargets", { filter: [{ type: "page" }] });
  return targetInfos.filter(({ subtype, type }) => type === "page" && subtype === undefined);
}

/** Returns `undefined` if the picture is too large. @throws {CdpError} */
export async function pictureOf(
  cdp: CdpConnection,
  { targetId, title, url }: PageInfo,
): Promise<PagePicture | undefined> {
  await using page = await attachToPage(cdp, targetId);
  for (const quality of qualities) {
    const { data: jpeg } = await cdp.send(
      "Page.captureScreenshot",
      { format: "jpeg", quality, optimizeForSpeed: true },
      page.sessionId,
    );
    if (Buffer.byteLength(jpeg, "base64") <= maxBytes) return { targetId, title, url, jpeg };
  }
  return undefined;
}
