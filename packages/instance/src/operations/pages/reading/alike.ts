import type { DomNode } from "../capture/dom-snapshot.ts";
import { textBelow } from "./names.ts";

const textTags: ReadonlySet<string> = new Set([
  ...["article", "blockquote", "dd", "dt", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header"],
  ...["li", "main", "nav", "ol", "p", "section", "table", "ul"],
]);
const cellTags: ReadonlySet<string> = new Set(["td", "th"]);
const leastAlike = 3;
const leastRows = 2;
const maxAlikeCharacters = 30;
const maxTextCharacters = 100;
/** Of a cell of a calendar, in the mean. */
const maxCellCharacters = 12;
const maxCells = 1_000;
/** Of the area of the document's viewport. */
const smallShare = 1 / 4;

export function elementsOf({ children }: DomNode): readonly DomNode[] {
  return children.filter(({ tag }) => !tag.startsWith("#") && !tag.startsWith("::"));
}

/** Whether the children of an element look alike. @param maxCharacters - of the text of each. */
export function areAlike(node: DomNode, maxCharacters = maxAlikeCharacters): boolean {
  const elements = elementsOf(node);
  const [first] = elements;
  if (first === undefined || elements.length < leastAlike || textTags.has(first.tag)) return false;
  return elements.every((element) => {
    const length = textBelow(element).trim().length;
    return element.tag === first.tag && length > 0 && length <= maxCharacters;
  });
}

/** Whether each child of an element has children that look alike, as the weeks of a calendar have, or its names and days. */
export function areRows(node: DomNode): boolean {
  const rows = elementsOf(node);
  return rows.length >= leastRows && rows.every((row) => row.tag === rows[0]?.tag && areAlike(row));
}

/** Whether the cells of a table are short, as the days of a calendar are. */
export function hasShortCells(table: DomNode): boolean {
  let cells = 0;
  const waiting = [table];
  for (let at = waiting.pop(); at !== undefined && cells < maxCells; at = waiting.pop())
    if (cellTags.has(at.tag)) cells++;
    else waiting.push(...at.children);
  return cells > 1 && textBelow(table).replaceAll(/\s+/g, " ").length <= cells * maxCellCharacters;
}

export function isShortText(node: DomNode): boolean {
  return textBelow(node).trim().length <= maxTextCharacters;
}

/** Whether a part is much smaller than the viewport of its document. */
export function isSmall({ box, document }: DomNode): boolean {
  const screen = document.boxOf(0);
  return (
    box !== undefined && screen !== undefined && box.width * box.height <= screen.width * screen.height * smallShare
  );
}
