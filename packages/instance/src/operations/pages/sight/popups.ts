import { intersection } from "./boxes.ts";
import type { DocumentNodes } from "./document-nodes.ts";

const popupRoles = /^(?:dialog|alertdialog|menu|menubar|listbox|tooltip|tree|grid|alert|status)$/;
const controlTags: ReadonlySet<string> = new Set(["button", "input", "select", "textarea"]);
const pictureTags: ReadonlySet<string> = new Set(["img", "svg", "video", "canvas", "iframe"]);
const maxNodes = 2_000;
const mostBeside = 0.02;

/**
 * Whether an element over a text is a part that a person closes, such as a dialog, a menu or a tooltip, or only a cover.
 */
export function canBeClosed(nodes: DocumentNodes, node: number, text: number): boolean {
  let outermost = -1;
  let isNamed = false;
  let at = node;
  for (; at >= 0 && !nodes.isAround(at, text); at = nodes.parentOf(at)) {
    const position = nodes.styleOf(at, "position");
    const isOnTop = nodes.styleOf(at, "overlay") === "auto" || nodes.tagOf(at) === "dialog";
    if (isOnTop) return true;
    if (position === "absolute" || position === "fixed") outermost = at;
    if (!isPopup(nodes, at)) continue;
    isNamed = true;
    outermost = at;
  }
  if (outermost < 0) return false;
  const content = contentBelow(nodes, outermost);
  // A part that takes the whole place of another one is not a popup, unless a button may close it.
  return content !== "nothing" && (isNamed || content === "control" || !isFilledBy(nodes, at, node));
}

function isPopup(nodes: DocumentNodes, node: number): boolean {
  const role = nodes.attributeOf(node, "role");
  const isStated = nodes.attributeOf(node, "aria-modal") === "true" || nodes.attributeOf(node, "popover") !== undefined;
  return isStated || (role !== undefined && popupRoles.test(role));
}

function isFilledBy(nodes: DocumentNodes, node: number, other: number): boolean {
  const whole = nodes.boxOf(node);
  const box = nodes.boxOf(other);
  if (whole === undefined || box === undefined) return false;
  const { height, width } = intersection(whole, box);
  return width * height >= whole.width * whole.height * (1 - mostBeside);
}

function contentBelow(nodes: DocumentNodes, node: number): "nothing" | "text" | "control" {
  const waiting = [node];
  let found: "nothing" | "text" = "nothing";
  let visited = 0;
  for (let at = waiting.pop(); at !== undefined && ++visited < maxNodes; at = waiting.pop()) {
    if (!nodes.isText(at)) {
      const tag = nodes.tagOf(at);
      if (controlTags.has(tag) || nodes.attributeOf(at, "role") === "button") return "control";
      if (pictureTags.has(tag)) found = "text";
      for (const child of nodes.childrenOf(at)) waiting.push(child);
    } else if (nodes.hasLayout(at) && nodes.textOf(at).trim() !== "") found = "text";
  }
  return found;
}
