import type { DomNode } from "../capture/dom-snapshot.ts";
import { clean, nameOf, textBelow } from "./names.ts";
import { isField, roleOf } from "./roles.ts";

/** Whether its text is in the name of a field, group or table. */
export function isNameOfAnother(node: DomNode): boolean {
  if (node.tag === "legend") return node.parent?.tag === "fieldset";
  if (node.tag === "caption") return node.parent?.tag === "table";
  if (node.tag !== "label") return false;
  const target = labelTarget(node);
  if (!target?.isLaidOut) return false;
  const name = nameOf(target, roleOf(target) ?? "");
  const text = clean(textBelow(node, { except: (at) => at === target || at.tag.startsWith("::") }));
  return target.accessible === undefined || text.split(" ").every((word) => name.includes(word));
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
