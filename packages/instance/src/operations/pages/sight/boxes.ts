import type { Box } from "./document-nodes.ts";

/** Smaller sides in pixels cannot be seen. */
export const leastSide = 2;

export function isTooSmall({ height, width }: Box): boolean {
  return width < leastSide || height < leastSide;
}

export function isSeen(box: Box, clip: Box): boolean {
  const { height, width } = intersection(box, clip);
  return width > 0 && height > 0;
}

export function intersection(first: Box, second: Box): Box {
  const x = Math.max(first.x, second.x);
  const y = Math.max(first.y, second.y);
  return {
    x,
    y,
    width: Math.max(0, Math.min(first.x + first.width, second.x + second.width) - x),
    height: Math.max(0, Math.min(first.y + first.height, second.y + second.height) - y),
  };
}

/** The smallest box around boxes. */
export function union(boxes: readonly Box[]): Box | undefined {
  const [first, ...others] = boxes;
  if (first === undefined) return undefined;
  let { x, y } = first;
  let right = x + first.width;
  let bottom = y + first.height;
  for (const box of others) {
    x = Math.min(x, box.x);
    y = Math.min(y, box.y);
    right = Math.max(right, box.x + box.width);
    bottom = Math.max(bottom, box.y + box.height);
  }
  return { x, y, width: right - x, height: bottom - y };
}

export function contains({ height, width, x, y }: Box, atX: number, atY: number): boolean {
  return atX >= x && atY >= y && atX <= x + width && atY <= y + height;
}
