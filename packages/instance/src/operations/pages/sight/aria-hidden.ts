import type { DocumentNodes } from "./document-nodes.ts";

const controlTags: ReadonlySet<string> = new Set(["button", "input", "select", "summary", "textarea"]);
const itemRoles: ReadonlySet<string> = new Set([
  ...["gridcell", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "tab", "treeitem"],
]);
const maxExamined = 5_000;

/**
 * Whether a part that is hidden from assistive technology has a control that takes the focus, or an item of a list. A
 * page hides decoration in this way on purpose; it forgets the attribute on parts that people use.
 */
export function isHiddenByMistake(nodes: DocumentNodes, part: number): boolean {
  let examined = 0;
  const waiting = [...nodes.childrenOf(part)];
  for (let node = waiting.pop(); node !== undefined && ++examined < maxExamined; node = waiting.pop()) {
    if (nodes.isElement(node) && nodes.hasLayout(node) && isInUse(nodes, node)) return true;
    for (const child of nodes.childrenOf(node)) waiting.push(child);
  }
  return false;
}

function isInUse(nodes: DocumentNodes, node: number): boolean {
  if (nodes.attributeOf(node, "aria-hidden") === "true") return false;
  const role = nodes.attributeOf(node, "role")?.trim().toLowerCase() ?? "";
  if (itemRoles.has(role)) return true;
  const tabIndex = Number.parseInt(nodes.attributeOf(node, "tabindex") ?? "", 10);
  if (!Number.isNaN(tabIndex)) return tabIndex >= 0;
  const tag = nodes.tagOf(node);
  return tag === "a" ? nodes.attributeOf(node, "href") !== undefined : controlTags.has(tag);
}
