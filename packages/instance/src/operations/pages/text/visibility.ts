import { isHiddenByMistake } from "./aria-hidden.ts";
import { type Colour, colourOf, isOpaqueMask, isSameColour, over } from "./colours.ts";
import type { Box, DocumentNodes } from "./document-nodes.ts";

/** Text below these limits cannot be read by a person. */
const leastOpacity = 0.05;
const leastPixels = 2;
const leastFontPixels = 3;
const maxCompared = 2_000;
const maxHeadNodes = 1_000;

/** What a node inherits from the nodes around it. */
interface Surroundings {
  readonly opacity: number;
  readonly clip: Box | undefined;
  /** Hidden from assistive technology on purpose. */
  readonly isAriaHidden: boolean;
  /** Cut or filtered away. */
  readonly isCut: boolean;
  readonly isDrawing: boolean;
  /** The colour behind the text; `undefined` behind pictures. */
  readonly background: Colour | undefined;
  /** The text is cut out of the background of an element. */
  readonly isBackgroundText: boolean;
}

const outermost: Surroundings = {
  opacity: 1,
  clip: undefined,
  isAriaHidden: false,
  isCut: false,
  isDrawing: false,
  background: [255, 255, 255, 1],
  isBackgroundText: false,
};
const darkCanvas: Colour = [18, 18, 18, 1];

export interface VisibilityOptions {
  /** Whether parts that are hidden from assistive technology count as hidden. */
  readonly ariaHidden: boolean;
}

const pictureTags: ReadonlySet<string> = new Set(["img", "video", "canvas", "svg", "iframe", "object", "embed"]);

/** Decides which nodes of a document a person can see: hidden text is a way to give instructions to agents. */
export class Visibility {
  readonly #nodes: DocumentNodes;
  readonly #surroundings: Surroundings[] = [];
  /** Boxes that paint something behind the text of other elements. */
  readonly #painted: { readonly node: number; readonly box: Box }[] = [];
  /** The part of the document that can be scrolled to. */
  readonly #page: Box;
  readonly #screen: Box;
  readonly #options: VisibilityOptions;
  readonly #outermost: Surroundings;
  #compared = 0;

  constructor(nodes: DocumentNodes, options: VisibilityOptions = { ariaHidden: true }) {
    this.#nodes = nodes;
    this.#options = options;
    this.#outermost = { ...outermost, background: canvasOf(nodes) };
    this.#page = reachablePart(nodes);
    this.#screen = { ...this.#page, x: nodes.scroll.x, width: nodes.boxOf(0)?.width ?? farPixels };
    for (let node = 0; node < nodes.count; node++) this.#surroundings.push(this.#read(node));
  }

  /** Whether assistive technology or the page hides an element with all its content. */
  isHidden(node: number): boolean {
    const around = this.#surroundings[node];
    return around === undefined || around.isCut || around.isAriaHidden;
  }

  /** Whether a person can see a text, picture or box, possibly after scrolling. */
  isVisible(node: number): boolean {
    const around = this.#surroundings[node];
    return around !== undefined && !around.isAriaHidden && around.opacity >= leastOpacity && this.isLaidOpen(node);
  }

  /** Whether only its opacity may hide it. */
  isLaidOpen(node: number): boolean {
    const nodes = this.#nodes;
    const around = this.#surroundings[node];
    const box = nodes.boxOf(node);
    if (around === undefined || box === undefined || around.isCut) return false;
    if (nodes.styleOf(node, "visibility") !== "visible" || !isBigEnough(intersection(around.clip ?? this.#page, box)))
      return false;
    return !(nodes.isText(node) || nodes.tagOf(node).startsWith("::")) || this.#isLegible(node, box, around);
  }

  #read(node: number): Surroundings {
    const nodes = this.#nodes;
    const around = this.#surroundings[nodes.parentOf(node)] ?? this.#outermost;
    if (!nodes.isElement(node)) return around;
    const isAriaHidden = around.isAriaHidden || this.#isAriaHidden(node);
    if (around.isCut) return { ...around, isAriaHidden };
    if (!nodes.hasLayout(node)) return isAriaHidden === around.isAriaHidden ? around : { ...around, isAriaHidden };
    const box = nodes.boxOf(node);
    const style = (name: Parameters<DocumentNodes["styleOf"]>[1]): string => nodes.styleOf(node, name);
    const own = Number(style("opacity") || 1);
    const image = style("background-image");
    const isPicture = pictureTags.has(nodes.tagOf(node));
    const colour = colourOf(style("background-color"));
    const isPainted = isPicture || (image !== "" && image !== "none");
    if (box !== undefined && (isPainted || (colour !== undefined && colour[3] > 0))) this.#painted.push({ node, box });
    const isCut =
      isCutAway(style("clip"), style("clip-path")) ||
      isFilteredAway(style("filter")) ||
      !isOpaqueMask(style("mask-image"), leastOpacity);
    return {
      opacity: around.opacity * (Number.isFinite(own) ? own : 1),
      clip: this.#clip(node, box, around.clip),
      isAriaHidden,
      isCut,
      isDrawing: nodes.tagOf(node) !== "foreignobject" && (around.isDrawing || nodes.tagOf(node) === "svg"),
      background: isPainted ? undefined : over(colour, around.background),
      isBackgroundText: around.isBackgroundText || style("-webkit-background-clip").includes("text"),
    };
  }

  #isAriaHidden(node: number): boolean {
    const nodes = this.#nodes;
    if (!this.#options.ariaHidden || nodes.attributeOf(node, "aria-hidden") !== "true") return false;
    return !isHiddenByMistake(nodes, node);
  }

  #clip(node: number, box: Box | undefined, around: Box | undefined): Box | undefined {
    const tag = this.#nodes.tagOf(node);
    if (box === undefined || tag === "html" || tag === "body") return around;
    // Scrolling does not move these elements into view. Their clipping ancestors do not apply either.
    if (this.#nodes.styleOf(node, "position") === "fixed") return this.#screen;
    const clipsX = isClipping(this.#nodes.styleOf(node, "overflow-x"));
    const clipsY = isClipping(this.#nodes.styleOf(node, "overflow-y"));
    const shown = intersection(around ?? this.#page, box);
    if (!clipsX && !clipsY) {
      const content = this.#nodes.scrolledContentOf(node);
      if (content === undefined) return around;
      // Content of a scrolled element can be brought into view, if a part of the element is visible.
      return isBigEnough(shown) ? content : nothing;
    }
    const own = {
      x: clipsX ? box.x : -farPixels,
      y: clipsY ? box.y : -farPixels,
      width: clipsX ? box.width : 2 * farPixels,
      height: clipsY ? box.height : 2 * farPixels,
    };
    return intersection(around ?? this.#page, own);
  }

  #isLegible(node: number, box: Box, { background, isBackgroundText, isDrawing }: Surroundings): boolean {
    const nodes = this.#nodes;
    const fontPixels = Number.parseFloat(nodes.styleOf(node, "font-size"));
    if (fontPixels < leastFontPixels || Math.max(box.width, box.height) < leastFontPixels) return false;
    if (isBackgroundText) return true;
    if (isDrawing) {
      const fill = nodes.styleOf(node, "fill");
      return fill !== "none" && (colourOf(fill)?.[3] ?? 1) >= leastOpacity;
    }
    const fill = colourOf(nodes.styleOf(node, "-webkit-text-fill-color")) ?? colourOf(nodes.styleOf(node, "color"));
    if (fill === undefined) return true;
    if (fill[3] < leastOpacity) return false;
    if (background === undefined || !isSameColour(over(fill, background) ?? fill, background)) return true;
    return this.#isOverOther(node, box);
  }

  /** Whether another element paints something else behind the middle of a text. */
  #isOverOther(node: number, box: Box): boolean {
    if (++this.#compared > maxCompared) return false;
    const x = box.x + box.width / 2;
    const y = box.y + box.height / 2;
    const ancestors = new Set<number>();
    for (let at = this.#nodes.parentOf(node); at > 0; at = this.#nodes.parentOf(at)) ancestors.add(at);
    return this.#painted.some(
      ({ node: other, box: its }) =>
        !ancestors.has(other) && x >= its.x && y >= its.y && x <= its.x + its.width && y <= its.y + its.height,
    );
  }
}

const nothing: Box = { x: 0, y: 0, width: 0, height: 0 };
const farPixels = 1e9;

/** A document scrolls in the direction of its text only. */
function reachablePart(nodes: DocumentNodes): Box {
  const html = [...nodes.childrenOf(0)].find((node) => nodes.tagOf(node) === "html") ?? -1;
  const body = [...nodes.childrenOf(html)].find((node) => nodes.tagOf(node) === "body") ?? -1;
  const width = nodes.boxOf(html)?.width ?? farPixels;
  const isFixed = [html, body].some((node) => isClipping(nodes.styleOf(node, "overflow-x")));
  const isRightToLeft = nodes.styleOf(html, "direction") === "rtl";
  const left = isRightToLeft && !isFixed ? -farPixels : 0;
  const right = isRightToLeft || isFixed ? width : farPixels;
  return { x: left, y: 0, width: right - left, height: farPixels };
}

/** The colour behind a page that paints none; `undefined` where the reader's preference decides. */
function canvasOf(nodes: DocumentNodes): Colour | undefined {
  for (let node = 0; node < Math.min(nodes.count, maxHeadNodes); node++) {
    const tag = nodes.tagOf(node);
    if (tag === "body") break;
    const scheme =
      tag === "html"
        ? nodes.styleOf(node, "color-scheme")
        : tag === "meta" && nodes.attributeOf(node, "name")?.toLowerCase() === "color-scheme"
          ? (nodes.attributeOf(node, "content")?.toLowerCase() ?? "")
          : "";
    if (scheme.includes("dark")) return scheme.includes("light") ? undefined : darkCanvas;
  }
  return outermost.background;
}

function isClipping(overflow: string): boolean {
  return overflow === "hidden" || overflow === "clip";
}

function isBigEnough({ width, height }: Box): boolean {
  return width >= leastPixels && height >= leastPixels;
}

/** `clip` and `clip-path` as pages use them to hide text. */
function isCutAway(clip: string, path: string): boolean {
  const [top = 0, right = 1e9, bottom = 1e9, left = 0] = (/^rect\(([^)]*)\)$/.exec(clip)?.[1] ?? "")
    .split(/[\s,]+/)
    .map((side) => Number.parseFloat(side))
    .map((side) => (Number.isNaN(side) ? undefined : side));
  if (clip.startsWith("rect(") && (right - left < leastPixels || bottom - top < leastPixels)) return true;
  if (/^(?:circle|ellipse)\(0(?:px|%)?(?:\s|\))/.test(path) || path.startsWith("ellipse(0")) return true;
  // Shapes whose area is not known here could be empty.
  if (/^(?:url|path|shape|xywh|rect)\(/.test(path)) return true;
  if (path.startsWith("polygon(") && isFlat(path)) return true;
  const inset = /^inset\(([^)]*)\)/.exec(path)?.[1]?.split(/\s+/);
  if (inset === undefined) return false;
  const [above = "0", rightward = above, below = above, leftward = rightward] = inset;
  return percent(above) + percent(below) >= 100 || percent(leftward) + percent(rightward) >= 100;
}

/** Whether all corners of a polygon have the same place across or down. */
function isFlat(polygon: string): boolean {
  const corners = polygon
    .replace(/^polygon\((?:\w+,\s*)?|\)$/g, "")
    .split(",")
    .map((corner) =>
      corner
        .trim()
        .split(/\s+/)
        .map((at) => Number.parseFloat(at)),
    );
  return [0, 1].some((axis) => {
    const places = corners.map((corner) => corner[axis] ?? 0);
    return Math.max(...places) - Math.min(...places) < leastPixels;
  });
}

function isFilteredAway(filter: string): boolean {
  const opacity = /opacity\(([\d.]+)\)/.exec(filter)?.[1];
  return opacity !== undefined && Number(opacity) < leastOpacity;
}

function percent(length: string): number {
  return length.endsWith("%") ? Number.parseFloat(length) || 0 : 0;
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
