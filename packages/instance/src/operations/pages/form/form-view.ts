import { maxOutlineFrames, maxOutlineText, type OutlineFrame, type OutlineNode } from "../../../protocol/page.ts";
import type { DomDocument, DomNode } from "../capture/dom-snapshot.ts";
import type { Box } from "../sight/document-nodes.ts";
import type { PageDocument } from "../capture/page-document.ts";
import type { CapturedPage } from "../capture/page-documents.ts";
import type { NodeAddress } from "../follow/followed-page.ts";
import { intersection, isSeen } from "../sight/boxes.ts";
import { clickOutside, type ClickSurroundings, clickSurroundings } from "../reading/click-targets.ts";
import { isDrawnElsewhere, isVisibleLabel } from "../reading/labels.ts";
import { clean, isSecret, labelOf, nameOf } from "../reading/names.ts";
import type { DocumentPlace } from "../reading/page-tree.ts";
import { isField } from "../reading/roles.ts";
import { options, statesOf } from "../reading/states.ts";
import { type FormKind, meaningOf, recognize } from "./form-kinds.ts";

export interface FormNode {
  readonly kind: FormKind | "text";
  readonly node: DomNode;
  readonly address: NodeAddress;
  readonly content: Omit<OutlineNode, "ref" | "parent" | "hidden">;
  readonly parent: FormNode | undefined;
  readonly hidden: OutlineNode["hidden"];
  /** In the page's viewport. */
  readonly box: Box | undefined;
  readonly isVisible: boolean;
}

export interface FormView {
  readonly frames: readonly OutlineFrame[];
  /** In the order of the documents. */
  readonly found: readonly FormNode[];
  readonly places: ReadonlyMap<DomDocument, DocumentPlace>;
}

interface Place extends DocumentPlace {
  readonly document: PageDocument;
  readonly frame: number;
  readonly around: FormNode | undefined;
  /** Why the frame cannot be seen. */
  readonly hidden: OutlineNode["hidden"];
}

/** What a node has around it. */
interface Surroundings extends ClickSurroundings {
  readonly found: FormNode | undefined;
  readonly isAriaHidden: boolean;
  /** The closest element that starts a new line, or is a control. */
  readonly block: DomNode | undefined;
}

const frame = { kind: "block", role: "iframe" } as const;
const keptStates: ReadonlySet<string> = new Set<OutlineNode["states"][number]>([
  ...(["busy", "checked", "disabled", "focused", "invalid", "readonly", "required", "selected"] as const),
]);
const maxScanned = 60_000;
const maxDepth = 12;
const maxOptions = 60;
/** Smaller sides in pixels cannot be seen or clicked. */
const leastSide = 3;
const separateTags: ReadonlySet<string> = new Set(["a", "button", "label", "option", "select", "textarea", "svg"]);
const skippedTags: ReadonlySet<string> = new Set(["head", "script", "style", "template", "noscript"]);

/**
 * The page as a sign-in needs it: its controls with the attributes that tell their meaning, also hidden ones with the
 * reason, and the texts around them. Contains no values. @param origins - by the ids of frames.
 */
export function readForm(captured: CapturedPage, origins: ReadonlyMap<string, string>): FormView {
  return new FormReader(captured, origins).read();
}

class FormReader {
  readonly #captured: CapturedPage;
  readonly #origins: ReadonlyMap<string, string>;
  readonly #frames: OutlineFrame[] = [];
  readonly #found: FormNode[] = [];
  readonly #places = new Map<DomDocument, DocumentPlace>();
  #scanned = 0;

  constructor(captured: CapturedPage, origins: ReadonlyMap<string, string>) {
    this.#captured = captured;
    this.#origins = origins;
  }

  read(): FormView {
    const { main, metrics } = this.#captured;
    const { height, width } = metrics;
    const clip = { x: 0, y: 0, width, height };
    this.#read(main, { frame: this.#addFrame(main, null, clip), around: undefined, hidden: undefined, clip, depth: 0 });
    return { frames: this.#frames, found: this.#found, places: this.#places };
  }

  #addFrame({ dom }: PageDocument, parent: number | null, { height, width }: Box): number {
    const { frameId, title, url } = dom;
    const host = URL.parse(this.#origins.get(frameId) ?? "")?.hostname ?? "";
    const size = { width: Math.round(width), height: Math.round(height) };
    return this.#frames.push({ parent, host, url: url.slice(0, 2_000), title: title.slice(0, 300), ...size }) - 1;
  }

  #read(
    document: PageDocument,
    {
      depth,
      view = { x: 0, y: 0 },
      origin,
      ...place
    }: Pick<Place, "around" | "clip" | "frame" | "hidden"> & {
      readonly depth: number;
      /** Position of the document's viewport in the page's viewport. */
      readonly view?: { readonly x: number; readonly y: number };
      /** Position of the target's document, for the frame of a target. */
      readonly origin?: { readonly x: number; readonly y: number } | undefined;
    },
  ): void {
    const { dom, target } = document;
    const x = view.x - dom.scroll.x;
    const y = view.y - dom.scroll.y;
    this.#places.set(dom, { target, clip: place.clip, ...(origin ?? { x, y }) });
    const frames: FormNode[] = [];
    const reader = new DocumentReader({ ...place, document, target, x, y });
    for (const node of dom.tree) {
      if (++this.#scanned > maxScanned) break;
      const found = reader.find(node);
      if (found === undefined) continue;
      this.#found.push(found);
      if (document.frames.has(node.backendNodeId) && depth < maxDepth) frames.push(found);
    }
    for (const owner of frames) {
      const child = document.frames.get(owner.node.backendNodeId);
      if (child === undefined || owner.box === undefined || this.#frames.length >= maxOutlineFrames) continue;
      this.#read(child, {
        frame: this.#addFrame(child, place.frame, owner.box),
        around: owner,
        hidden: owner.hidden,
        clip: intersection(place.clip, owner.box),
        view: owner.box,
        origin: child.target === target ? this.#places.get(dom) : undefined,
        depth: depth + 1,
      });
    }
  }
}

/** Finds the nodes of one document, in its order. */
class DocumentReader {
  readonly #place: Place;
  readonly #around = new Map<DomNode, Surroundings>();
  /** Visible texts by their blocks. */
  readonly #texts = new Map<DomNode | undefined, DomNode[]>();

  constructor(place: Place) {
    this.#place = place;
    const blocks = new Map<DomNode, DomNode | undefined>();
    for (const node of place.document.dom.tree) {
      const around = node.parent && blocks.get(node.parent);
      blocks.set(node, isInline(node) && !separateTags.has(node.tag) ? around : node);
      if (!node.isText || node.renderedText.trim() === "" || !node.isVisible || isSecret(node.parent)) continue;
      const known = this.#texts.get(around);
      if (known === undefined) this.#texts.set(around, [node]);
      else known.push(node);
    }
  }

  find(node: DomNode): FormNode | undefined {
    const around = (node.parent && this.#around.get(node.parent)) ?? this.#outermost();
    if (node.isText) return this.#text(node, around);
    if (skippedTags.has(node.tag) || node.tag.startsWith("::")) return undefined;
    const isAriaHidden =
      around.isAriaHidden || (node.attribute("aria-hidden") === "true" && node.accessible === undefined);
    const isFrame = this.#place.document.frames.has(node.backendNodeId);
    const recognized = isFrame ? frame : node.tag.startsWith("#") ? undefined : recognize(node, around);
    const inside = {
      ...around,
      ...clickSurroundings(node, recognized?.role, around),
      isAriaHidden,
      block: isInline(node) && !separateTags.has(node.tag) ? around.block : node,
    };
    this.#around.set(node, inside);
    if (recognized === undefined) return undefined;
    const { kind, role } = recognized;
    const hidden = this.#place.hidden ?? (isAriaHidden ? "aria_hidden" : hiddenBecause(node, role));
    // Hidden controls are kept as evidence of traps; hidden texts are not.
    const isKept = kind === "control" || role === "iframe" || (kind === "block" && hidden === "aria_hidden");
    if (hidden !== undefined && !isKept) return undefined;
    const found = this.#found(node, { kind, role, name: clean(nameOf(node, role), maxOutlineText), hidden }, around);
    const control = kind === "control" ? "control" : inside.inside;
    this.#around.set(node, { ...inside, found, inside: control });
    return found;
  }

  #outermost(): Surroundings {
    return { ...clickOutside, found: this.#place.around, isAriaHidden: false, block: undefined };
  }

  /** The first text of a block has the text of the whole block, as a person reads it. */
  #text(node: DomNode, around: Surroundings): FormNode | undefined {
    const { hidden } = this.#place;
    const texts = this.#texts.get(around.block) ?? [];
    // The name of a control or heading contains its text.
    const isOfName = around.found?.kind === "words" || around.found?.kind === "control";
    if (isOfName || texts[0] !== node || around.isAriaHidden || hidden !== undefined) return undefined;
    const name = clean(texts.map((text) => text.renderedText.slice(0, 20_000)).join(""), maxOutlineText);
    return this.#found(node, { kind: "text", role: "text", name, hidden }, around);
  }

  #found(
    node: DomNode,
    { kind, hidden, name, role }: Pick<FormNode, "hidden" | "kind"> & { readonly name: string; readonly role: string },
    { found }: Surroundings,
  ): FormNode {
    const { clip, document, frame, target, x, y } = this.#place;
    const { dom, loaderId } = document;
    const label = isVisibleLabel(labelOf(node)) ? labelOf(node) : undefined;
    const own = hidden === undefined && !node.isVisible ? (label?.box ?? node.box) : node.box;
    const box = own && { ...own, x: own.x + x, y: own.y + y };
    return {
      kind,
      node,
      hidden,
      parent: found,
      box,
      isVisible: box !== undefined && isSeen(box, clip),
      address: { target, frameId: dom.frameId, loaderId, backendNodeId: node.backendNodeId },
      content: {
        frame,
        role,
        name,
        tag: node.tag,
        attributes: kind === "text" ? {} : meaningOf(node),
        states: kind === "text" ? [] : statesFor(node),
        box: rounded(box),
        ...(node.tag === "select" && {
          options: options(node)
            .filter(({ isHidden }) => !isHidden)
            .slice(0, maxOptions)
            .map((option) => option.label),
        }),
      },
    };
  }
}

function isInline(node: DomNode): boolean {
  return !node.isLaidOut || node.style("display").startsWith("inline");
}

function statesFor(node: DomNode): OutlineNode["states"] {
  const isFocused = node.accessible?.states.has("focused") === true;
  const known = statesOf(node, isFocused).filter((state) => keptStates.has(state)) as OutlineNode["states"];
  const isButton = /^(?:submit|button|reset|image)$/i.test(node.attribute("type") ?? "");
  return isField(node) && !isButton && node.document.fieldValueOf(node) !== "" ? ["filled", ...known] : known;
}

function hiddenBecause(node: DomNode, role: string): OutlineNode["hidden"] {
  if (node.isVisible || (/^(?:checkbox|radio|switch)$/.test(role) && isDrawnElsewhere(node, role))) return undefined;
  const { box } = node;
  if (box === undefined || node.style("visibility") !== "visible") return "not_shown";
  if (box.width < leastSide || box.height < leastSide) return "small";
  return node.isLaidOpen ? "transparent" : "off_screen";
}

function rounded({ height, width, x, y }: Box = { x: 0, y: 0, width: 0, height: 0 }): Box {
  return { x: Math.round(x), y: Math.round(y), width: Math.round(width), height: Math.round(height) };
}
