import type { PageItemElement } from "../reading/page-items.ts";
import { readPage } from "../reading/read-page.ts";
import type { OpenTab } from "../tabs/session-pages.ts";

/** Reads the elements of a page as they are now; none while a dialog is open. @throws {ServiceError} 409 */
export async function readElements(tab: OpenTab): Promise<readonly PageItemElement[]> {
  const read = await readPage(tab);
  return read?.tree.elements ?? [];
}
