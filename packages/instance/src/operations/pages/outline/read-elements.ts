import type { OpenTab } from "../tabs/session-pages.ts";
import type { DescribedElement } from "../tabs/references.ts";

/** Reads the usable elements of a page as they are now. */
export async function readElements(_tab: OpenTab): Promise<readonly DescribedElement[]> {
  return [];
}
