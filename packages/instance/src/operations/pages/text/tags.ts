import type { DocumentNodes } from "../sight/document-nodes.ts";

const keptTags: ReadonlySet<string> = new Set([
  ...["p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd", "blockquote", "hr", "br"],
  ...["table", "thead", "tbody", "tfoot", "tr", "th", "td", "caption", "figure", "figcaption"],
  ...["main", "article", "section", "nav", "header", "footer", "aside", "address"],
  ...["a", "strong", "b", "em", "i", "code", "kbd", "samp", "var", "tt", "del", "s", "strike", "q", "cite"],
]);
const inlineTags: ReadonlySet<string> = new Set([
  ...["strong", "b", "em", "i", "code", "kbd", "samp", "var", "tt", "del", "s", "strike", "q", "cite"],
]);
/** Have a meaning in a data table only. */
export const tableRoles: ReadonlySet<string> = new Set([
  ...["table", "thead", "tbody", "tfoot", "tr", "th", "td", "caption"],
]);
const tagsOfRoles: ReadonlyMap<string, string> = new Map([
  ["main", "main"],
  ["article", "article"],
  ["navigation", "nav"],
  ["banner", "header"],
  ["contentinfo", "footer"],
  ["complementary", "aside"],
  ["list", "ul"],
  ["listitem", "li"],
  ["table", "table"],
  ["grid", "table"],
  ["rowgroup", "tbody"],
  ["row", "tr"],
  ["cell", "td"],
  ["gridcell", "td"],
  ["columnheader", "th"],
  ["rowheader", "th"],
  ["blockquote", "blockquote"],
  ["separator", "hr"],
]);
const genericTags: ReadonlySet<string> = new Set(["div", "span", "section", "article", "p"]);

/** The tag with the meaning of an element: its role, its tag, or how it is displayed. */
export function tagFor(tag: string, display: string, attributes: ReadonlyMap<string, string>): string {
  const role = attributes.get("role")?.trim().toLowerCase().split(/\s/)[0] ?? "";
  if (role === "heading") return `h${levelOf(attributes.get("aria-level"))}`;
  if ((role === "presentation" || role === "none") && (tableRoles.has(tag) || tag === "ul" || tag === "li"))
    return "div";
  if (genericTags.has(tag) || !keptTags.has(tag)) {
    const meant = tagsOfRoles.get(role);
    if (meant !== undefined) return meant;
  } else if (role === "main" || role === "navigation") return tagsOfRoles.get(role) ?? tag;
  if (inlineTags.has(tag) && !isInline(display) && tag !== "code") return "div";
  if (keptTags.has(tag)) return tag;
  return isInline(display) ? "span" : "div";
}

export function isInline(display: string): boolean {
  return display === "" || display === "contents" || display.startsWith("inline") || display.startsWith("ruby");
}

function levelOf(stated: string | undefined): string {
  const level = Number.parseInt(stated ?? "2", 10);
  return String(Number.isNaN(level) ? 2 : Math.min(6, Math.max(1, level)));
}

const leastRows = 2;
const leastColumns = 2;
const maxExamined = 5_000;
const blockTags: ReadonlySet<string> = new Set(["table", "h1", "h2", "h3", "form", "pre", "blockquote"]);

/** Tables for layout contain other blocks, or have a single row or column. */
export function isDataTable(nodes: DocumentNodes, table: number): boolean {
  let rows = 0;
  let cells = 0;
  let examined = 0;
  const waiting = [...nodes.childrenOf(table)];
  for (let node = waiting.pop(); node !== undefined && ++examined < maxExamined; node = waiting.pop()) {
    const tag = nodes.tagOf(node);
    const role = nodes.attributesOf(node).get("role") ?? "";
    if (tag === "th" || tag === "caption" || role === "columnheader" || role === "rowheader") return true;
    if (blockTags.has(tag)) return false;
    if (tag === "tr" || role === "row") rows++;
    if (tag === "td" || role === "cell" || role === "gridcell") cells++;
    for (const child of nodes.childrenOf(node)) waiting.push(child);
  }
  return rows >= leastRows && cells >= rows * leastColumns;
}
