import type { DocumentNodes } from "./document-nodes.ts";

/** Whether Chromium neither lays out nor paints an element. The snapshot has its box of an earlier time. */
export function isSkipped(nodes: DocumentNodes, node: number): boolean {
  const parent = nodes.parentOf(node);
  if (nodes.styleOf(parent, "content-visibility") === "hidden") return true;
  if (nodes.tagOf(parent) !== "details" || nodes.attributeOf(parent, "open") !== undefined) return false;
  return [...nodes.childrenOf(parent)].find((child) => nodes.tagOf(child) === "summary") !== node;
}
