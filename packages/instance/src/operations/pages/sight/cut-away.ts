import { leastSide } from "./boxes.ts";

/** `clip` and `clip-path` as pages use them to hide text. */
export function isCutAway(clip: string, path: string): boolean {
  if ((clip === "auto" || clip === "") && (path === "none" || path === "")) return false;
  const [top = 0, right = 1e9, bottom = 1e9, left = 0] = (/^rect\(([^)]*)\)$/.exec(clip)?.[1] ?? "")
    .split(/[\s,]+/)
    .map((side) => Number.parseFloat(side))
    .map((side) => (Number.isNaN(side) ? undefined : side));
  if (clip.startsWith("rect(") && (right - left < leastSide || bottom - top < leastSide)) return true;
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
    return Math.max(...places) - Math.min(...places) < leastSide;
  });
}

export function isFilteredAway(filter: string, least: number): boolean {
  const opacity = /opacity\(([\d.]+)\)/.exec(filter)?.[1];
  return opacity !== undefined && Number(opacity) < least;
}

function percent(length: string): number {
  return length.endsWith("%") ? Number.parseFloat(length) || 0 : 0;
}
