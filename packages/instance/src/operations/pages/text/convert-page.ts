import type { CapturedPage } from "../sight/captured-page.ts";
import { findMainContent } from "./main-content.ts";
import { toMarkdown } from "./to-markdown.ts";
import { readVisibleTree } from "./visible-tree.ts";

export interface ConvertedPage {
  readonly url: string;
  readonly title: string;
  readonly markdown: string;
}

const cutNote =
  "\n*The rest of this page is left out: it exceeds the limits of a read. Read a part with ref or selector.*\n";

export function convertPage(page: CapturedPage): ConvertedPage {
  const { isCut, root, title, url } = readVisibleTree(page);
  const isPart = page.root !== undefined || page.content === "all";
  const markdown = toMarkdown(isPart ? root : findMainContent(root));
  return { url, title, markdown: isCut ? markdown + cutNote : markdown };
}
