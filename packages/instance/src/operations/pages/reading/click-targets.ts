import type { DomNode } from "../capture/dom-snapshot.ts";
import { areAlike, areRows, elementsOf, hasShortCells, isShortText, isSmall } from "./alike.ts";
import { isFocusable, isTabStop } from "./roles.ts";

/** Where an element is, as far as it decides whether a click goes to it. */
export interface ClickSurroundings {
  /** Cursor of the element around it: the cursor is inherited. */
  readonly cursor: string;
  /** `control`: a click goes to the control around it. `item`: parts of an item may do other things. */
  readonly inside: "control" | "item" | undefined;
  /** Whether a list or table around it listens for its items: `press`, to presses of a pointer alone, as sorted lists do. */
  readonly isListItem: "click" | "press" | undefined;
  /** Whether the element around it listens to clicks for its children, which look alike. */
  readonly isAlike: boolean;
  /** What the element around it listens to, if that may serve the content of this one. */
  readonly passed: Listening | undefined;
  /** Whether a part of the page around it listens. */
  readonly isInListening: boolean;
}

type Listening = "click" | "press";

export const clickOutside: ClickSurroundings = {
  cursor: "auto",
  inside: undefined,
  isListItem: undefined,
  isAlike: false,
  passed: undefined,
  isInListening: false,
};

const handCursors = /^(?:pointer|grab|grabbing|move|crosshair|[a-z]+-resize)$/;
const pageRoots: ReadonlySet<string> = new Set(["#document", "html", "body"]);
/** Pages often make these react to clicks. */
const clickableRoles: ReadonlySet<string> = new Set([
  ...["article", "cell", "columnheader", "gridcell", "heading", "image", "listitem", "row", "rowheader"],
]);
/** The arrow keys move in them. */
const keyRoles: ReadonlySet<string> = new Set([
  ...["grid", "group", "menu", "menubar", "radiogroup", "tablist", "toolbar", "tree", "treegrid"],
]);
const itemRoles: ReadonlySet<string> = new Set(["cell", "gridcell", "columnheader", "rowheader", "listitem"]);
/** Items that are dragged to another place. */
const draggedRoles: ReadonlySet<string> = new Set(["listitem", "row"]);
/** They contain items that a listener of the whole may serve. */
const listTags: ReadonlySet<string> = new Set(["dl", "menu", "ol", "table", "tbody", "ul"]);
const listRoles: ReadonlySet<string> = new Set(["grid", "list", "rowgroup", "table", "treegrid"]);
/** Tables whose cells may be chosen. */
const gridRoles: ReadonlySet<string> = new Set(["grid", "treegrid"]);
const maxInner = 50;
/** Longest text of a part that is dragged with others alike. */
const maxDraggedCharacters = 100;

/** `press`: to presses of a pointer alone. */
function listeningOf({ document, index, tag }: DomNode): Listening | undefined {
  if (document.serving.has(index)) return undefined;
  if (document.clickable.has(index)) return "click";
  return document.pressed.has(index) && !pageRoots.has(tag) ? "press" : undefined;
}

function isListening(node: DomNode): boolean {
  return listeningOf(node) !== undefined;
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
  if (node.tag === "canvas" && (isListening(node) || around.isInListening)) return true;
  // Scripts handle every touch of it; they may listen on the root.
  if (node.style("touch-action") === "none" && !isRoot(node) && isShortText(node) && isSmall(node)) return true;
  const listening = listeningOf(node);
  if (listening !== undefined) {
    if (handCursors.test(node.style("cursor"))) return true;
    if (!isShortText(node) || areAlike(node, alikeCharacters(listening))) return false;
    return listening === "click" || (!isRoot(node) && !holdsCanvas(node) && (isNamed(node) || isSmall(node)));
  }
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
  return hasHand(node, around) || isListening(node) || isItem(role, around);
}

/** Whether keys are for an element that holds others, such as a grid with a current cell. */
export function isKeyTarget(node: DomNode, role: string): boolean {
  return keyRoles.has(role) && isTabStop(node);
}

function isItem(role: string, { isListItem }: ClickSurroundings): boolean {
  return isListItem === "press" ? draggedRoles.has(role) : isListItem === "click" && itemRoles.has(role);
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
  const own = listeningOf(node);
  const passed = isList && own === undefined && !servesCells(node, role) ? undefined : around.passed;
  const listening = own ?? passed;
  const isPlain = !isList && role === undefined;
  const isOfRows = listening !== undefined && isPlain && areRows(node);
  return {
    cursor: node.isLaidOut ? node.style("cursor") : around.cursor,
    inside: around.inside,
    isListItem: around.isListItem ?? (isList ? (own ?? (passed && "click")) : undefined),
    isAlike: listening !== undefined && isPlain && !isOfRows && areAlike(node, alikeCharacters(listening)),
    passed: isList || !(isOfRows || isOnlyPart(node)) ? undefined : listening,
    isInListening: around.isInListening || (own !== undefined && !pageRoots.has(node.tag)),
  };
}

/** Whether a listener around a table may serve its cells, as those of calendars do. */
function servesCells(node: DomNode, role: string | undefined): boolean {
  return (role !== undefined && gridRoles.has(role)) || (node.tag === "table" && hasShortCells(node));
}

function alikeCharacters(listening: Listening): number | undefined {
  return listening === "press" ? maxDraggedCharacters : undefined;
}

/** Whether an element has one part only. A listener of a whole page serves no part of it. */
function isOnlyPart(node: DomNode): boolean {
  if (pageRoots.has(node.tag) || (node.parent !== undefined && pageRoots.has(node.parent.tag))) return false;
  return hasOneShown(node);
}

/** Whether it is all that a page has. */
function isRoot({ parent }: DomNode): boolean {
  return parent?.tag === "body" && hasOneShown(parent);
}

/** Stops at the second: a page may ask for each of its parts. */
function hasOneShown({ children }: DomNode): boolean {
  let shown = 0;
  for (const { isLaidOut, tag } of children) {
    if (!isLaidOut || tag.startsWith("#") || tag.startsWith("::")) continue;
    if (++shown > 1) return false;
  }
  return shown === 1;
}

/** A person presses the canvas in it. */
function holdsCanvas(node: DomNode): boolean {
  const inner = [...elementsOf(node)];
  for (const at of inner) if (inner.length < maxInner) inner.push(...elementsOf(at));
  return inner.some(({ tag }) => tag === "canvas");
}

function isNamed(node: DomNode): boolean {
  return [node.attribute("aria-label"), node.attribute("title")].some((name) => name !== undefined && name !== "");
}

function scrolls(node: DomNode): boolean {
  return node.document.scrolledContentOf(node.index) !== undefined;
}
