import { hideCopiesFunction, hideElementFunction, hideFieldFunction } from "./mask-script.ts";
import { ElementHandle } from "../follow/element-handle.ts";
import type { FollowedPage, NodeAddress } from "../follow/followed-page.ts";
import { keyOf } from "../tabs/references.ts";

/**
 * Shows the characters of a field as dots in every picture of the page, also where the page copies them to. Lasts until
 * the document goes. Returns false when the field has gone. @param value - that the field will have, if it is known.
 */
export async function maskField(page: FollowedPage, field: ElementHandle, value = ""): Promise<boolean> {
  const { address } = field;
  const key = keyOf(address);
  if (page.masked.has(key) && value === "") return true;
  const root = await innerRootOf(page, address);
  const inner =
    root === undefined ? undefined : await ElementHandle.connectedAt(page, { ...address, backendNodeId: root });
  const hidden = await (inner === undefined ? field.call(hideElementFunction) : inner.call(hideFieldFunction));
  if (hidden !== true || (await field.call(hideCopiesFunction, value)) !== true) return false;
  page.masked.add(key);
  return true;
}

/** Masks a field that a person may fill. */
export async function maskAt(page: FollowedPage, address: NodeAddress): Promise<void> {
  if (page.masked.has(keyOf(address))) return;
  const field = await ElementHandle.connectedAt(page, address);
  if (field !== undefined) await maskField(page, field);
}

/** The browser's own shadow root inside a field, which scripts of the page cannot reach. */
async function innerRootOf(page: FollowedPage, { backendNodeId, target }: NodeAddress): Promise<number | undefined> {
  const params = { backendNodeId, depth: 1, pierce: true };
  const answer = await page.ask(page.cdp.send("DOM.describeNode", params, target.sessionId));
  return answer?.node.shadowRoots?.find(({ shadowRootType }) => shadowRootType === "user-agent")?.backendNodeId;
}
