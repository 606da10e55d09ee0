import { type DomNode, targetsOf } from "../capture/dom-snapshot.ts";
import { clean, labelOf, nameOf, textBelow } from "./names.ts";
import { isField, isFocusable, isUsable, roleOf } from "./roles.ts";

const toggleRoles: ReadonlySet<string> = new Set(["checkbox", "radio", "switch"]);
/** Sides in pixels of the part that a page draws for a slider or a switch. */
const leastHandle = 6;
const mostHandle = 64;
const maxHandleLevels = 3;

/** Whether its text is in the name of a field, group or table. */
export function isNameOfAnother(node: DomNode): boolean {
  if (node.tag === "legend") return node.parent?.tag === "fieldset";
  if (node.tag === "caption") return node.parent?.tag === "table";
  if (node.tag !== "label") return false;
  const target = labelTarget(node);
  if (!target?.isLaidOut || !isUsedBy(target, node)) return false;
  const name = nameOf(target, roleOf(target) ?? "");
  const text = clean(textBelow(node, { except: (at) => at === target || at.tag.startsWith("::") }));
  return target.accessible === undefined || text.split(" ").every((word) => name.includes(word));
}

/** Whether an outline lists the target of a visible label. */
function isUsedBy(target: DomNode, label: DomNode): boolean {
  if (target.isLaidOpen || isToggle(target) || !isVisibleLabel(label)) return true;
  return isDrawnElsewhere(target, roleOf(target) ?? "");
}

/**
 * Whether a control that cannot be seen is used through another part of the page: its label, or the part that the
 * page draws around a slider or a switch. A hidden field without one is a trap for robots.
 */
export function isDrawnElsewhere(node: DomNode, role: string): boolean {
  if (!isUsable(role) || node.accessible === undefined || !isFocusable(node)) return false;
  if ([labelOf(node), ...targetsOf(node, "aria-labelledby")].some(isVisibleLabel)) return true;
  // The page draws a box for each of its characters.
  if (node.attribute("autocomplete")?.includes("one-time-code") === true) return node.parent?.isVisible === true;
  return (role === "slider" || toggleRoles.has(role)) && hasHandle(node);
}

function hasHandle(node: DomNode): boolean {
  let at = node.parent;
  for (let level = 0; at !== undefined && level < maxHandleLevels; level++, at = at.parent) {
    const { height = 0, width = 0 } = at.box ?? {};
    if (at.isVisible && Math.min(height, width) >= leastHandle && Math.max(height, width) <= mostHandle) return true;
  }
  return false;
}

export function isLabelOfHidden(label: DomNode): boolean {
  const target = labelTarget(label);
  return target !== undefined && isToggle(target) && !target.isLaidOut;
}

function labelTarget(label: DomNode): DomNode | undefined {
  const id = label.attribute("for");
  return id === undefined ? fieldBelow(label) : label.document.byId(id, label);
}

function fieldBelow(node: DomNode, depth = 0): DomNode | undefined {
  for (const child of node.children) {
    if (isField(child) || child.tag === "button") return child;
    const found = depth < 10 ? fieldBelow(child, depth + 1) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

export function isVisibleLabel(label: DomNode | undefined): boolean {
  return label !== undefined && (label.isVisible || label.children.some((child) => child.isVisible));
}

/** Often hidden by the page's style, and used through its label. */
export function isToggle(node: DomNode): boolean {
  const type = node.attribute("type");
  return node.tag === "input" && (type === "checkbox" || type === "radio" || type === "file");
}
