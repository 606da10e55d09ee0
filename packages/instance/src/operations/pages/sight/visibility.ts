import { intersection, isTooSmall } from "./boxes.ts";
import { isHiddenByMistake } from "./aria-hidden.ts";
import { canvasOf } from "./canvas-colour.ts";
import { type Colour, colourOf, over, shadowColours, plainGradient } from "./colours.ts";
import { type DrawnShape, filterOpacity, leftOf } from "./cut-away.ts";
import type { Box, DocumentNodes } from "./document-nodes.ts";
import { isSlanted, isTurnedAway, multiplied, type Turn, turnOf, unturned } from "./facing.ts";
import { leavesMost } from "./masks.ts";
import { drawnShapes } from "./drawn-shapes.ts";
import { isSkipped } from "./skipped.ts";
import { type Anchor, type Painted, Painting } from "./painting.ts";

/** Text below these limits cannot be read by a person. */
const leastOpacity = 0.05;
const leastFontPixels = 3;
const leastStrokePixels = 0.5;
/** A higher inline box has words in several lines. */
const mostLineHeights = 2;

/** What a node inherits from the nodes around it. */
interface Surroundings {
  readonly opacity: number;
  /** Where scrolling can show content. */
  readonly clip: Box | undefined;
  /** Where content is shown now. */
  readonly window: Box | undefined;
  /** Hidden from assistive technology on purpose. */
  readonly isAriaHidden: boolean;
  /** Cut, filtered or turned away. */
  readonly isCut: boolean;
  readonly isDrawing: boolean;
  readonly anchor: number;
  readonly behind: readonly number[];
  readonly blendMode: string;
  /** Whether boxes have the shape of their bounds. */
  readonly isSlanted: boolean;
  /** In the space of the element around it that keeps the depth of its content. */
  readonly turn: Turn;
  /** A ground that only its text shows; `null` for a picture. */
  readonly textGround: Colour | null | undefined;
}

const outermost: Surroundings = {
  opacity: 1,
  clip: undefined,
  window: undefined,
  isAriaHidden: false,
  isCut: false,
  isDrawing: false,
  anchor: -1,
  behind: [],
  blendMode: "",
  isSlanted: false,
  turn: unturned,
  textGround: undefined,
};

export interface VisibilityOptions {
  /** Whether parts that are hidden from assistive technology count as hidden. */
  readonly ariaHidden: boolean;
}

const pictureTags: ReadonlySet<string> = new Set([
  ...["img", "video", "canvas", "iframe", "object", "embed", "image", "use"],
]);
const shapeTags: ReadonlySet<string> = new Set(["rect", "circle", "ellipse", "path", "polygon", "polyline", "line"]);
/** Parts of a drawing that only others use. */
const unpaintedTags: ReadonlySet<string> = new Set([
  ...[
    "clippath",
    "defs",
    "filter",
    "lineargradient",
    "marker",
    "mask",
    "metadata",
    "pattern",
    "radialgradient",
    "symbol",
  ],
]);
const frameTags: ReadonlySet<string> = new Set(["iframe", "frame", "object", "embed"]);

/** Decides which nodes of a document a person can see: hidden text is a way to give instructions to agents. */
export class Visibility {
  readonly #nodes: DocumentNodes;
  readonly #surroundings: Surroundings[] = [];
  readonly #painted: Painted[] = [];
  readonly #anchors = new Map<number, Anchor>();
  readonly #painting: Painting;
  readonly #seen = new Map<number, boolean>();
  /** The part of the document that can be scrolled to. */
  readonly #page: Box;
  readonly #screen: Box;
  readonly #options: VisibilityOptions;
  #shapes: ReadonlyMap<string, DrawnShape> | undefined;
  /** The element whose ground is that of the canvas. */
  readonly #canvasOwner: number;

  constructor(nodes: DocumentNodes, options: VisibilityOptions = { ariaHidden: true }) {
    this.#nodes = nodes;
    this.#options = options;
    this.#page = reachablePart(nodes);
    const { x, y } = nodes.scroll;
    this.#screen = { ...(nodes.boxOf(0) ?? this.#page), x, y };
    this.#canvasOwner = rootsOf(nodes).find((root) => paints(nodes, root)) ?? -1;
    for (let node = 0; node < nodes.count; node++) this.#surroundings.push(this.#read(node));
    const owner = this.#canvasOwner < 0 ? undefined : this.#groundOf(this.#canvasOwner);
    const canvas = owner === null ? undefined : over(owner, canvasOf(nodes));
    const behindOf = (node: number): readonly number[] => this.#surroundings[node]?.behind ?? [];
    this.#painting = new Painting({ nodes, canvas, anchors: this.#anchors, behindOf }, this.#painted);
  }

  /** Whether assistive technology or the page hides an element with all its content. */
  isHidden(node: number): boolean {
    const around = this.#surroundings[node];
    return around === undefined || around.isCut || around.isAriaHidden;
  }

  /** Whether a person can see a text, picture or box, possibly after scrolling. */
  isVisible(node: number): boolean {
    return this.#surroundings[node]?.isAriaHidden === false && this.isDrawn(node);
  }

  /** The same, without regard to `aria-hidden`. */
  isDrawn(node: number): boolean {
    return (this.#surroundings[node]?.opacity ?? 0) >= leastOpacity && this.isLaidOpen(node);
  }

  /** Whether only its opacity may hide it. */
  isLaidOpen(node: number): boolean {
    let isSeen = this.#seen.get(node);
    if (isSeen === undefined) this.#seen.set(node, (isSeen = this.#isLaidOpen(node)));
    return isSeen;
  }

  #isLaidOpen(node: number): boolean {
    const nodes = this.#nodes;
    const around = this.#surroundings[node];
    const box = nodes.boxOf(node);
    if (around === undefined || box === undefined || around.isCut) return false;
    const shown = intersection(around.clip ?? this.#page, box);
    if (nodes.styleOf(node, "visibility") !== "visible" || isTooSmall(shown)) return false;
    const tag = nodes.tagOf(node);
    const isText = nodes.isText(node) || tag.startsWith("::");
    if (!isText && !frameTags.has(tag)) return true;
    if (isText && !isLarge(nodes, node, box)) return false;
    const { blendMode } = around;
    return (isText ? this.#textColoursOf(node, around) : [undefined]).some((colour) => {
      if (colour !== undefined && colour[3] < leastOpacity) return false;
      return this.#painting.isSeen({ node, box: shown, colour, blendMode, anchor: this.#anchorOf(node) });
    });
  }

  /** Of the letters, the lines around them, and their shadow. */
  #textColoursOf(node: number, around: Surroundings): readonly (Colour | undefined)[] {
    const style = this.#styleOf(node);
    const colours = [this.#textColourOf(node, around)];
    const [width = "", ...line] = style("-webkit-text-stroke").split(" ");
    if (Number.parseFloat(width) >= leastStrokePixels) colours.push(colourOf(line.join(" ")));
    return around.isDrawing ? colours : [...colours, ...shadowColours(style("text-shadow"))];
  }

  /** `undefined` for a text that is cut out of a picture, or has one as its colour. */
  #textColourOf(node: number, { isDrawing, textGround }: Surroundings): Colour | undefined {
    const style = this.#styleOf(node);
    if (isDrawing) {
      if (style("fill") === "none" || Number(style("fill-opacity") || 1) < leastOpacity) return [0, 0, 0, 0];
      return colourOf(style("fill"));
    }
    const fill = colourOf(style("-webkit-text-fill-color")) ?? colourOf(style("color"));
    return textGround === null && fill?.[3] !== 1 ? undefined : (over(fill, textGround ?? undefined) ?? fill);
  }

  #styleOf(node: number) {
    return (name: Parameters<DocumentNodes["styleOf"]>[1]): string => this.#nodes.styleOf(node, name);
  }

  /** What a node scrolls with. */
  #anchorOf(node: number): number {
    const nodes = this.#nodes;
    if (nodes.isElement(node) && /fixed|sticky/.test(nodes.styleOf(node, "position"))) return node;
    return this.#surroundings[nodes.parentOf(node)]?.anchor ?? -1;
  }

  #read(node: number): Surroundings {
    const nodes = this.#nodes;
    const around = this.#surroundings[nodes.parentOf(node)] ?? outermost;
    if (!around.isCut && isSkipped(nodes, node)) return { ...around, isCut: true };
    if (!nodes.isElement(node)) return around;
    const isAriaHidden = around.isAriaHidden || this.#isAriaHidden(node);
    if (around.isCut || !nodes.hasLayout(node))
      return isAriaHidden === around.isAriaHidden ? around : { ...around, isAriaHidden };
    const box = nodes.boxOf(node);
    const style = this.#styleOf(node);
    const own = Number(style("opacity") || 1);
    const filtered = filterOpacity(style("filter"));
    const opacity = around.opacity * (Number.isFinite(own) ? own : 1) * filtered;
    const isTextGround = style("-webkit-background-clip").includes("text");
    const turn = this.#turnOf(node, around);
    const blendMode = style("mix-blend-mode");
    const [clip, clipPath] = [style("clip"), style("clip-path")];
    const left = box && leftOf(box, { clip, clipPath, shapeOf: this.#shapeOf, isDrawing: around.isDrawing });
    const inside: Surroundings = {
      opacity,
      clip: this.#clip(node, { box, left }, around.clip),
      window:
        box !== undefined && isWindow(nodes, node) ? intersection(around.window ?? this.#page, box) : around.window,
      isAriaHidden,
      isCut:
        (left !== undefined && isTooSmall(left)) ||
        filtered < leastOpacity ||
        (around.isDrawing && unpaintedTags.has(nodes.tagOf(node)) && nodes.tagOf(nodes.parentOf(node)) !== "use") ||
        !leavesMost(style("mask"), box ?? this.#page, leastOpacity) ||
        (style("backface-visibility") === "hidden" && isTurnedAway(turn)),
      isDrawing: nodes.tagOf(node) !== "foreignobject" && (around.isDrawing || nodes.tagOf(node) === "svg"),
      anchor: this.#readAnchor(node, box),
      behind: this.#isBehind(node) ? [...around.behind, layerRootOf(nodes, node)] : around.behind,
      blendMode: blendMode === "" || blendMode === "normal" ? around.blendMode : blendMode,
      isSlanted: around.isSlanted || isSlanted(turn),
      turn,
      textGround: isTextGround ? this.#groundOf(node) : around.textGround,
    };
    if (!inside.isCut && !isTextGround && node !== this.#canvasOwner) this.#paint(node, box, inside);
    return inside;
  }

  #paint(node: number, box: Box | undefined, { blendMode, isSlanted: slanted, opacity }: Surroundings): void {
    const nodes = this.#nodes;
    if (box === undefined || opacity < leastOpacity || !paints(nodes, node)) return;
    if (nodes.styleOf(node, "visibility") !== "visible") return;
    const around = this.#surroundings[nodes.parentOf(node)] ?? outermost;
    const tag = nodes.tagOf(node);
    const ground = this.#groundOf(node);
    const fontPixels = Number.parseFloat(nodes.styleOf(node, "font-size"));
    const isLine = nodes.styleOf(node, "display") === "inline" && !shapeTags.has(tag) && !pictureTags.has(tag);
    const isCut =
      !["", "none"].includes(nodes.styleOf(node, "clip-path")) || nodes.styleOf(node, "clip").startsWith("rect");
    const seen = intersection(around.clip ?? this.#page, box);
    this.#painted.push({
      node,
      box: seen,
      shown: intersection(around.window ?? this.#page, seen),
      colour: ground === null ? undefined : ground && [ground[0], ground[1], ground[2], ground[3] * opacity],
      blendMode,
      anchor: this.#anchorOf(node),
      isLoose:
        slanted ||
        isCut ||
        (shapeTags.has(tag) && tag !== "rect") ||
        (isLine && box.height > mostLineHeights * fontPixels) ||
        !["", "none"].includes(nodes.styleOf(node, "filter")) ||
        !["", "none"].includes(nodes.styleOf(node, "mask")),
    });
  }

  /** `null` for pictures. */
  #groundOf(node: number): Colour | null | undefined {
    const style = this.#styleOf(node);
    const tag = this.#nodes.tagOf(node);
    if (pictureTags.has(tag)) return null;
    if (shapeTags.has(tag)) return colourOf(style("fill")) ?? null;
    const image = style("background-image");
    const colour = colourOf(style("background-color"));
    if (image === "" || image === "none") return colour;
    const gradient = plainGradient(image);
    return gradient === undefined ? null : over(gradient, colour);
  }

  #readAnchor(node: number, box: Box | undefined): number {
    const anchor = this.#anchorOf(node);
    const scrolls = scrollsContent(this.#nodes, node, box);
    if (!scrolls && anchor !== node) return anchor;
    // An element may both stay in its place and scroll its content.
    const outer = anchor === node ? (this.#surroundings[this.#nodes.parentOf(node)]?.anchor ?? -1) : anchor;
    this.#anchors.set(node, { outer, window: scrolls ? box : undefined });
    return node;
  }

  /** Whether it is painted behind the content around it. */
  #isBehind(node: number): boolean {
    const nodes = this.#nodes;
    if (!nodes.styleOf(node, "z-index").startsWith("-")) return false;
    return nodes.paintOrderOf(node) !== nodes.paintOrderOf(nodes.parentOf(node));
  }

  #turnOf(node: number, { turn }: Surroundings): Turn {
    const nodes = this.#nodes;
    const parent = nodes.parentOf(node);
    const own = turnOf(nodes.styleOf(node, "transform"), nodes.styleOf(node, "rotate"));
    const keepsDepth =
      nodes.styleOf(parent, "transform-style") === "preserve-3d" &&
      !isClipping(nodes.styleOf(parent, "overflow-x")) &&
      Number(nodes.styleOf(parent, "opacity") || 1) === 1;
    if (!keepsDepth) return own ?? unturned;
    return own === undefined ? turn : multiplied(turn, own);
  }

  #isAriaHidden(node: number): boolean {
    const nodes = this.#nodes;
    if (!this.#options.ariaHidden || nodes.attributeOf(node, "aria-hidden") !== "true") return false;
    return !isHiddenByMistake(nodes, node);
  }

  /** The shapes of drawings that cut elements, by their ids. */
  readonly #shapeOf = (id: string): DrawnShape | undefined => (this.#shapes ??= drawnShapes(this.#nodes)).get(id);

  #clip(
    node: number,
    { box, left }: { readonly box: Box | undefined; readonly left: Box | undefined },
    around: Box | undefined,
  ): Box | undefined {
    const nodes = this.#nodes;
    const tag = nodes.tagOf(node);
    if (box === undefined || tag === "html" || tag === "body") return around;
    // Scrolling does not move these elements into view. Their clipping ancestors do not apply either.
    const free = nodes.styleOf(node, "position") === "fixed" ? this.#screen : around;
    const outer = left === undefined ? free : intersection(free ?? this.#page, left);
    const isContained = isPaintContained(nodes, node);
    const clipsX = isContained || isClipping(nodes.styleOf(node, "overflow-x"));
    const clipsY = isContained || isClipping(nodes.styleOf(node, "overflow-y"));
    const shown = intersection(outer ?? this.#page, box);
    if (!clipsX && !clipsY) {
      const content = nodes.scrolledContentOf(node);
      if (content === undefined) return outer;
      // Content of a scrolled element can be brought into view, if a part of the element is visible.
      return isTooSmall(shown) ? nothing : content;
    }
    const own = {
      x: clipsX ? box.x : -farPixels,
      y: clipsY ? box.y : -farPixels,
      width: clipsX ? box.width : 2 * farPixels,
      height: clipsY ? box.height : 2 * farPixels,
    };
    return intersection(outer ?? this.#page, own);
  }
}

const nothing: Box = { x: 0, y: 0, width: 0, height: 0 };
const farPixels = 1e9;

/** The elements `html` and `body`. */
function rootsOf(nodes: DocumentNodes): readonly number[] {
  // The type of the document has the same name.
  const html = [...nodes.childrenOf(0)].find((node) => nodes.isElement(node) && nodes.tagOf(node) === "html") ?? -1;
  return [html, [...nodes.childrenOf(html)].find((node) => nodes.tagOf(node) === "body") ?? -1];
}

/** A document scrolls in the direction of its text only. */
function reachablePart(nodes: DocumentNodes): Box {
  const [html = -1, body = -1] = rootsOf(nodes);
  const width = nodes.boxOf(html)?.width ?? farPixels;
  const isFixed = [html, body].some((node) => isClipping(nodes.styleOf(node, "overflow-x")));
  const isRightToLeft = nodes.styleOf(html, "direction") === "rtl";
  const left = isRightToLeft && !isFixed ? -farPixels : 0;
  const right = isRightToLeft || isFixed ? width : farPixels;
  return { x: left, y: 0, width: right - left, height: farPixels };
}

function isClipping(overflow: string): boolean {
  return overflow === "hidden" || overflow === "clip";
}

function isPaintContained(nodes: DocumentNodes, node: number): boolean {
  return /paint|strict|content/.test(nodes.styleOf(node, "contain")) && nodes.styleOf(node, "display") !== "inline";
}

function isWindow(nodes: DocumentNodes, node: number): boolean {
  const overflow = nodes.styleOf(node, "overflow-y");
  return (overflow !== "" && overflow !== "visible") || isPaintContained(nodes, node);
}

function scrollsContent(nodes: DocumentNodes, node: number, box: Box | undefined): boolean {
  const content = nodes.scrolledContentOf(node);
  return content !== undefined && box !== undefined && (content.width > box.width || content.height > box.height);
}

function paints(nodes: DocumentNodes, node: number): boolean {
  const tag = nodes.tagOf(node);
  if (pictureTags.has(tag) || shapeTags.has(tag)) return true;
  const image = nodes.styleOf(node, "background-image");
  return (image !== "" && image !== "none") || (colourOf(nodes.styleOf(node, "background-color"))?.[3] ?? 0) > 0;
}

/** The outermost element of the layer behind whose content an element is painted. */
function layerRootOf(nodes: DocumentNodes, node: number): number {
  const own = nodes.paintOrderOf(node);
  let order = -1;
  let root = 0;
  for (let at = nodes.parentOf(node); at >= 0; at = nodes.parentOf(at)) {
    if (order === -1 && nodes.paintOrderOf(at) < own) order = nodes.paintOrderOf(at);
    if (order !== -1 && nodes.paintOrderOf(at) === order) root = at;
  }
  return root;
}

function isLarge(nodes: DocumentNodes, node: number, box: Box): boolean {
  const fontPixels = Number.parseFloat(nodes.styleOf(node, "font-size"));
  return !(fontPixels < leastFontPixels) && Math.max(box.width, box.height) >= leastFontPixels;
}
