import type { DomNode } from "../capture/dom-snapshot.ts";
import { textBelow } from "./names.ts";
import { isFocusable, isTabStop } from "./roles.ts";

/** Where an element is, as far as it decides whether a click goes to it. */
export interface ClickSurroundings {
  /** Cursor of the element around it: the cursor is inherited. */
  readonly cursor: string;
  /** `control`: a click goes to the control around it. `item`: parts of an item may do other things. */
  readonly inside: "control" | "item" | undefined;
  /** Whether a list or table around it listens to clicks for its items. */
  readonly isListItem: boolean;
  /** Whether the element around it listens to clicks for its children, which look alike. */
  readonly isAlike: boolean;
}

const handCursors = /^(?:pointer|grab|grabbing|move|[a-z]+-resize)$/;
/** Pages often make these react to clicks. */
const clickableRoles: ReadonlySet<string> = new Set([
  ...["article", "cell", "columnheader", "gridcell", "heading", "image", "listitem", "row", "rowheader"],
]);
const itemRoles: ReadonlySet<string> = new Set(["cell", "gridcell", "columnheader", "rowheader", "listitem"]);
/** They contain items that a listener of the whole may serve. */
const listTags: ReadonlySet<string> = new Set(["dl", "menu", "ol", "table", "tbody", "ul"]);
const listRoles: ReadonlySet<string> = new Set(["grid", "list", "rowgroup", "table", "treegrid"]);
const textTags: ReadonlySet<string> = new Set([
  ...["article", "blockquote", "dd", "dt", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header"],
  ...["li", "main", "nav", "ol", "p", "section", "table", "ul"],
]);
const leastAlike = 3;
const maxAlikeCharacters = 30;
const maxTextCharacters = 100;

function isListening({ document, index }: DomNode): boolean {
  return document.clickable.has(index);
}

function hasHand(node: DomNode, { cursor }: ClickSurroundings): boolean {
  const own = node.style("cursor");
  return own !== cursor && handCursors.test(own);
}

/** Whether an element without a role reacts to clicks. */
export function isClickable(node: DomNode, around: ClickSurroundings): boolean {
  if (around.inside === "control") return false;
  const isPointed = hasHand(node, around);
  if (around.inside === "item") return isListening(node) || isPointed || (isTabStop(node) && isFocusable(node));
  if (isPointed || node.attribute("draggable") === "true" || around.isAlike) return true;
  if (isListening(node)) return handCursors.test(node.style("cursor")) || (isShortText(node) && !areAlike(node));
  return isTabStop(node) && isFocusable(node) && (!scrolls(node) || isShortText(node));
}

/** Whether an element whose role does not say so reacts to clicks. */
export function isClickTarget(node: DomNode, role: string, around: ClickSurroundings): boolean {
  // Its buttons are the browser's own.
  if ((role === "audio" || role === "video") && node.attribute("controls") !== undefined) return true;
  if (!clickableRoles.has(role)) return false;
  if (node.attribute("draggable") === "true" || isTabStop(node)) return true;
  // In a grid or list, the arrow keys move the focus.
  if (node.attribute("tabindex") !== undefined && (role === "row" || itemRoles.has(role))) return true;
  if (around.inside === "control") return false;
  return hasHand(node, around) || isListening(node) || (around.isListItem && itemRoles.has(role));
}

/** Whether a click on an element means the whole, although a control is inside. */
export function isWhole(node: DomNode, around: ClickSurroundings): boolean {
  return isListening(node) && hasHand(node, around);
}

/** What the children of an element have around them. */
export function clickSurroundings(
  node: DomNode,
  role: string | undefined,
  around: ClickSurroundings,
): ClickSurroundings {
  const isList = listTags.has(node.tag) || (role !== undefined && listRoles.has(role));
  const listens = isListening(node);
  return {
    cursor: node.isLaidOut ? node.style("cursor") : around.cursor,
    inside: around.inside,
    isListItem: around.isListItem || (isList && listens),
    isAlike: listens && !isList && role === undefined && areAlike(node),
  };
}

function areAlike({ children }: DomNode): boolean {
  const elements = children.filter(({ tag }) => !tag.startsWith("#") && !tag.startsWith("::"));
  const [first] = elements;
  if (first === undefined || elements.length < leastAlike || textTags.has(first.tag)) return false;
  return elements.every((element) => {
    const length = textBelow(element).trim().length;
    return element.tag === first.tag && length > 0 && length <= maxAlikeCharacters;
  });
}

function isShortText(node: DomNode): boolean {
  return textBelow(node).trim().length <= maxTextCharacters;
}

function scrolls(node: DomNode): boolean {
  return node.document.scrolledContentOf(node.index) !== undefined;
}
