import type { OpenTab } from "../tabs/session-pages.ts";
import { keepReachable } from "./reachable.ts";
import { type CapturedPage, capturePage } from "../capture/page-documents.ts";
import type { PageItemElement } from "./page-items.ts";
import { type PageTree, readTree } from "./page-tree.ts";

export interface ReadPage {
  readonly captured: CapturedPage;
  readonly tree: PageTree;
  /** Elements and texts behind a modal dialog. */
  readonly behind: number;
  /** Elements that a click does not reach now. */
  readonly covered: ReadonlySet<unknown>;
}

/** Reads what a person sees and reaches in a tab. Returns `undefined` while a dialog is open. @throws {ServiceError} 409 */
export async function readPage(tab: Pick<OpenTab, "id" | "page">): Promise<ReadPage | undefined> {
  const captured = await capturePage(tab);
  if (captured === undefined) return undefined;
  const tree = readTree(captured);
  const reached = await keepReachable(tab.page, tree);
  if (reached.tree.items.length > 0 || tree.hiddenParts === 0) return { captured, ...reached };
  // A page is never empty only because it hides everything from assistive technology.
  return { captured, tree: readTree(captured, { ariaHidden: true }), behind: 0, covered: new Set() };
}

/** Reads the elements of a page as they are now; none while a dialog is open. @throws {ServiceError} 409 */
export async function readElements(tab: Pick<OpenTab, "id" | "page">): Promise<readonly PageItemElement[]> {
  return (await readPage(tab))?.tree.elements ?? [];
}
