import { intersection, isTooSmall, leastSide } from "./boxes.ts";
import type { Box } from "./document-nodes.ts";
import { splitOutside } from "./masks.ts";

/** A shape of a drawing. Its sides are shares of the element that it cuts, or pixels from the corner of the drawing. */
export interface DrawnShape extends Box {
  readonly isShare: boolean;
  /** Whether the drawing has another scale than the page. */
  readonly isScaled: boolean;
}

interface CutStyles {
  readonly clip: string;
  readonly clipPath: string;
  /** The shape with an id; `undefined` for an unknown id, which cuts nothing. */
  readonly shapeOf: (id: string) => DrawnShape | undefined;
  /** Whether the element is a part of a drawing, with the drawing's coordinates. */
  readonly isDrawing: boolean;
}

type Point = readonly [x: number, y: number];
type Size = Pick<Box, "height" | "width">;

const nothing: Box = { x: 0, y: 0, width: 0, height: 0 };
const maxCharacters = 200_000;

/**
 * The part of an element that `clip` and `clip-path` leave: pages hide text with them. `undefined` without them; a box
 * of no size for nothing, and for lengths that are not known here. Of a shape, it is the box around it.
 */
export function leftOf(box: Box, styles: CutStyles): Box | undefined {
  const { clip, clipPath } = styles;
  const byClip = clip.startsWith("rect(") ? leftByClip(clip, box) : undefined;
  const area = clipPath === "none" || clipPath === "" ? undefined : areaOf(clipPath, box, styles);
  if (byClip === undefined && area === undefined) return undefined;
  const left = intersection(
    byClip ?? box,
    area === undefined ? box : { ...area, x: box.x + area.x, y: box.y + area.y },
  );
  return isTooSmall(left) || Number.isNaN(left.width + left.height) ? nothing : left;
}

function leftByClip(clip: string, box: Box): Box {
  const sides = clip.slice("rect(".length, -1).split(/[\s,]+/);
  const [top = 0, right = box.width, bottom = box.height, left = 0] = sides
    .map((side) => Number.parseFloat(side))
    .map((side) => (Number.isNaN(side) ? undefined : side));
  return { x: box.x + left, y: box.y + top, width: Math.max(0, right - left), height: Math.max(0, bottom - top) };
}

/** Relative to the corner of the box. `undefined` for a shape that cuts nothing, such as `margin-box`. */
function areaOf(path: string, size: Size, { isDrawing, shapeOf }: CutStyles): Box | undefined {
  if (path.length > maxCharacters) return nothing;
  const [, kind, content = ""] = /^([a-z]+)\((.*)\)(?:\s[a-z-]+)?$/s.exec(path) ?? [];
  switch (kind) {
    case undefined:
      return undefined;
    case "url":
      return drawnArea(shapeOf(content.replace(/^["']?[^#]*#|["']$/g, "")), { ...size, isDrawing });
    case "inset":
      return insetArea(content, size);
    case "circle":
    case "ellipse":
      return roundArea(content, size);
    case "polygon":
      return around(polygonPoints(content, size));
    case "path":
      return around(pathPoints(content));
    case "shape":
      return around(shapePoints(content, size));
    default:
      return nothing;
  }
}

function drawnArea(
  shape: DrawnShape | undefined,
  { height, isDrawing, width }: Size & { readonly isDrawing: boolean },
): Box | undefined {
  if (shape === undefined) return undefined;
  const isEmpty = shape.width === 0 || shape.height === 0;
  if (isDrawing && (!shape.isShare || shape.isScaled)) return isEmpty ? nothing : undefined;
  if (shape.isScaled) return nothing;
  if (!shape.isShare) return shape;
  return { x: shape.x * width, y: shape.y * height, width: shape.width * width, height: shape.height * height };
}

function insetArea(content: string, { height, width }: Size): Box {
  const sides = splitOutside(content.split(" round ", 1)[0] ?? "", " ");
  const [top = "0", right = top, bottom = top, left = right] = sides;
  const [above, below] = [lengthOf(top, height), lengthOf(bottom, height)];
  const [before, after] = [lengthOf(left, width), lengthOf(right, width)];
  return { x: before, y: above, width: width - before - after, height: height - above - below };
}

function roundArea(content: string, { height, width }: Size): Box {
  const [sizes = "", place = "50% 50%"] = content.split(/(?:^| )at /, 2);
  const [across = "50%", down = "50%"] = splitOutside(place, " ");
  const x = lengthOf(across, width);
  const y = lengthOf(down, height);
  const [first = "closest-side", second] = splitOutside(sizes, " ");
  const radius = (text: string, whole: number, sides: readonly number[]): number =>
    text === "closest-side"
      ? Math.min(...sides)
      : text === "farthest-side"
        ? Math.max(...sides)
        : lengthOf(text, whole);
  const [toLeft, toTop] = [Math.abs(x), Math.abs(y)];
  const [toRight, toBottom] = [Math.abs(width - x), Math.abs(height - y)];
  const all = [toLeft, toRight, toTop, toBottom];
  const isCircle = second === undefined;
  const horizontal = isCircle
    ? radius(first, Math.hypot(width, height) / Math.SQRT2, all)
    : radius(first, width, [toLeft, toRight]);
  const vertical = isCircle ? horizontal : radius(second, height, [toTop, toBottom]);
  return { x: x - horizontal, y: y - vertical, width: 2 * horizontal, height: 2 * vertical };
}

function polygonPoints(content: string, { height, width }: Size): Point[] {
  return content
    .replace(/^(?:nonzero|evenodd),\s*/, "")
    .split(",")
    .map((corner): Point => {
      const [x = "", y = ""] = splitOutside(corner, " ");
      return [lengthOf(x, width), lengthOf(y, height)];
    });
}

/** Of a computed path, whose commands count from the corner. Curves end at their points. */
function pathPoints(content: string): Point[] {
  const points: Point[] = [];
  for (const [, command = "", text = ""] of content.matchAll(/([A-Z])([^A-Z]*)/g)) {
    const numbers = [...text.matchAll(/-?[\d.]+(?:e[-+]?\d+)?/g)].map(([number]) => Number(number));
    const [lastX, lastY] = points.at(-1) ?? [0, 0];
    if (command === "H") points.push(...numbers.map((x): Point => [x, lastY]));
    else if (command === "V") points.push(...numbers.map((y): Point => [lastX, y]));
    else {
      const step = command === "A" ? 7 : 2;
      for (let at = step; at <= numbers.length; at += step) points.push([numbers[at - 2] ?? 0, numbers[at - 1] ?? 0]);
    }
  }
  return points;
}

/** `from 0px 0px, hline to 100%, line by 0px 50%, close` */
function shapePoints(content: string, { height, width }: Size): Point[] {
  const points: Point[] = [];
  for (const command of splitOutside(content, ",")) {
    const words = splitOutside(command, " ").filter((word) => word !== "nonzero" && word !== "evenodd");
    const [name = "", mode = ""] = words;
    if (name === "close") continue;
    const [first = "", second = ""] = words.slice(name === "from" ? 1 : 2);
    const [lastX, lastY] = points.at(-1) ?? [0, 0];
    const [fromX, fromY] = mode === "by" ? [lastX, lastY] : [0, 0];
    if (name === "hline") points.push([fromX + lengthOf(first, width), lastY]);
    else if (name === "vline") points.push([lastX, fromY + lengthOf(first, height)]);
    else points.push([fromX + lengthOf(first, width), fromY + lengthOf(second, height)]);
  }
  return points;
}

/** The box around points; `nothing` if they enclose no area. */
function around(points: readonly Point[]): Box {
  const [first = [0, 0]] = points;
  let [left, top] = first;
  let [right, bottom] = first;
  let area = 0;
  let last = first;
  for (const point of points) {
    const [x, y] = point;
    area += Math.abs((last[0] - first[0]) * (y - first[1]) - (x - first[0]) * (last[1] - first[1])) / 2;
    last = point;
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  return area >= leastSide ** 2 ? { x: left, y: top, width: right - left, height: bottom - top } : nothing;
}

/** In pixels; not a number for lengths that only the browser can compute. */
function lengthOf(text: string, whole: number): number {
  const sum = text.replace(/^calc\((.*)\)$/, "$1");
  const terms = [...sum.slice(0, 200).matchAll(/([+-])?\s*([\d.]+(?:e[+-]?\d+)?)(px|%)?\s*/gy)];
  const isWhole = terms.reduce((length, [term]) => length + term.length, 0) === sum.length && terms.length > 0;
  if (!isWhole) return Number.NaN;
  return terms.reduce((length, [, sign, number, unit]) => {
    const pixels = unit === "%" ? (Number(number) * whole) / 100 : Number(number);
    return sign === "-" ? length - pixels : length + pixels;
  }, 0);
}

/** The opacity that the filters of an element leave it. */
export function filterOpacity(filter: string): number {
  if (!filter.includes("opacity(")) return 1;
  return [...filter.matchAll(/opacity\(([\d.]+)\)/g)].reduce((whole, [, one]) => whole * Number(one), 1);
}
