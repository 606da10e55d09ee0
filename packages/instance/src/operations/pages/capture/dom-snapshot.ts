import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { CapturedStyle } from "../sight/captured-page.ts";
import { type Box, DocumentNodes, numbersOf } from "../sight/document-nodes.ts";
import { Visibility } from "../sight/visibility.ts";
import type { AccessibleNode, AccessibleTree } from "./accessibility.ts";
import { type Listeners, noListeners } from "./press-listeners.ts";

/** An element, text or shadow root of Chromium's snapshot. */
export class DomNode {
  readonly document: DomDocument;
  readonly index: number;
  readonly parent: DomNode | undefined;
  /** Lower case; `#text` for text. */
  readonly tag: string;
  /** Children in the rendered tree: those of shadow roots and slots in their places. */
  readonly children: DomNode[] = [];
  /** Index of the host whose shadow root contains it, as far as the rendered tree tells; -1 outside. */
  readonly host: number;

  constructor(document: DomDocument, index: number, parent: DomNode | undefined) {
    this.document = document;
    this.index = index;
    this.parent = parent;
    this.tag = document.tagOf(index);
    this.host = hostOf(document, index, parent);
  }

  get backendNodeId(): number {
    return this.document.backendNodeIdOf(this.index);
  }

  get isText(): boolean {
    return this.tag === "#text";
  }

  /** Whether it takes part in the layout; `display: contents` does not. */
  get isLaidOut(): boolean {
    return this.document.hasLayout(this.index);
  }

  /** What assistive technology gets; `undefined` for a node that it does not get. */
  get accessible(): AccessibleNode | undefined {
    return this.document.accessible?.nodes.get(this.backendNodeId);
  }

  /** Whether Chromium's tree does not report it: a very large document, or a part whose layout it skips. */
  get isUntold(): boolean {
    const tree = this.document.accessible;
    return tree === undefined || (!tree.nodes.has(this.backendNodeId) && !tree.ignored.has(this.backendNodeId));
  }

  /** Whether a person can see it, possibly after scrolling. */
  get isVisible(): boolean {
    return this.document.visibility.isVisible(this.index);
  }

  /** Whether only its opacity may hide it. */
  get isLaidOpen(): boolean {
    return this.document.visibility.isLaidOpen(this.index);
  }

  /** In the coordinates of the document. */
  get box(): Box | undefined {
    return this.document.boxOf(this.index);
  }

  /** Its text as it is rendered. */
  get renderedText(): string {
    return this.document.renderedTextOf(this.index);
  }

  /** Its text in the source. */
  get value(): string {
    return this.document.textOf(this.index);
  }

  attribute(name: string): string | undefined {
    return this.document.attributeOf(this.index, name);
  }

  style(style: CapturedStyle): string {
    return this.document.styleOf(this.index, style);
  }
}

/** A document of a snapshot. */
export class DomDocument extends DocumentNodes {
  readonly frameId: string;
  readonly inShadowRoots: ReadonlySet<number>;
  readonly checked: ReadonlySet<number>;
  readonly selected: ReadonlySet<number>;
  /** Nodes that listen to clicks, or to the buttons of a mouse. */
  readonly clickable: ReadonlySet<number>;
  /** Nodes that listen to presses of a pointer. */
  readonly pressed: ReadonlySet<number>;
  /** Nodes where a framework listens for the whole page. */
  readonly serving: ReadonlySet<number>;
  /** `undefined` for a document that is too large for it. */
  accessible: AccessibleTree | undefined;
  readonly #values: ReadonlyMap<number, number>;
  #tree: DomNode[] | undefined;
  #byId: Map<string, DomNode> | undefined;
  #labels: Map<string, DomNode> | undefined;
  #visibility: Visibility | undefined;

  constructor(
    document: Protocol.DOMSnapshot.DocumentSnapshot,
    strings: readonly string[],
    { pressed, serving }: Listeners = noListeners,
  ) {
    super(document, strings);
    const { nodes } = document;
    this.frameId = this.text(document.frameId);
    this.inShadowRoots = new Set(nodes.shadowRootType?.index);
    this.checked = new Set(nodes.inputChecked?.index);
    this.selected = new Set(nodes.optionSelected?.index);
    const all = pressed.size + serving.size === 0 ? [] : Array.from({ length: this.count }, (_, index) => index);
    const indexes = (ids: ReadonlySet<number>) => all.filter((index) => ids.has(this.backendNodeIdOf(index)));
    this.clickable = new Set(nodes.isClickable?.index);
    this.pressed = new Set(indexes(pressed));
    this.serving = new Set(indexes(serving));
    this.#values = new Map([...numbersOf(nodes.inputValue), ...numbersOf(nodes.textValue)]);
  }

  get tree(): readonly DomNode[] {
    return (this.#tree ??= this.#readTree());
  }

  get visibility(): Visibility {
    return (this.#visibility ??= new Visibility(this, { ariaHidden: false }));
  }

  find(backendNodeId: number): DomNode | undefined {
    return this.tree[this.indexOf(backendNodeId) ?? -1];
  }

  /** The first element with this id in the same shadow root or document as `from`. */
  byId(id: string, from: DomNode): DomNode | undefined {
    return (this.#byId ??= this.#firstWith("id", () => true)).get(scopedId(id, from));
  }

  /** The first label for an element with this id. */
  labelFor(id: string, from: DomNode): DomNode | undefined {
    return (this.#labels ??= this.#firstWith("for", ({ tag }) => tag === "label")).get(scopedId(id, from));
  }

  /** Value of a field. */
  fieldValueOf({ index }: DomNode): string {
    return this.text(this.#values.get(index));
  }

  #readTree(): DomNode[] {
    const tree: DomNode[] = [];
    const afters: DomNode[] = [];
    for (let index = 0; index < this.count; index++) {
      const parent = tree[this.parentOf(index)];
      const node = new DomNode(this, index, parent);
      tree.push(node);
      parent?.children.push(node);
      if (node.tag === "::after") afters.push(node);
    }
    // A snapshot lists them before the content.
    for (const after of afters) {
      const siblings = after.parent?.children ?? [];
      siblings.push(...siblings.splice(siblings.indexOf(after), 1));
    }
    return tree;
  }

  #firstWith(attribute: string, fits: (node: DomNode) => boolean): Map<string, DomNode> {
    const found = new Map<string, DomNode>();
    for (const node of this.tree) {
      const value = node.attribute(attribute);
      if (value === undefined || value === "" || !fits(node)) continue;
      const key = scopedId(value, node);
      if (!found.has(key)) found.set(key, node);
    }
    return found;
  }
}

/** The elements that an attribute with ids names. */
export function targetsOf(node: DomNode, attribute: string): readonly DomNode[] {
  const ids = (node.attribute(attribute) ?? "").split(/\s+/, 10).filter((id) => id !== "");
  return ids.map((id) => node.document.byId(id, node)).filter((target) => target !== undefined);
}

function hostOf({ inShadowRoots }: DomDocument, index: number, parent: DomNode | undefined): number {
  if (parent === undefined || !inShadowRoots.has(index)) return -1;
  return !inShadowRoots.has(parent.index) || parent.tag.includes("-") ? parent.index : parent.host;
}

function scopedId(id: string, { host }: DomNode): string {
  return `${String(host)} ${id}`;
}
