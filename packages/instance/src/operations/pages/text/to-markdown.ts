import type { Root } from "hast";
import { toMdast } from "hast-util-to-mdast";
import type { Nodes } from "mdast";
import { gfmStrikethroughToMarkdown } from "mdast-util-gfm-strikethrough";
import { gfmTableToMarkdown } from "mdast-util-gfm-table";
import { toMarkdown as writeMarkdown } from "mdast-util-to-markdown";

/** Text of the page is escaped: it cannot look like a heading or a link. */
export function toMarkdown(content: Root): string {
  const tree = toMdast(content, { document: true });
  if (tree.type !== "root") return "";
  compactLists(tree);
  return writeMarkdown(tree, {
    bullet: "-",
    emphasis: "_",
    fences: true,
    listItemIndent: "one",
    resourceLink: true,
    rule: "-",
    // Aligned columns would cost tokens.
    extensions: [gfmTableToMarkdown({ tablePipeAlign: false }), gfmStrikethroughToMarkdown()],
  });
}

/** Omits blank lines between short items: they cost tokens. */
function compactLists(node: Nodes): void {
  if (!("children" in node)) return;
  for (const child of node.children) compactLists(child);
  if (node.type === "listItem") node.spread = node.children.filter(({ type }) => type !== "list").length > 1;
  if (node.type === "list") node.spread = node.children.some(({ spread }) => spread === true);
}
