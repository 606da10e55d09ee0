import type { Colour } from "./colours.ts";
import type { DocumentNodes } from "./document-nodes.ts";

const white: Colour = [255, 255, 255, 1];
const darkCanvas: Colour = [18, 18, 18, 1];
const maxHeadNodes = 1_000;

/** The colour behind a page that paints none; `undefined` where the reader's preference decides. */
export function canvasOf(nodes: DocumentNodes): Colour | undefined {
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
  return white;
}
