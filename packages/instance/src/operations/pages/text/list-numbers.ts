import type { DocumentNodes } from "../sight/document-nodes.ts";

const maxBeforeMarker = 5;

/** The number before an item, such as `3.` or `b.`, as it is shown. */
export function numberOf(nodes: DocumentNodes, item: number): string {
  const marker = nodes.firstChildrenOf(item, maxBeforeMarker).find((child) => nodes.tagOf(child) === "::marker");
  const text = marker === undefined ? "" : nodes.renderedTextOf(marker).trim();
  return /^[\p{L}\p{N}]{1,6}[.)、]$/u.test(text) ? text : "";
}

/** Of a list whose items count from there. */
export function firstNumberOf(nodes: DocumentNodes, list: number): number | undefined {
  const items = [...nodes.childrenOf(list)].filter((child) => nodes.tagOf(child) === "li");
  const numbers = items.map((item) => numberOf(nodes, item));
  const first = Number.parseInt(numbers[0] ?? "", 10);
  return first >= 0 && numbers.every((number, place) => number === `${String(first + place)}.`) ? first : undefined;
}
