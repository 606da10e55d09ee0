import type { Protocol } from "devtools-protocol/types/protocol.d.ts";

/** In CSS pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Computed styles of each node, in this order. */
export const snapshotStyles = [
  "display",
  "visibility",
  "opacity",
  "overflow-x",
  "overflow-y",
  "cursor",
  "position",
  "-webkit-text-security",
  "overlay",
] as const;

type Style = (typeof snapshotStyles)[number];

/** An element, text or shadow root of Chromium's snapshot. */
export class DomNode {
  readonly document: DomDocument;
  readonly index: number;
  readonly parent: DomNode | undefined;
  /** Lower case; `#text` for text. */
  readonly tag: string;
  /** Children of the document's tree; see `flatChildren` for the rendered tree. */
  readonly children: DomNode[] = [];
  /** The shadow root that contains it. */
  readonly shadowRoot: DomNode | undefined;

  constructor(document: DomDocument, index: number, parent: DomNode | undefined) {
    this.document = document;
    this.index = index;
    this.parent = parent;
    this.tag = document.tagOf(index);
    this.shadowRoot = parent?.isShadowRoot === true ? parent : parent?.shadowRoot;
  }

  get backendNodeId(): number {
    return this.document.backendNodeIds[this.index] ?? 0;
  }

  get isText(): boolean {
    return this.tag === "#text";
  }

  get isShadowRoot(): boolean {
    return this.tag === "#document-fragment" && this.document.shadowRoots.has(this.index);
  }

  /** Whether it takes part in the layout; `display: contents` does not. */
  get isLaidOut(): boolean {
    return this.document.layoutOf.has(this.index);
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
    return this.document.text(this.document.nodes.nodeValue?.[this.index]);
  }

  attribute(name: string): string | undefined {
    return this.document.attributeOf(this.index, name);
  }

  style(style: Style): string {
    return this.document.styleOf(this.index, style);
  }
}

/** A document of a snapshot. */
export class DomDocument {
  readonly frameId: string;
  readonly url: string;
  readonly scroll: { readonly x: number; readonly y: number };
  readonly nodes: Protocol.DOMSnapshot.NodeTreeSnapshot;
  readonly backendNodeIds: readonly number[];
  readonly layoutOf: ReadonlyMap<number, number>;
  readonly shadowRoots: ReadonlyMap<number, string>;
  /** Index of a child document in the snapshot, by the index of its element. */
  readonly childDocuments: ReadonlyMap<number, number>;
  readonly checked: ReadonlySet<number>;
  readonly selected: ReadonlySet<number>;
  readonly clickable: ReadonlySet<number>;
  readonly pseudoTypes: ReadonlyMap<number, string>;
  readonly #layout: Protocol.DOMSnapshot.LayoutTreeSnapshot;
  readonly #strings: readonly string[];
  readonly #values: ReadonlyMap<number, number>;
  readonly #slotted = new Map<number, ReadonlyMap<string, readonly DomNode[]>>();
  #tree: DomNode[] | undefined;
  #byId: Map<string, DomNode> | undefined;
  #labels: Map<string, DomNode> | undefined;

  constructor(document: Protocol.DOMSnapshot.DocumentSnapshot, strings: readonly string[]) {
    const { documentURL, frameId, layout, nodes, scrollOffsetX = 0, scrollOffsetY = 0 } = document;
    this.#strings = strings;
    this.#layout = layout;
    this.nodes = nodes;
    this.frameId = this.text(frameId);
    this.url = this.text(documentURL);
    this.scroll = { x: scrollOffsetX, y: scrollOffsetY };
    this.backendNodeIds = nodes.backendNodeId ?? [];
    this.layoutOf = new Map(layout.nodeIndex.map((node, place) => [node, place]));
    this.shadowRoots = this.#strangeNodes(nodes.shadowRootType);
    this.pseudoTypes = this.#strangeNodes(nodes.pseudoType);
    this.childDocuments = numbersOf(nodes.contentDocumentIndex);
    this.checked = new Set(nodes.inputChecked?.index);
    this.selected = new Set(nodes.optionSelected?.index);
    this.clickable = new Set(nodes.isClickable?.index);
    this.#values = new Map([...numbersOf(nodes.inputValue), ...numbersOf(nodes.textValue)]);
  }

  get size(): number {
    return this.nodes.parentIndex?.length ?? 0;
  }

  get tree(): readonly DomNode[] {
    return (this.#tree ??= this.#readTree());
  }

  /** The first element with this id. */
  byId(id: string): DomNode | undefined {
    return (this.#byId ??= this.#firstWith("id", () => true)).get(id);
  }

  /** The first label for the element with this id. */
  labelFor(id: string): DomNode | undefined {
    return (this.#labels ??= this.#firstWith("for", ({ tag }) => tag === "label")).get(id);
  }

  /** Children of a shadow host by the name of their slot. */
  slotted(host: DomNode): ReadonlyMap<string, readonly DomNode[]> {
    const known = this.#slotted.get(host.index);
    if (known !== undefined) return known;
    const bySlot = Map.groupBy(
      host.children.filter(({ isShadowRoot }) => !isShadowRoot),
      (child) => child.attribute("slot") ?? "",
    );
    this.#slotted.set(host.index, bySlot);
    return bySlot;
  }

  /** Value of a field. */
  valueOf({ index }: DomNode): string {
    return this.text(this.#values.get(index));
  }

  tagOf(index: number): string {
    return this.text(this.nodes.nodeName?.[index]).toLowerCase();
  }

  boxOf(index: number): Box | undefined {
    const bounds = this.#layout.bounds[this.layoutOf.get(index) ?? -1];
    if (bounds === undefined) return undefined;
    const [x = 0, y = 0, width = 0, height = 0] = bounds;
    return { x, y, width, height };
  }

  renderedTextOf(index: number): string {
    return this.text(this.#layout.text[this.layoutOf.get(index) ?? -1]);
  }

  attributeOf(index: number, name: string): string | undefined {
    const pairs = this.nodes.attributes?.[index] ?? [];
    for (let place = 0; place + 1 < pairs.length; place += 2)
      if (this.#strings[pairs[place] ?? -1] === name) return this.text(pairs[place + 1]);
    return undefined;
  }

  styleOf(index: number, style: Style): string {
    const styles = this.#layout.styles[this.layoutOf.get(index) ?? -1];
    return this.text(styles?.[snapshotStyles.indexOf(style)]);
  }

  text(index: number | undefined): string {
    return index === undefined || index < 0 ? "" : (this.#strings[index] ?? "");
  }

  #strangeNodes({ index, value }: Protocol.DOMSnapshot.RareStringData = { index: [], value: [] }) {
    return new Map(index.map((node, place) => [node, this.text(value[place])]));
  }

  #readTree(): DomNode[] {
    const tree: DomNode[] = [];
    for (const [index, parentIndex] of (this.nodes.parentIndex ?? []).entries()) {
      const parent = tree[parentIndex];
      const node = new DomNode(this, index, parent);
      tree.push(node);
      parent?.children.push(node);
    }
    return tree;
  }

  #firstWith(attribute: string, fits: (node: DomNode) => boolean): Map<string, DomNode> {
    const found = new Map<string, DomNode>();
    for (const node of this.tree) {
      const value = node.attribute(attribute);
      if (value !== undefined && value !== "" && !found.has(value) && fits(node)) found.set(value, node);
    }
    return found;
  }
}

function numbersOf({ index, value }: { index: number[]; value: number[] } = { index: [], value: [] }) {
  return new Map(index.map((node, place) => [node, value[place] ?? -1]));
}

/** Children in the rendered tree: of a shadow root instead of its host's own, and of slots. */
export function flatChildren(node: DomNode): readonly DomNode[] {
  const root = node.children.find((child) => isAuthorRoot(child));
  if (root !== undefined) return root.children;
  if (node.tag !== "slot" || node.shadowRoot?.parent === undefined) return withoutRoots(node);
  const assigned = node.document.slotted(node.shadowRoot.parent).get(node.attribute("name") ?? "");
  return assigned ?? node.children;
}

/** Shadow roots of Chromium's own elements, such as fields, contain nothing new. */
function isAuthorRoot(node: DomNode): boolean {
  return node.isShadowRoot && node.document.shadowRoots.get(node.index) !== "user-agent";
}

function withoutRoots({ children }: DomNode): readonly DomNode[] {
  return children.some(({ isShadowRoot }) => isShadowRoot) ? children.filter((child) => !child.isShadowRoot) : children;
}
