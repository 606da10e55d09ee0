import { hash } from "node:crypto";
import type { NodeAddress } from "../follow/followed-page.ts";
import { type Box, type DomNode, flatChildren } from "./dom-snapshot.ts";
import { clean, isSecret, nameOf, statedName, textBelow } from "./names.ts";
import type { CapturedPage, PageDocument } from "./page-documents.ts";
import { containsUsable, type PageItem, type PageItemElement } from "./page-items.ts";
import { groupPieces, lineBreak, type Piece } from "./pieces.ts";
import { isField, isNamedByContent, isUsable, roleOf } from "./roles.ts";
import { fieldValue, statesOf } from "./states.ts";

export interface PageTree {
  readonly items: readonly PageItem[];
  /** Elements after their content. */
  readonly elements: readonly PageItemElement[];
  /** Elements that were not read because of a limit. */
  readonly omitted: number;
}

interface Surroundings {
  readonly document: PageDocument;
  /** Position of the document's viewport in the page's viewport. */
  readonly x: number;
  readonly y: number;
  /** The part of the page's viewport in which content is visible. */
  readonly clip: Box;
  readonly path: string;
  readonly depth: number;
  readonly opacity: number;
  /** Whether an element around it has a pointing hand as its cursor. */
  readonly isPointed: boolean;
  readonly isInUsable: boolean;
  readonly isInSection: boolean;
  /** Whether its text is the name of another element. */
  readonly isLabel: boolean;
}

const skippedTags: ReadonlySet<string> = new Set([
  "script",
  "style",
  "template",
  "noscript",
  "head",
  "link",
  "meta",
  "title",
  "::marker",
  "::backdrop",
  "datalist",
]);
const sectionTags: ReadonlySet<string> = new Set(["article", "aside", "main", "nav", "section"]);
/** Elements that only matter with a name. */
const namedOnly: ReadonlySet<string> = new Set(["form", "region", "group", "image"]);
const namedByText: ReadonlySet<string> = new Set(["article", "listitem", "row"]);
/** Pages often make these react to clicks. */
const clickableRoles: ReadonlySet<string> = new Set(["article", "cell", "gridcell", "image", "listitem", "row"]);
const pageRoots: ReadonlySet<string> = new Set(["html", "body"]);
/** Smaller sides in pixels cannot be seen. */
const leastSide = 2;
const leastOpacity = 0.05;
const maxDepth = 1_000;
const maxFrameDepth = 10;
const maxElements = 20_000;

/** Reads the meaning of a captured page: a tree of its texts and elements without wrappers. */
export function readTree(captured: CapturedPage): PageTree {
  return new TreeReader(captured).read();
}

class TreeReader {
  readonly #captured: CapturedPage;
  readonly #elements: PageItemElement[] = [];
  #frameDepth = 0;
  #omitted = 0;

  constructor(captured: CapturedPage) {
    this.#captured = captured;
  }

  read(): PageTree {
    const { main, metrics } = this.#captured;
    const clip = { x: 0, y: 0, width: metrics.width, height: metrics.height };
    const pieces = this.#document({
      document: main,
      x: 0,
      y: 0,
      clip,
      path: "",
      depth: 0,
      opacity: 1,
      isPointed: false,
      isInUsable: false,
      isInSection: false,
      isLabel: false,
    });
    return { items: groupPieces(pieces), elements: this.#elements, omitted: this.#omitted };
  }

  #document(around: Surroundings): Piece[] {
    const [root] = around.document.dom.tree;
    return root === undefined ? [] : this.#children(root, around);
  }

  #children(node: DomNode, around: Surroundings): Piece[] {
    const pieces: Piece[] = [];
    for (const child of flatChildren(node)) for (const piece of this.#visit(child, around)) pieces.push(piece);
    return pieces;
  }

  #visit(node: DomNode, around: Surroundings): readonly Piece[] {
    if (node.isText) return this.#text(node, around);
    if (skippedTags.has(node.tag) || node.attribute("aria-hidden") === "true" || node.attribute("inert") !== undefined)
      return [];
    if (around.depth > maxDepth || this.#elements.length >= maxElements) {
      this.#omitted++;
      return [];
    }
    if (!node.isLaidOut)
      return node.tag === "select" ? [] : this.#children(node, { ...around, depth: around.depth + 1 });
    return this.#element(node, around);
  }

  #text(node: DomNode, around: Surroundings): readonly Piece[] {
    if (!node.isLaidOut || around.opacity < leastOpacity || around.isLabel) return [];
    if (node.style("visibility") === "hidden" || isSecret(node.parent)) return [];
    const text = node.renderedText.slice(0, 20_000);
    if (text.trim() === "") return text === "" ? [] : [{ kind: "text", node, text: " ", isVisible: false }];
    const { box } = node;
    if (box === undefined || isTooSmall(box)) return [];
    return [{ kind: "text", node, text, isVisible: isSeen(place(box, around), around.clip) }];
  }

  #element(node: DomNode, around: Surroundings): readonly Piece[] {
    const box = node.box;
    const opacity = around.opacity * numberOr(node.style("opacity"), 1);
    const isPointer = node.style("cursor") === "pointer";
    const role = this.#roleOf(node, around, isPointer);
    const clips = !pageRoots.has(node.tag) && clipsContent(node) && box !== undefined;
    if ((clips && isTooSmall(box) && !isToggle(node)) || (box !== undefined && isOutside(box))) return [];
    const inside: Surroundings = {
      ...around,
      depth: around.depth + 1,
      opacity,
      isPointed: isPointer,
      isInSection: around.isInSection || sectionTags.has(node.tag),
      isLabel: around.isLabel || isNameOfAnother(node),
    };
    if (role === undefined) return this.#wrapped(node, this.#children(node, inside));
    const name = clean(nameOf(node, role));
    const isShown = node.style("visibility") !== "hidden" && (opacity >= leastOpacity || isToggle(node));
    const path = pathOf(around.path, node, role, name);
    const pieces = this.#content(node, { role, path }, inside);
    if (!isShown || (isUsable(role) && box !== undefined && isTooSmall(box) && !isToggle(node)))
      return this.#wrapped(node, pieces);
    return this.#wrapped(node, this.#meaningful(node, { role, name, path, pieces, around }));
  }

  /** Content of other roles than generic ones. */
  #content(node: DomNode, { path, role }: { readonly path: string; readonly role: string }, inside: Surroundings) {
    if (role === "iframe") return this.#frame(node, { ...inside, path });
    if (isField(node) || role === "image" || role === "textbox") return [];
    return this.#children(node, {
      ...inside,
      path,
      isInUsable: inside.isInUsable || isUsable(role),
      isLabel: inside.isLabel && !isUsable(role),
    });
  }

  #meaningful(
    node: DomNode,
    {
      around,
      name,
      path,
      pieces,
      role,
    }: {
      readonly around: Surroundings;
      readonly name: string;
      readonly path: string;
      readonly pieces: readonly Piece[];
      readonly role: string;
    },
  ): readonly Piece[] {
    const children = groupPieces(pieces);
    const hasUsable = children.some(containsUsable);
    if (role === "clickable" && hasUsable && !(around.document.dom.clickable.has(node.index) && !around.isPointed))
      return [...pieces];
    const shortened = shortenContent(node, { role, name, children, hasUsable });
    if (namedOnly.has(role) && shortened.name === "" && !isClickTarget(node, around)) return [...pieces];
    const { document } = around;
    const box = node.box && place(node.box, around);
    const element: PageItemElement = {
      kind: "element",
      node,
      role,
      ...shortened,
      path: around.path === path ? path : around.path,
      url: withoutFragment(document.dom.url),
      address: addressOf(node, document),
      isUsable: isUsable(role) || (clickableRoles.has(role) && isClickTarget(node, around)),
      states: statesOf(node, role, this.#isFocused(node, document)),
      value: fieldValue(node, role),
      isVisible: box !== undefined && isSeen(box, around.clip),
      box,
      isModal: isModal(node, role),
    };
    this.#elements.push(element);
    return [element];
  }

  #frame(node: DomNode, around: Surroundings): Piece[] {
    const child = around.document.frames.get(node.backendNodeId);
    const { box } = node;
    if (child === undefined || box === undefined || this.#frameDepth >= maxFrameDepth) return [];
    this.#frameDepth++;
    const inPage = place(box, around);
    const pieces = this.#document({
      ...around,
      document: child,
      x: inPage.x,
      y: inPage.y,
      clip: intersection(around.clip, inPage),
      isPointed: false,
    });
    this.#frameDepth--;
    return pieces;
  }

  #roleOf(node: DomNode, around: Surroundings, isPointer: boolean): string | undefined {
    const role = roleOf(node);
    if ((role === "banner" || role === "contentinfo") && around.isInSection && node.attribute("role") === undefined)
      return undefined;
    if (role !== undefined) return role;
    if (around.isInUsable || node.tag === "label" || pageRoots.has(node.tag) || node.tag.startsWith("::"))
      return undefined;
    const isListening = around.document.dom.clickable.has(node.index);
    const isPointed = isPointer && !around.isPointed;
    return isPointed || (isListening && isPointer) || (isListening && isSmallText(node)) ? "clickable" : undefined;
  }

  #isFocused(node: DomNode, { target }: PageDocument): boolean {
    return target.parent === undefined && node.backendNodeId === this.#captured.focused;
  }

  /** Blocks begin and end lines. */
  #wrapped(node: DomNode, pieces: readonly Piece[]): readonly Piece[] {
    if (node.tag === "br") return [lineBreak];
    const display = node.style("display");
    return display.startsWith("inline") || display === "contents" ? pieces : [lineBreak, ...pieces, lineBreak];
  }
}

/** A short element is one line: its name contains its text. */
function shortenContent(
  node: DomNode,
  {
    children,
    hasUsable,
    name,
    role,
  }: {
    readonly children: readonly PageItem[];
    readonly hasUsable: boolean;
    readonly name: string;
    readonly role: string;
  },
): { readonly name: string; readonly children: readonly PageItem[] } {
  if (!isNamedByContent(role)) return { name, children };
  if (hasUsable) {
    const stated = statedName(node);
    return { name: stated, children };
  }
  // A long text is read in parts.
  if (name.endsWith("…") && statedName(node) === "" && children.length > 1) return { name: "", children };
  return { name, children: [] };
}

function pathOf(around: string, node: DomNode, role: string, name: string): string {
  const text = namedByText.has(role) ? clean(textBelow(node, false)) : name;
  if (isUsable(role) || (text === "" && !namedByText.has(role))) return around;
  return hash("sha1", `${around} ${role} ${text}`, "base64").slice(0, 16);
}

function isClickTarget(node: DomNode, { document, isInUsable, isPointed }: Surroundings): boolean {
  if (isInUsable || isPointed) return false;
  return node.style("cursor") === "pointer" || document.dom.clickable.has(node.index);
}

function addressOf({ backendNodeId }: DomNode, { dom, loaderId, target }: PageDocument): NodeAddress {
  return { target, frameId: dom.frameId, loaderId, backendNodeId };
}

function isModal(node: DomNode, role: string): boolean {
  if (role !== "dialog" && role !== "alertdialog") return false;
  const isOnTop = node.style("overlay") === "auto" && node.attribute("popover") === undefined;
  return node.attribute("aria-modal") === "true" || isOnTop;
}

/** Its text is in the name of a field, group or table. */
function isNameOfAnother(node: DomNode): boolean {
  if (node.tag === "legend") return node.parent?.tag === "fieldset";
  if (node.tag === "caption") return node.parent?.tag === "table";
  if (node.tag !== "label") return false;
  const id = node.attribute("for");
  return id === undefined ? hasField(node) : node.document.byId(id) !== undefined;
}

function hasField(node: DomNode, depth = 0): boolean {
  return node.children.some((child) => isField(child) || (depth < 10 && hasField(child, depth + 1)));
}

/** Often hidden by the page's style, and used through its label. */
function isToggle(node: DomNode): boolean {
  const type = node.attribute("type");
  return node.tag === "input" && (type === "checkbox" || type === "radio" || type === "file");
}

function isSmallText(node: DomNode): boolean {
  return textBelow(node, false).trim().length <= 100;
}

function clipsContent(node: DomNode): boolean {
  return [node.style("overflow-x"), node.style("overflow-y")].some((style) => style !== "visible" && style !== "");
}

/** Left of the document or above it, unreachable by scrolling. */
function isOutside({ height, width, x, y }: Box): boolean {
  return (width > 0 && x + width <= 0) || (height > 0 && y + height <= 0);
}

function isTooSmall({ height, width }: Box): boolean {
  return width < leastSide || height < leastSide;
}

function place(box: Box, { document, x, y }: Surroundings): Box {
  const { scroll } = document.dom;
  return { ...box, x: box.x - scroll.x + x, y: box.y - scroll.y + y };
}

function isSeen(box: Box, clip: Box): boolean {
  const { height, width } = intersection(box, clip);
  return width > 0 && height > 0;
}

function intersection(first: Box, second: Box): Box {
  const x = Math.max(first.x, second.x);
  const y = Math.max(first.y, second.y);
  return {
    x,
    y,
    width: Math.max(0, Math.min(first.x + first.width, second.x + second.width) - x),
    height: Math.max(0, Math.min(first.y + first.height, second.y + second.height) - y),
  };
}

function withoutFragment(url: string): string {
  return (url.split("#", 1)[0] ?? "").slice(0, 2_000);
}

function numberOr(text: string, fallback: number): number {
  const value = text === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : fallback;
}
