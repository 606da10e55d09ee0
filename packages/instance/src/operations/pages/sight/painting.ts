import { blended, type Colour, isSameColour } from "./colours.ts";
import { contains, intersection } from "./boxes.ts";
import type { Box, DocumentNodes } from "./document-nodes.ts";
import { canBeClosed } from "./popups.ts";

/** What an element paints. */
export interface Painted {
  readonly node: number;
  /** Without parts that no scrolling shows. */
  readonly box: Box;
  /** The part that its scrollers show now. */
  readonly shown: Box;
  /** `undefined` for pictures. */
  readonly colour: Colour | undefined;
  readonly blendMode: string;
  /** What it scrolls with: an element, or -1 for the page. */
  readonly anchor: number;
  /** Whether it may not fill its box: a shape, or words in several lines. */
  readonly isLoose: boolean;
}

/** A text, or another part that a person may see. */
export interface Subject {
  readonly node: number;
  readonly box: Box;
  /** `undefined` where only a cover can hide it. */
  readonly colour: Colour | undefined;
  readonly blendMode: string;
  readonly anchor: number;
}

/** An element that scrolls, or that scrolling does not move. */
export interface Anchor {
  /** The anchor around it. */
  readonly outer: number;
  /** Of an element that scrolls: where its content is shown. */
  readonly window: Box | undefined;
}

export interface PaintedDocument {
  readonly nodes: DocumentNodes;
  /** The colour behind everything; `undefined` where the reader's preference decides, and for pictures. */
  readonly canvas: Colour | undefined;
  readonly anchors: ReadonlyMap<number, Anchor>;
  /** The elements behind whose content a node is painted. */
  readonly behindOf: (node: number) => readonly number[];
}

interface Found {
  readonly painted: Painted;
  /** Whether it is surely at this point of the subject. */
  readonly isCertain: boolean;
  /** Whether it hides this point, however a person scrolls. */
  readonly isCover: boolean;
}

/** Parts of the size of a subject, from the most likely. */
const points = [0.5, 0.1, 0.9].flatMap((down) => [0.5, 0.1, 0.9].map((across) => [across, down] as const));
const cellPixels = 160;
const mostCells = 256;
/** A page with more is made to take long. */
const maxCompared = 20_000_000;
const maxGrounds = 4;
const maxAnchors = 20;
const leastCover = 0.95;

/** Decides by the paint below and above a part of a document whether a person sees it. */
export class Painting {
  readonly #document: PaintedDocument;
  readonly #cells = new Map<string, Painted[]>();
  readonly #large: Painted[] = [];
  #compared = 0;

  constructor(document: PaintedDocument, painted: readonly Painted[]) {
    this.#document = document;
    for (const one of painted) this.#add(one);
  }

  /** Whether one of its points has another colour than the paint below it, and nothing opaque above it. */
  isSeen(subject: Subject): boolean {
    const { box, node } = subject;
    return points.some(([across, down]) => {
      const below: Found[] = [];
      for (const found of this.#at(box.x + box.width * across, box.y + box.height * down, subject)) {
        if (!this.#isAbove(found.painted.node, node, node)) below.push(found);
        else if (found.isCover && !canBeClosed(this.#document.nodes, found.painted.node, node)) return false;
      }
      return subject.colour === undefined || this.#isDistinct(subject, below);
    });
  }

  /** Everything painted at a point of a subject. Content with another scroller has its own point. */
  #at(atX: number, atY: number, subject: Subject): Found[] {
    const { anchors, nodes } = this.#document;
    const found: Found[] = [];
    const levels = new Set<number>();
    let { anchor } = subject;
    let [x, y] = [atX, atY];
    /** What a cover must hide: the point, and then all of the elements that scroll it. */
    let hidden: Box | undefined = { x, y, width: 0, height: 0 };
    const isAncestor = ({ node }: Painted): boolean => nodes.isAround(node, subject.node);
    while (levels.size < maxAnchors) {
      levels.add(anchor);
      for (const painted of this.#near(x, y)) {
        if (painted.anchor !== anchor || !contains(painted.box, x, y)) continue;
        const isCertain = (anchor === subject.anchor && !painted.isLoose) || isAncestor(painted);
        found.push({ painted, isCertain, isCover: hidden !== undefined && isOpaque(painted, hidden) });
      }
      const level = anchors.get(anchor);
      if (level === undefined) break;
      const { outer, window } = level;
      if (window !== undefined) {
        x = Math.min(Math.max(x, window.x), window.x + window.width);
        y = Math.min(Math.max(y, window.y), window.y + window.height);
      }
      hidden = hidden && window;
      anchor = outer;
    }
    if (anchors.size === 0) return found;
    for (const painted of this.#near(x, y))
      if (!levels.has(painted.anchor) && contains(painted.shown, x, y))
        found.push({ painted, isCertain: isAncestor(painted), isCover: false });
    return found;
  }

  /** Whether it differs from one of the colours that may be behind it. */
  #isDistinct({ blendMode, colour }: Subject, below: readonly Found[]): boolean {
    return this.#grounds(below).some((ground) => {
      const shown = ground && colour && blended(blendMode, colour, ground);
      return shown === undefined || ground === undefined || !isSameColour(shown, ground);
    });
  }

  /** `undefined` for pictures. */
  #grounds(below: readonly Found[]): readonly (Colour | undefined)[] {
    const { canvas } = this.#document;
    const order = below.toSorted(({ painted: { node: one } }, { painted: { node: other } }) =>
      this.#isAbove(one, other) ? 1 : this.#isAbove(other, one) ? -1 : one - other,
    );
    let grounds: readonly (Colour | undefined)[] = [canvas];
    for (const { isCertain, painted } of order) {
      const { blendMode, colour } = painted;
      const over = grounds.map((ground) => mixed(blendMode, colour, ground));
      grounds = isCertain ? over : [...over, ...grounds].slice(0, maxGrounds);
    }
    return grounds;
  }

  /** Whether an element is painted after a node: in the order of layers, then of what each layer paints. */
  #isAbove(node: number, other: number, subject = -1): boolean {
    const { behindOf, nodes } = this.#document;
    const order = nodes.paintOrderOf(node);
    const otherOrder = nodes.paintOrderOf(other);
    if (behindOf(other).some((root) => root !== node && nodes.paintOrderOf(root) === order)) return true;
    if (behindOf(node).some((root) => root !== other && nodes.paintOrderOf(root) === otherOrder)) return false;
    if (order !== otherOrder || node <= other) return order > otherOrder;
    // Blocks paint their ground before the text of all; items and words as they come.
    return subject !== -1 && this.#isWhole(node, subject);
  }

  #isWhole(node: number, subject: number): boolean {
    const { nodes } = this.#document;
    for (let at = node; at >= 0 && !nodes.isAround(at, subject); at = nodes.parentOf(at)) {
      const around = nodes.styleOf(nodes.parentOf(at), "display");
      if (nodes.styleOf(at, "display").startsWith("inline") || /flex|grid/.test(around)) return true;
    }
    return false;
  }

  #add(painted: Painted): void {
    const { height, width, x, y } = painted.box;
    const [left, right, top, bottom] = [x, x + width, y, y + height].map((at) => Math.floor(at / cellPixels));
    if (left === undefined || right === undefined || top === undefined || bottom === undefined) return;
    if ((right - left + 1) * (bottom - top + 1) > mostCells) {
      this.#large.push(painted);
      return;
    }
    for (let column = left; column <= right; column++)
      for (let row = top; row <= bottom; row++) {
        const key = `${String(column)} ${String(row)}`;
        const there = this.#cells.get(key);
        if (there === undefined) this.#cells.set(key, [painted]);
        else there.push(painted);
      }
  }

  *#near(x: number, y: number): Generator<Painted> {
    const key = `${String(Math.floor(x / cellPixels))} ${String(Math.floor(y / cellPixels))}`;
    for (const list of [this.#large, this.#cells.get(key) ?? []]) {
      this.#compared += list.length;
      if (this.#compared < maxCompared) yield* list;
    }
  }
}

/** Whether it hides all of a box. */
function isOpaque({ blendMode, box, colour, isLoose }: Painted, hidden: Box): boolean {
  if (isLoose || !isNormal(blendMode) || colour === undefined || colour[3] < leastCover) return false;
  const { height, width } = intersection(hidden, box);
  return width >= hidden.width && height >= hidden.height;
}

function isNormal(blendMode: string): boolean {
  return blendMode === "" || blendMode === "normal";
}

function mixed(mode: string, top: Colour | undefined, below: Colour | undefined): Colour | undefined {
  if (top === undefined) return undefined;
  if (below === undefined) return top[3] === 1 && isNormal(mode) ? top : undefined;
  return blended(mode, top, below);
}
