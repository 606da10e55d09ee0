import { union } from "./boxes.ts";
import type { DrawnShape } from "./cut-away.ts";
import type { Box, DocumentNodes } from "./document-nodes.ts";

const maxShapes = 1_000;
const maxParts = 1_000;

/** The shapes that elements are cut with, by their ids: the boxes of `clipPath` elements. */
export function drawnShapes(nodes: DocumentNodes): ReadonlyMap<string, DrawnShape> {
  const shapes = new Map<string, DrawnShape>();
  for (let node = 0; node < nodes.count && shapes.size < maxShapes; node++) {
    if (!nodes.isElement(node) || nodes.tagOf(node) !== "clippath" || !nodes.hasLayout(node)) continue;
    const id = nodes.attributeOf(node, "id");
    if (id !== undefined && !shapes.has(id)) shapes.set(id, shapeOf(nodes, node));
  }
  return shapes;
}

function shapeOf(nodes: DocumentNodes, clipPath: number): DrawnShape {
  let drawing = nodes.parentOf(clipPath);
  while (drawing >= 0 && nodes.tagOf(drawing) !== "svg") drawing = nodes.parentOf(drawing);
  const corner = nodes.boxOf(drawing) ?? { x: 0, y: 0 };
  const isScaled = nodes.attributesOf(drawing).has("viewbox");
  const isShare = nodes.attributesOf(clipPath).get("clippathunits")?.toLowerCase() === "objectboundingbox";
  const { height, width, x, y } = union(partsOf(nodes, clipPath)) ?? { ...corner, width: 0, height: 0 };
  return { x: x - corner.x, y: y - corner.y, width, height, isShare, isScaled };
}

function partsOf(nodes: DocumentNodes, around: number): readonly Box[] {
  const boxes: Box[] = [];
  const waiting = [...nodes.childrenOf(around)];
  for (let at = waiting.pop(); at !== undefined && boxes.length < maxParts; at = waiting.pop()) {
    const box = nodes.isElement(at) ? nodes.boxOf(at) : undefined;
    if (box !== undefined) boxes.push(box);
    waiting.push(...nodes.childrenOf(at));
  }
  return boxes;
}
