import { hideCopiesFunction, hideElementFunction, hideFieldFunction } from "./mask-script.ts";
import type { NodeAddress } from "../pages/follow/followed-page.ts";
import { PageElement } from "../pages/follow/page-element.ts";
import type { WatchedPage } from "./watched-page.ts";

/**
 * Shows the characters of a field as dots in every picture of the page, also where the page copies them to. Lasts until
 * the document goes. Returns false when the field has gone.
 */
export async function maskField(field: PageElement<WatchedPage>): Promise<boolean> {
  const { address, page } = field;
  const ref = page.refOf(address);
  if (page.masked.has(ref)) return true;
  const root = await innerRootOf(page, address);
  const inner = root === undefined ? undefined : await PageElement.find(page, { ...address, backendNodeId: root });
  const hidden = await (inner === undefined ? field.call(hideElementFunction) : inner.call(hideFieldFunction));
  if (hidden !== true || (await field.call(hideCopiesFunction)) !== true) return false;
  page.masked.add(ref);
  return true;
}

/** Masks a field that a person may fill. */
export async function maskAt(page: WatchedPage, address: NodeAddress): Promise<void> {
  if (page.masked.has(page.refOf(address))) return;
  const field = await PageElement.find(page, address);
  if (field !== undefined) await maskField(field);
}

/** The browser's own shadow root inside a field, which scripts of the page cannot reach. */
async function innerRootOf(page: WatchedPage, { backendNodeId, target }: NodeAddress): Promise<number | undefined> {
  const answer = await page
    .send(page.cdp.send("DOM.describeNode", { backendNodeId, depth: 1, pierce: true }, target.sessionId))
    .catch(() => undefined);
  return answer?.node.shadowRoots?.find(({ shadowRootType }) => shadowRootType === "user-agent")?.backendNodeId;
}
