import { capturePage } from "../reading/page-documents.ts";
import type { PageItemElement } from "../reading/page-items.ts";
import { readTree } from "../reading/page-tree.ts";
import type { OpenTab } from "../tabs/session-pages.ts";

/** Reads the elements of a page as they are now; none while a dialog is open. @throws {ServiceError} 409 */
export async function readElements(tab: OpenTab): Promise<readonly PageItemElement[]> {
  const captured = await capturePage(tab);
  return captured === undefined ? [] : readTree(captured).elements;
}
