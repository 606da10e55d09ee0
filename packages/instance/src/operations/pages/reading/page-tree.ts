import { hash } from "node:crypto";
import type { NodeAddress } from "../follow/followed-page.ts";
import { isHiddenByMistake } from "../sight/aria-hidden.ts";
import { intersection, isSeen, isTooSmall, union } from "../sight/boxes.ts";
import {
  clickOutside,
  type ClickSurroundings,
  clickSurroundings,
  isClickable,
  isClickTarget,
  isKeyTarget,
} from "./click-targets.ts";
import { isContainer, isOwnTarget, isPlainPart, leavesOf } from "./containers.ts";
import type { DomDocument, DomNode } from "../capture/dom-snapshot.ts";
import type { Box } from "../sight/document-nodes.ts";
import { alternativeOf, formulaOf } from "../sight/formula.ts";
import { identitiesOf } from "./identities.ts";
import { isDrawnElsewhere, isLabelOfHidden, isNameOfAnother, isToggle, isVisibleLabel } from "./labels.ts";
import { clean, isSecret, labelOf, nameOf, textBelow } from "./names.ts";
import type { PageDocument } from "../capture/page-document.ts";
import type { CapturedPage } from "../capture/page-documents.ts";
import { containsUsable, type PageItem, type PageItemElement } from "./page-items.ts";
import { groupPieces, type Piece, wrapped } from "./pieces.ts";
import { isField, isUsable, roleOf, statedRole } from "./roles.ts";
import { partsOfText, shortenContent } from "./shorten.ts";
import { tellingSign } from "../text/readable-text.ts";
import { fieldValue, holdsSecret, isModal, popupRoles, statesOf, textValueRoles } from "./states.ts";

export interface PageTree {
  readonly items: readonly PageItem[];
  /** Elements after their content. */
  readonly elements: readonly PageItemElement[];
  /** Elements that were not read because of a limit. */
  readonly omitted: number;
  /** Texts below the visible part that are invisible now. */
  readonly unrevealed: number;
  /** Parts that are hidden from assistive technology. */
  readonly hiddenParts: number;
  readonly inertParts: number;
  readonly places: ReadonlyMap<DomDocument, DocumentPlace>;
}

/** Where a document is. */
export interface DocumentPlace {
  readonly target: PageDocument["target"];
  /** Position of the start of the target's document in the page's viewport: hit tests count from there. */
  readonly x: number;
  readonly y: number;
  /** The part of the page's viewport in which the document is visible. */
  readonly clip: Box;
}

interface Surroundings extends ClickSurroundings {
  readonly document: PageDocument;
  /** Position of the document's viewport in the page's viewport. */
  readonly x: number;
  readonly y: number;
  /** The part of the page's viewport in which content is visible. */
  readonly clip: Box;
  readonly path: string;
  readonly depth: number;
  /** Whether its text is the name of another element. */
  readonly isLabel: boolean;
  /** Whether only a click can tell that a person sees it. */
  readonly isDoubtful: boolean;
}

/** An element with a role. */
interface Found {
  readonly around: Surroundings;
  readonly name: string;
  readonly path: string;
  readonly pieces: readonly Piece[];
  readonly role: string;
}

const skippedTags: ReadonlySet<string> = new Set([
  ...["script", "style", "template", "noscript", "head", "link", "meta", "title", "::marker", "::backdrop", "datalist"],
]);
/** Elements that only matter with a name. */
const namedOnly: ReadonlySet<string> = new Set(["audio", "form", "region", "group", "image", "video"]);
const namedByText: ReadonlySet<string> = new Set(["article", "listitem", "row"]);
/** Parts of these items may do other things. */
const itemRoles: ReadonlySet<string> = new Set(["clickable", "option", "tab", "treeitem"]);
const pageRoots: ReadonlySet<string> = new Set(["html", "body"]);
const maxDepth = 1_000;
const maxFrameDepth = 10;
const maxElements = 20_000;

export interface ReadTreeOptions {
  /** Also reads parts that are hidden from assistive technology on purpose. */
  readonly ariaHidden?: boolean;
}

/** Reads the meaning of a captured page: a tree of its texts and elements without wrappers. */
export function readTree(captured: CapturedPage, options: ReadTreeOptions = {}): PageTree {
  return new TreeReader(captured, options).read();
}

class TreeReader {
  readonly #captured: CapturedPage;
  readonly #options: ReadTreeOptions;
  readonly #elements: PageItemElement[] = [];
  readonly #places = new Map<DomDocument, DocumentPlace>();
  #frameDepth = 0;
  #omitted = 0;
  #unrevealed = 0;
  #hiddenParts = 0;
  #inertParts = 0;

  constructor(captured: CapturedPage, options: ReadTreeOptions) {
    this.#captured = captured;
    this.#options = options;
  }

  read(): PageTree {
    const { main, metrics } = this.#captured;
    const pieces = this.#document({
      document: main,
      x: 0,
      y: 0,
      clip: { x: 0, y: 0, width: metrics.width, height: metrics.height },
      path: "",
      depth: 0,
      ...clickOutside,
      isLabel: false,
      isDoubtful: false,
    });
    const identities = identitiesOf(this.#elements);
    for (const element of this.#elements) element.identity = identities.get(element);
    return {
      items: groupPieces(pieces),
      elements: this.#elements,
      omitted: this.#omitted,
      unrevealed: this.#unrevealed,
      hiddenParts: this.#hiddenParts,
      inertParts: this.#inertParts,
      places: this.#places,
    };
  }

  #document(around: Surroundings, origin = scrolledOrigin(around)): Piece[] {
    const { clip, document } = around;
    this.#places.set(document.dom, { target: document.target, clip, ...origin });
    const [root] = document.dom.tree;
    return root === undefined ? [] : this.#children(root, around);
  }

  #children(node: DomNode, around: Surroundings): Piece[] {
    const pieces: Piece[] = [];
    for (const child of node.children) for (const piece of this.#visit(child, around)) pieces.push(piece);
    return pieces;
  }

  #visit(node: DomNode, around: Surroundings): readonly Piece[] {
    if (node.isText || (node.tag.startsWith("::") && !skippedTags.has(node.tag))) return this.#text(node, around);
    if (skippedTags.has(node.tag)) return [];
    const formula = node.tag === "math" ? this.#formula(node, around) : undefined;
    if (formula !== undefined) return formula;
    if (node.attribute("inert") !== undefined) {
      if (node.isLaidOut) this.#inertParts++;
      return [];
    }
    if (around.depth > maxDepth || this.#elements.length >= maxElements) {
      this.#omitted++;
      return [];
    }
    if (node.attribute("aria-hidden") !== "true" || node.accessible !== undefined) return this.#element(node, around);
    if (this.#options.ariaHidden === true) return this.#element(node, around);
    if (isHiddenByMistake(around.document.dom, node.index)) return this.#element(node, { ...around, isDoubtful: true });
    return this.#hidden(node, around);
  }

  #text(node: DomNode, around: Surroundings): readonly Piece[] {
    if (!node.isLaidOut || around.isLabel || isSecret(node.isText ? node.parent : node)) return [];
    const text = node.renderedText.slice(0, 20_000);
    const isAdded = !node.isText && node.tag !== "::first-letter";
    if (text.trim() === "")
      return text === "" ? [] : [{ kind: "text", node, text: " ", isVisible: false, box: undefined }];
    if (isAdded && !tellingSign.test(text)) return [];
    const box = node.box && place(node.box, around);
    if (box === undefined || !node.isVisible) {
      if (box !== undefined && this.#isUnrevealed(node, box, around)) this.#unrevealed++;
      return [];
    }
    const pieces = [{ kind: "text", node, text, isVisible: isSeen(box, around.clip), box }] as const;
    return isAdded ? wrapped(node, pieces) : pieces;
  }

  #formula(node: DomNode, around: Surroundings): readonly Piece[] | undefined {
    const { visibility } = node.document;
    const text = formulaOf(node.document, node.index, (part) => visibility.isDrawn(part));
    return text === undefined ? undefined : this.#drawn(node, text, around);
  }

  /** A part that assistive technology does not get. */
  #hidden(node: DomNode, around: Surroundings): readonly Piece[] {
    const { visibility } = node.document;
    const drawn = alternativeOf(node.document, node.index, (part) => visibility.isDrawn(part));
    if (drawn === undefined) {
      this.#hiddenParts++;
      return [];
    }
    const { isPicture, text } = drawn;
    if (!isPicture || around.isLabel) return this.#drawn(node, text, around);
    return this.#meaningful(node, { role: "image", name: clean(text), path: around.path, pieces: [], around });
  }

  #drawn(node: DomNode, text: string, around: Surroundings): readonly Piece[] {
    const box = node.box && place(node.box, around);
    if (text === "" || box === undefined || around.isLabel) return [];
    return wrapped(node, [{ kind: "text", node, text, isVisible: isSeen(box, around.clip), box }]);
  }

  /** Pages fade texts in when a person scrolls to them. */
  #isUnrevealed(node: DomNode, box: Box, { isDoubtful }: Surroundings): boolean {
    if (isDoubtful || this.#frameDepth > 0 || box.y < this.#captured.metrics.height || isTooSmall(box)) return false;
    return node.style("visibility") === "hidden" || node.isLaidOpen;
  }

  #element(node: DomNode, around: Surroundings): readonly Piece[] {
    const known = this.#roleOf(node, around);
    const isBoxless = !node.isLaidOut;
    if (isBoxless && (node.tag === "select" || (known !== undefined && !hasContents(node)))) return [];
    const role = isBoxless && known === "clickable" ? undefined : known;
    const inside: Surroundings = {
      ...around,
      ...clickSurroundings(node, role, around),
      depth: around.depth + 1,
      isLabel: around.isLabel || isNameOfAnother(node),
    };
    if (role === undefined) return wrapped(node, this.#children(node, inside));
    const name = nameOf(node, role);
    const path = pathOf(around.path, node, role, name);
    const pieces = this.#content(node, { role, path }, inside);
    const shown = this.#shownAs(node, role, pieces);
    const isEmpty = role === "heading" && name === "" && pieces.every(({ kind }) => kind !== "element");
    if (shown === undefined || isEmpty) return wrapped(node, pieces);
    const isDoubtful = around.isDoubtful || shown === "transparent";
    return wrapped(node, this.#meaningful(node, { role, name, path, pieces, around: { ...around, isDoubtful } }));
  }

  /** `transparent`: a control over the picture that the page draws for it. */
  #shownAs(node: DomNode, role: string, pieces: readonly Piece[]): "shown" | "transparent" | undefined {
    if (node.isVisible) return "shown";
    if (pieces.some((piece) => piece.kind !== "break" && (piece.kind !== "text" || piece.text.trim() !== "")))
      return "shown";
    if (isToggle(node) && (node.isLaidOpen || isVisibleLabel(labelOf(node)))) return "shown";
    if (node.tag === "area" || isDrawnElsewhere(node, role)) return "shown";
    if (isToggle(node)) return undefined;
    return node.isLaidOpen && isUsable(role) ? "transparent" : undefined;
  }

  /** Content of other roles than generic ones. */
  #content(node: DomNode, { path, role }: { readonly path: string; readonly role: string }, inside: Surroundings) {
    if (role === "iframe") return this.#frame(node, { ...inside, path });
    if (isField(node)) return [];
    const isPopup = popupRoles.has(role);
    const kind = isPopup || itemRoles.has(role) ? "item" : isUsable(role) ? "control" : inside.inside;
    const pieces = this.#children(node, {
      ...inside,
      path,
      inside: inside.inside === "control" && !isPopup ? "control" : kind,
      isLabel: inside.isLabel && !isUsable(role),
    });
    // A picture has no text; a drawing does, also one with a title.
    const isPicture = role === "image" && node.accessible?.role !== "SvgRoot";
    return isPicture ? pieces.filter((piece) => piece.kind !== "text") : pieces;
  }

  #meaningful(node: DomNode, { around, name, path, pieces, role }: Found): readonly Piece[] {
    // The text of an editor, or of a box with a list, is its value.
    const children = textValueRoles.has(role) ? groupPieces(pieces).flatMap(partsOfText) : groupPieces(pieces);
    const hasUsable = children.some(containsUsable);
    const isTarget =
      isClickTarget(node, role, around) && !(around.isListItem === "click" && hasUsable && !isOwnTarget(node));
    if (role === "clickable" && isContainer(node, around, { children, hasUsable })) return [...pieces];
    const isOperated = isUsable(role) || isTarget || isKeyTarget(node, role);
    if (namedOnly.has(role) && name === "" && !isOperated) return [...pieces];
    const { document } = around;
    const box = this.#boxOf(node, children, around);
    const isFocused = this.#isFocused(node, document);
    const element: PageItemElement = {
      kind: "element",
      node,
      role,
      name,
      ...shortenContent(node, { role, name, children, hasUsable }),
      path: around.path === path ? path : around.path,
      url: withoutFragment(document.dom.url),
      address: addressOf(node, document),
      identity: undefined,
      isUsable: isOperated,
      states: statesOf(node, isFocused),
      refusal: isFocused && !holdsSecret(node) ? clean(this.#captured.focused?.refusal ?? "") : "",
      value: fieldValue(node, role),
      isVisible: box !== undefined && isSeen(box, around.clip),
      box,
      isModal: isModal(node, role),
      isDoubtful: around.isDoubtful,
    };
    this.#elements.push(element);
    return [element];
  }

  /** An area of a picture, and an element whose content takes its place in the layout, have no box. */
  #boxOf(node: DomNode, children: readonly PageItem[], around: Surroundings): Box | undefined {
    if (node.box !== undefined) return place(node.box, around);
    if (node.tag === "area") return undefined;
    return union(leavesOf(children).flatMap(({ box }) => box ?? []));
  }

  #frame(node: DomNode, around: Surroundings): Piece[] {
    const child = around.document.frames.get(node.backendNodeId);
    const { box } = node;
    if (child === undefined || box === undefined || this.#frameDepth >= maxFrameDepth || !node.isLaidOpen) return [];
    const isTransparent = !node.isVisible;
    this.#frameDepth++;
    const inPage = place(box, around);
    const origin = child.target === around.document.target ? this.#places.get(around.document.dom) : undefined;
    const pieces = this.#document(
      {
        ...around,
        document: child,
        x: inPage.x,
        y: inPage.y,
        clip: intersection(around.clip, inPage),
        cursor: "auto",
        // Its controls may lie over what the page draws for them; its texts cannot.
        isLabel: around.isLabel || isTransparent,
        isDoubtful: around.isDoubtful || isTransparent,
      },
      origin && { x: origin.x, y: origin.y },
    );
    this.#frameDepth--;
    return pieces;
  }

  #roleOf(node: DomNode, around: Surroundings): string | undefined {
    if (around.document.frames.has(node.backendNodeId)) return "iframe";
    const isHidden = around.isDoubtful || this.#options.ariaHidden === true;
    const isUntold = node.isUntold || node.tag === "area" || (isHidden && node.accessible === undefined);
    const role = roleOf(node) ?? (isUntold ? statedRole(node) : undefined);
    if (role !== undefined && !(isPlainPart(node, role) && isClickable(node, around))) return role;
    if (pageRoots.has(node.tag) || node.tag.startsWith("#")) return undefined;
    if (node.tag === "label") return isLabelOfHidden(node) ? "clickable" : undefined;
    return isClickable(node, around) ? "clickable" : undefined;
  }

  #isFocused(node: DomNode, { target }: PageDocument): boolean {
    return target.parent === undefined && node.backendNodeId === this.#captured.focused?.backendNodeId;
  }
}

function hasContents(node: DomNode): boolean {
  return node.tag === "area" || node.accessible !== undefined;
}

function pathOf(around: string, node: DomNode, role: string, name: string): string {
  const text = namedByText.has(role) ? clean(textBelow(node)) : name;
  if (isUsable(role) || (text === "" && !namedByText.has(role))) return around;
  return hash("sha1", `${around} ${role} ${text}`, "base64").slice(0, 16);
}

function addressOf({ backendNodeId }: DomNode, { dom, loaderId, target }: PageDocument): NodeAddress {
  return { target, frameId: dom.frameId, loaderId, backendNodeId };
}

function scrolledOrigin({ document, x, y }: Surroundings): { readonly x: number; readonly y: number } {
  const { scroll } = document.dom;
  return { x: x - scroll.x, y: y - scroll.y };
}

function place(box: Box, { document, x, y }: Surroundings): Box {
  const { scroll } = document.dom;
  return { ...box, x: box.x - scroll.x + x, y: box.y - scroll.y + y };
}

function withoutFragment(url: string): string {
  return (url.split("#", 1)[0] ?? "").slice(0, 2_000);
}
