import { type CapturedProcess, type CapturedStyle, capturedStyles } from "./captured-page.ts";

type Document = CapturedProcess["documents"][number];

/** In CSS pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const textNode = 3;
const elementNode = 1;

/** The nodes of one document of a snapshot, by index. Parents come before their children. */
export class DocumentNodes {
  readonly count: number;
  readonly #document: Document;
  readonly #strings: readonly string[];
  readonly #layout: Int32Array;
  readonly #firstChild: Int32Array;
  readonly #nextSibling: Int32Array;
  /** The last node below each node: those between are all below it. */
  readonly #last: Int32Array;
  /** Index of the document of a frame in the same process, by its element. */
  readonly childDocuments: ReadonlyMap<number, number>;
  readonly #styleNames = new Map<CapturedStyle, number>(capturedStyles.map((name, place) => [name, place]));

  constructor(document: Document, strings: readonly string[], maxNodes = Number.POSITIVE_INFINITY) {
    this.#document = document;
    this.#strings = strings;
    const parents = document.nodes.parentIndex ?? [];
    this.count = Math.min(parents.length, maxNodes);
    this.#layout = new Int32Array(this.count).fill(-1);
    for (const [place, node] of document.layout.nodeIndex.entries()) {
      // A node has several entries if it is split over lines: the first is that of its box.
      if (node < this.count && this.#layout[node] === -1) this.#layout[node] = place;
    }
    this.#firstChild = new Int32Array(this.count).fill(-1);
    this.#nextSibling = new Int32Array(this.count).fill(-1);
    this.#last = Int32Array.from({ length: this.count }, (_, node) => node);
    for (let node = this.count - 1; node > 0; node--) {
      const parent = parents[node] ?? -1;
      if (parent < 0 || parent >= node) continue;
      this.#nextSibling[node] = this.#firstChild[parent] ?? -1;
      this.#firstChild[parent] = node;
      this.#last[parent] = Math.max(this.#last[parent] ?? 0, this.#last[node] ?? 0);
    }
    this.childDocuments = numbersOf(document.nodes.contentDocumentIndex);
  }

  get url(): string {
    return this.text(this.#document.documentURL);
  }

  get baseUrl(): string {
    return this.text(this.#document.baseURL);
  }

  get title(): string {
    return this.text(this.#document.title);
  }

  get scroll(): { readonly x: number; readonly y: number } {
    return { x: this.#document.scrollOffsetX ?? 0, y: this.#document.scrollOffsetY ?? 0 };
  }

  parentOf(node: number): number {
    return this.#document.nodes.parentIndex?.[node] ?? -1;
  }

  *childrenOf(node: number): Generator<number> {
    for (let child = this.#firstChild[node] ?? -1; child !== -1; child = this.#nextSibling[child] ?? -1) yield child;
  }

  firstChildrenOf(node: number, most: number): readonly number[] {
    const found: number[] = [];
    for (const child of this.childrenOf(node)) if (found.push(child) >= most) break;
    return found;
  }

  /** Whether a node is around another one. */
  isAround(outer: number, node: number): boolean {
    return outer >= 0 && outer < node && node <= (this.#last[outer] ?? -1);
  }

  isText(node: number): boolean {
    return this.#document.nodes.nodeType?.[node] === textNode;
  }

  isElement(node: number): boolean {
    return this.#document.nodes.nodeType?.[node] === elementNode;
  }

  /** Lower case; `::before` and others for pseudo-elements. */
  tagOf(node: number): string {
    return this.text(this.#document.nodes.nodeName?.[node]).toLowerCase();
  }

  textOf(node: number): string {
    return this.text(this.#document.nodes.nodeValue?.[node]);
  }

  /** Its text as it is rendered. A pseudo-element has one entry for its box, and others for its text. */
  renderedTextOf(node: number): string {
    const { nodeIndex, text } = this.#document.layout;
    const first = this.#layout[node] ?? -1;
    let whole = this.text(text[first]);
    for (let place = first + 1; first >= 0 && nodeIndex[place] === node; place++) whole += this.text(text[place]);
    return whole;
  }

  attributesOf(node: number): ReadonlyMap<string, string> {
    const pairs = this.#document.nodes.attributes?.[node] ?? [];
    const attributes = new Map<string, string>();
    for (let place = 0; place + 1 < pairs.length; place += 2)
      attributes.set(this.text(pairs[place]).toLowerCase(), this.text(pairs[place + 1]));
    return attributes;
  }

  attributeOf(node: number, name: string): string | undefined {
    const pairs = this.#document.nodes.attributes?.[node] ?? [];
    for (let place = 0; place + 1 < pairs.length; place += 2)
      if (this.#strings[pairs[place] ?? -1] === name) return this.text(pairs[place + 1]);
    return undefined;
  }

  indexOf(backendNodeId: number): number | undefined {
    const node = this.#document.nodes.backendNodeId?.indexOf(backendNodeId) ?? -1;
    return node < 0 || node >= this.count ? undefined : node;
  }

  backendNodeIdOf(node: number): number {
    return this.#document.nodes.backendNodeId?.[node] ?? 0;
  }

  hasLayout(node: number): boolean {
    return this.#layout[node] !== -1;
  }

  /** Layers in the order in which they are painted; all parts of a layer have the same number. */
  paintOrderOf(node: number): number {
    return this.#document.layout.paintOrders?.[this.#layout[node] ?? -1] ?? 0;
  }

  /** In CSS pixels of the document. */
  boxOf(node: number): Box | undefined {
    const [x, y, width, height] = this.#document.layout.bounds[this.#layout[node] ?? -1] ?? [];
    if (x === undefined || y === undefined || width === undefined || height === undefined) return undefined;
    return { x, y, width, height };
  }

  /** All content of an element that scrolls, in CSS pixels of the document; `undefined` for other elements. */
  scrolledContentOf(node: number): Box | undefined {
    const scrolls = [this.styleOf(node, "overflow-x"), this.styleOf(node, "overflow-y")];
    if (!scrolls.some((overflow) => overflow === "auto" || overflow === "scroll")) return undefined;
    const box = this.boxOf(node);
    const { scrollRects } = this.#document.layout;
    // Of a very large page, it is not known how far each part is scrolled.
    if (scrollRects === undefined) return { x: -1e9, y: -1e9, width: 2e9, height: 2e9 };
    const [left, top, width, height] = scrollRects[this.#layout[node] ?? -1] ?? [];
    if (left === undefined || top === undefined || width === undefined || height === undefined) return box;
    if (box === undefined) return undefined;
    const direction = this.styleOf(node, "flex-direction");
    const isRightToLeft = (this.styleOf(node, "direction") === "rtl") !== (direction === "row-reverse");
    const x = box.x - left - (isRightToLeft ? Math.max(0, width - box.width) : 0);
    const y = box.y - top - (direction === "column-reverse" ? Math.max(0, height - box.height) : 0);
    return { x, y, width: Math.max(width, box.width), height: Math.max(height, box.height) };
  }

  /** The elements whose content is larger than they are. */
  *scrollers(): Generator<{ readonly box: Box; readonly content: Box }> {
    for (const [place, node] of this.#document.layout.nodeIndex.entries()) {
      const [, , width = 0, height = 0] = this.#document.layout.scrollRects?.[place] ?? [];
      if (width === 0 && height === 0) continue;
      const box = this.boxOf(node);
      const content = this.scrolledContentOf(node);
      if (box !== undefined && content !== undefined && content.height > box.height) yield { box, content };
    }
  }

  /** Empty for nodes without layout. */
  styleOf(node: number, name: CapturedStyle): string {
    const styles = this.#document.layout.styles[this.#layout[node] ?? -1];
    return this.text(styles?.[this.#styleNames.get(name) ?? -1]);
  }

  protected text(index: number | undefined): string {
    return index === undefined || index < 0 ? "" : (this.#strings[index] ?? "");
  }
}

export function numbersOf({ index, value }: { index: number[]; value: number[] } = { index: [], value: [] }) {
  return new Map(index.map((node, place) => [node, value[place] ?? -1]));
}
