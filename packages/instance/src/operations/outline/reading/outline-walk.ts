import { maxOutlineText, type OutlineFrame, type OutlineNode } from "../../../protocol/page.ts";
import type { ReadDocument } from "./frames.ts";
import { meaningOf, recognize, type OutlineKind } from "./kinds.ts";
import { intersection, type Box, type SnapshotNode } from "./snapshot.ts";
import type { FrameTarget, NodeAddress } from "../../pages/follow/followed-page.ts";

export interface FoundNode {
  readonly kind: OutlineKind;
  readonly address: NodeAddress;
  readonly content: Omit<OutlineNode, "ref" | "parent" | "hidden">;
  readonly parent: FoundNode | undefined;
  readonly hidden: OutlineNode["hidden"];
  /** The middle, in CSS pixels of its target's viewport. */
  readonly middle: { readonly x: number; readonly y: number };
  readonly read: ReadDocument;
  readonly node: SnapshotNode;
}

/** Position of a document's viewport. */
interface Place {
  readonly frame: number;
  /** In the page's viewport. */
  readonly x: number;
  readonly y: number;
  /** In the viewport of its target. */
  readonly targetX: number;
  readonly targetY: number;
  readonly around: FoundNode | undefined;
  /** Why the frame cannot be seen. */
  readonly hidden: OutlineNode["hidden"];
}

type OutlineState = OutlineNode["states"][number];

const accessibleStates = ["disabled", "focused", "invalid", "readonly", "required", "busy"] as const;
const maxScanned = 60_000;
const maxDepth = 12;
const maxOptions = 60;
/** Smaller sides in pixels cannot be seen or clicked. */
const leastSide = 3;
const leastOpacity = 0.05;
/** A border of this width is assumed around frames. */
const frameBorder = 2;

/** Finds the nodes of an outline in the documents of a page. */
export class OutlineWalk {
  readonly frames: OutlineFrame[] = [];
  readonly found: FoundNode[] = [];
  readonly #viewport: { readonly width: number; readonly height: number };
  #scanned = 0;

  constructor(viewport: { readonly width: number; readonly height: number }) {
    this.#viewport = viewport;
  }

  read(read: ReadDocument): void {
    const { width, height } = this.#viewport;
    this.#addFrame(read, { parent: null, width, height });
    this.#document(read, { frame: 0, x: 0, y: 0, targetX: 0, targetY: 0, around: undefined, hidden: undefined }, 0);
  }

  #addFrame({ document, facts }: ReadDocument, around: Pick<OutlineFrame, "parent" | "width" | "height">): number {
    const { url, title } = document;
    return this.frames.push({ ...around, host: facts.host, url: url.slice(0, 2_000), title: title.slice(0, 300) }) - 1;
  }

  #document(read: ReadDocument, place: Place, depth: number): void {
    const { nodes } = read.document;
    const outline = new DocumentOutline(read, place);
    const frames: { readonly found: FoundNode; readonly child: ReadDocument }[] = [];
    for (const node of nodes) {
      if (++this.#scanned > maxScanned) break;
      const found = outline.find(node);
      if (found === undefined) continue;
      this.found.push(found);
      const child = read.embedded.get(node.backendNodeId);
      if (child !== undefined) frames.push({ found, child });
    }
    if (depth < maxDepth) for (const { found, child } of frames) this.#frame(found, child, { place, depth });
  }

  #frame(owner: FoundNode, child: ReadDocument, { place, depth }: { readonly place: Place; readonly depth: number }) {
    const { box } = owner.content;
    const frame = this.#addFrame(child, { parent: place.frame, width: box.width, height: box.height });
    const isOwnTarget: boolean = child.target !== owner.address.target;
    const corner = (offset: number): number => offset + frameBorder;
    const localX = owner.node.box?.x ?? 0;
    const localY = owner.node.box?.y ?? 0;
    const { scroll } = owner.read.document;
    this.#document(
      child,
      {
        frame,
        x: corner(place.x + localX - scroll.x),
        y: corner(place.y + localY - scroll.y),
        targetX: isOwnTarget ? 0 : corner(place.targetX + localX - scroll.x),
        targetY: isOwnTarget ? 0 : corner(place.targetY + localY - scroll.y),
        around: owner,
        hidden: owner.hidden,
      },
      depth + 1,
    );
  }
}

/** Finds the nodes of one document, in its order. */
class DocumentOutline {
  readonly #read: ReadDocument;
  readonly #place: Place;
  readonly #target: FrameTarget;
  readonly #closest = new Map<number, FoundNode | undefined>();
  readonly #blocks = new Map<number, number>();
  readonly #texts: ReadonlyMap<number, readonly SnapshotNode[]>;
  readonly #labels: ReadonlyMap<string, SnapshotNode>;

  constructor(read: ReadDocument, place: Place) {
    this.#read = read;
    this.#place = place;
    this.#target = read.target;
    this.#texts = textsByBlock(read.document.nodes);
    this.#labels = new Map(
      read.document.nodes.flatMap((node) =>
        node.tag === "label" && node.attributes.for !== undefined ? [[node.attributes.for, node] as const] : [],
      ),
    );
  }

  find(node: SnapshotNode): FoundNode | undefined {
    const around = this.#closest.get(node.parent) ?? (node.parent < 0 ? this.#place.around : undefined);
    this.#closest.set(node.index, around);
    const accessible = this.#read.accessible.get(node.backendNodeId);
    const recognized = recognize(node, accessible);
    if (recognized === undefined) return undefined;
    const { kind, role } = recognized;
    // The name of a control or heading contains its text.
    if (kind === "text" && (around?.kind === "words" || (around?.kind === "control" && around.node.tag !== "form")))
      return undefined;
    if (kind === "text" && !this.#isFirstOfBlock(node)) return undefined;
    const name = kind === "text" ? this.#textOf(node) : this.#nameOf(node, kind);
    const shown = this.#shownAs(node, role);
    const hidden = this.#place.hidden ?? hiddenBecause(shown, node);
    // Hidden controls are kept as evidence of traps; hidden text is not.
    if (hidden !== undefined && kind !== "control" && node.tag !== "iframe") {
      if (kind === "block" && hidden !== "aria_hidden") return undefined;
      if (kind !== "block") return undefined;
    }
    const found = this.#foundNode(node, { kind, role, name, hidden, box: shown.box, around });
    this.#closest.set(node.index, found);
    return found;
  }

  #foundNode(
    node: SnapshotNode,
    {
      around,
      box = { x: 0, y: 0, width: 0, height: 0 },
      hidden,
      kind,
      name,
      role,
    }: {
      readonly around: FoundNode | undefined;
      readonly box: Box | undefined;
      readonly hidden: OutlineNode["hidden"];
      readonly kind: OutlineKind;
      readonly name: string;
      readonly role: string;
    },
  ): FoundNode {
    const { document, facts } = this.#read;
    const { frame, targetX, targetY, x, y } = this.#place;
    const left = box.x - document.scroll.x;
    const top = box.y - document.scroll.y;
    const options = node.tag === "select" ? this.#options(node) : undefined;
    return {
      kind,
      hidden,
      parent: around,
      read: this.#read,
      node,
      address: {
        target: this.#target,
        frameId: document.frameId,
        loaderId: facts.loaderId,
        backendNodeId: node.backendNodeId,
      },
      middle: { x: targetX + left + box.width / 2, y: targetY + top + box.height / 2 },
      content: {
        frame,
        role,
        name,
        tag: node.tag,
        attributes: kind === "text" ? {} : meaningOf(node, document.url),
        states: this.#states(node),
        box: {
          x: Math.round(x + left),
          y: Math.round(y + top),
          width: Math.round(box.width),
          height: Math.round(box.height),
        },
        ...(options && { options }),
      },
    };
  }

  /** A hidden checkbox is used through its label. */
  #shownAs(node: SnapshotNode, role: string): SnapshotNode {
    if (role !== "checkbox" && role !== "radio") return node;
    if (hiddenBecause(node, node) === undefined) return node;
    const label = this.#labels.get(node.attributes.id ?? "") ?? this.#ancestor(node, "label");
    return label !== undefined && hiddenBecause(label, label) === undefined ? label : node;
  }

  #ancestor(node: SnapshotNode, tag: string): SnapshotNode | undefined {
    const { nodes } = this.#read.document;
    let at = nodes[node.parent];
    while (at !== undefined && at.tag !== tag) at = nodes[at.parent];
    return at;
  }

  #states(node: SnapshotNode): OutlineState[] {
    const { attributes, isChecked, isFilled, isSelected } = node;
    const known = this.#read.accessible.get(node.backendNodeId)?.states;
    const states = new Set(accessibleStates.filter((state) => known?.has(state) === true)) as Set<OutlineState>;
    if (isFilled && !isButton(node)) states.add("filled");
    if (isChecked || attributes["aria-checked"] === "true") states.add("checked");
    if (isSelected || attributes["aria-selected"] === "true") states.add("selected");
    if (attributes.disabled !== undefined || attributes["aria-disabled"] === "true") states.add("disabled");
    if (attributes.readonly !== undefined) states.add("readonly");
    if (attributes.required !== undefined) states.add("required");
    if (attributes["aria-busy"] === "true") states.add("busy");
    if (attributes["aria-invalid"] !== undefined && attributes["aria-invalid"] !== "false") states.add("invalid");
    return [...states];
  }

  #nameOf(node: SnapshotNode, kind: OutlineKind): string {
    const { attributes } = node;
    const stated = firstOf(this.#read.accessible.get(node.backendNodeId)?.name.trim(), attributes["aria-label"]);
    if (stated !== "" || kind === "block") return clean(stated);
    const isField = node.tag === "input" || node.tag === "textarea" || node.tag === "select";
    if (isButton(node)) return clean(firstOf(attributes.value, attributes.alt, attributes.title));
    const own = isField ? firstOf(this.#labelText(node), attributes.placeholder) : this.#textBelow(node);
    return clean(firstOf(own, attributes.title, attributes.alt));
  }

  #labelText(node: SnapshotNode): string {
    const label = this.#labels.get(node.attributes.id ?? "") ?? this.#ancestor(node, "label");
    return label === undefined ? "" : this.#textBelow(label);
  }

  #textBelow(node: SnapshotNode): string {
    const { nodes } = this.#read.document;
    const below = new Set([node.index]);
    const parts: string[] = [];
    for (let index = node.index + 1; index < nodes.length; index++) {
      const next = nodes[index];
      if (next === undefined || !below.has(next.parent)) break;
      below.add(index);
      if (next.tag === "#text") parts.push(next.text);
      else if (next.tag === "img") parts.push(next.attributes.alt ?? "");
    }
    return parts.join(" ");
  }

  #options(node: SnapshotNode): string[] {
    const { nodes } = this.#read.document;
    const below = new Set([node.index]);
    const options: string[] = [];
    for (let index = node.index + 1; index < nodes.length && options.length < maxOptions; index++) {
      const next = nodes[index];
      if (next === undefined || !below.has(next.parent)) break;
      below.add(index);
      if (next.tag === "option")
        options.push(clean(this.#read.accessible.get(next.backendNodeId)?.name ?? next.attributes.label ?? ""));
    }
    return options;
  }

  #isFirstOfBlock(node: SnapshotNode): boolean {
    const block = blockOf(node, this.#read.document.nodes, this.#blocks);
    return this.#texts.get(block)?.[0] === node;
  }

  /** The text of the whole block, as a person reads it. */
  #textOf(node: SnapshotNode): string {
    const block = blockOf(node, this.#read.document.nodes, this.#blocks);
    const texts = this.#texts.get(block) ?? [node];
    return clean(texts.map(({ text }) => text).join(""));
  }
}

function firstOf(...texts: readonly (string | undefined)[]): string {
  return texts.find((text) => text !== undefined && text !== "") ?? "";
}

function isButton({ attributes, tag }: SnapshotNode): boolean {
  return tag === "input" && /^(?:submit|button|reset|image)$/i.test(attributes.type ?? "");
}

function clean(text: string): string {
  // Cut before and after: a hostile page may have megabytes of spaces.
  return text.slice(0, 20_000).replace(/\s+/g, " ").trim().slice(0, maxOutlineText);
}

function hiddenBecause(shown: SnapshotNode, node: SnapshotNode): OutlineNode["hidden"] {
  const { box, clip, isShown, opacity } = shown;
  if (node.isAriaHidden) return "aria_hidden";
  if (box === undefined || !isShown) return "not_shown";
  if (box.width < leastSide || box.height < leastSide) return "small";
  if (opacity < leastOpacity) return "transparent";
  if (box.x + box.width <= 0 || box.y + box.height <= 0) return "off_screen";
  const seen = clip === undefined ? box : intersection(clip, box);
  return seen.width < leastSide || seen.height < leastSide ? "off_screen" : undefined;
}

function textsByBlock(nodes: readonly SnapshotNode[]): ReadonlyMap<number, readonly SnapshotNode[]> {
  const texts = new Map<number, SnapshotNode[]>();
  const blocks = new Map<number, number>();
  for (const node of nodes) {
    if (node.tag !== "#text" || node.text.trim() === "" || !node.isShown || node.opacity < leastOpacity) continue;
    const block = blockOf(node, nodes, blocks);
    const known = texts.get(block);
    if (known === undefined) texts.set(block, [node]);
    else known.push(node);
  }
  return texts;
}

const separateTags: ReadonlySet<string> = new Set(["a", "button", "label", "option", "select", "textarea", "svg"]);

/** Index of the closest ancestor that starts a new line, or is a control. */
function blockOf(node: SnapshotNode, nodes: readonly SnapshotNode[], known: Map<number, number>): number {
  let at = nodes[node.parent];
  const passed: number[] = [];
  while (at !== undefined) {
    const block = known.get(at.index);
    const found = block ?? (!at.isInline || separateTags.has(at.tag) ? at.index : undefined);
    if (found !== undefined) {
      for (const index of passed) known.set(index, found);
      return found;
    }
    passed.push(at.index);
    at = nodes[at.parent];
  }
  return -1;
}
