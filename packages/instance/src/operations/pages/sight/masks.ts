import { gradientStops, type GradientStop } from "./colours.ts";
import type { Box } from "./document-nodes.ts";

/** A mask that leaves less of an element hides it. */
const leastShare = 0.4;
const maxCharacters = 2_000;

/** Whether a mask leaves a large part of an element: not a faded edge, but its text. Pictures count as empty. */
export function leavesMost(mask: string, { height, width }: Box, leastOpacity: number): boolean {
  if (mask === "" || mask === "none") return true;
  if (mask.length > maxCharacters) return false;
  const shares = splitOutside(mask, ",").map((layer) => {
    const [image = "", ...words] = splitOutside(layer, " ");
    const stops = gradientStops(image);
    if (stops === undefined) return 0;
    const [position = "", size = "auto"] = words.join(" ").split(" / ");
    const [across = "0%", down = "50%"] = position.split(" ").filter(isLength);
    const [wide = "auto", high = "auto"] = size.split(" ").filter(isLength);
    const isOnce = [/\bno-repeat\b|\brepeat-y\b/, /\bno-repeat\b|\brepeat-x\b/].map((words) => words.test(layer));
    return (
      opaqueShare(stops, leastOpacity) *
      shareAlong(width, { at: across, size: wide, isOnce: isOnce[0] === true }) *
      shareAlong(height, { at: down, size: high, isOnce: isOnce[1] === true })
    );
  });
  return (/\bintersect\b/.test(mask) ? Math.min(...shares) : Math.max(...shares)) >= leastShare;
}

/** How much of a length the tiles of a mask fill. */
function shareAlong(
  length: number,
  { at, isOnce, size }: { readonly at: string; readonly size: string; readonly isOnce: boolean },
): number {
  const tile = size === "auto" ? length : pixels(size, length);
  if (!(tile > 0)) return 0;
  if (!isOnce || length <= 0) return 1;
  const start = pixels(at, length - tile);
  return Math.max(0, Math.min(length, start + tile) - Math.max(0, start)) / length;
}

/** Not a number for lengths that only the browser can compute. */
function pixels(length: string, whole: number): number {
  const number = Number.parseFloat(length);
  return length.endsWith("%") ? (number * whole) / 100 : number;
}

function isLength(word: string): boolean {
  return word === "auto" || /^(?:-?[\d.]|calc)/.test(word);
}

function opaqueShare(stops: readonly GradientStop[], leastOpacity: number): number {
  let opaque = 0;
  let last = { at: 0, isOpaque: false };
  for (const [index, { at, colour }] of stops.entries()) {
    const isOpaque = (colour?.[3] ?? 0) >= leastOpacity;
    const place = Math.min(1, Math.max(0, at));
    if (index === 0 ? isOpaque : isOpaque || last.isOpaque)
      opaque += (place - last.at) * (index > 0 && isOpaque !== last.isOpaque ? 0.5 : 1);
    last = { at: place, isOpaque };
  }
  return last.isOpaque ? opaque + 1 - last.at : opaque;
}

/** Splits at a character outside of parentheses. */
export function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let place = 0; place <= text.length; place++) {
    const character = place < text.length ? text[place] : separator;
    if (character === "(") depth++;
    if (character === ")") depth--;
    if (character !== separator || depth > 0) continue;
    parts.push(text.slice(start, place).trim());
    start = place + 1;
  }
  return parts.filter((part) => part !== "");
}
