import type { DomNode } from "../capture/dom-snapshot.ts";
import { type ClickSurroundings, isWhole } from "./click-targets.ts";
import type { PageItem } from "./page-items.ts";
import { isUsable } from "./roles.ts";

/** Its content, and whether a person can use a part of it. */
interface Contents {
  readonly children: readonly PageItem[];
  readonly hasUsable: boolean;
}

/** Whether an element that reacts to clicks only groups others: its listener serves its content. */
export function isContainer(node: DomNode, around: ClickSurroundings, { children, hasUsable }: Contents): boolean {
  if (hasUsable) {
    const inner = leavesOf(children);
    const isOnlyControls = inner.every(
      (item) => item.kind === "text" || (isUsable(item.role) && item.role !== "clickable"),
    );
    return !(isWhole(node, around) && isOnlyControls && inner.some(({ kind }) => kind === "text"));
  }
  return children.length > 1 && children.some(({ kind }) => kind !== "element") && !hasHandOf(node);
}

export function leavesOf(items: readonly PageItem[]) {
  return items.flatMap((item) => (item.kind === "line" ? item.parts : [item]));
}

/** Chromium calls some parts of a page a group only because they take the focus, and those of drawings always. */
export function isPlainPart(node: DomNode, role: string): boolean {
  const { accessible, tag } = node;
  if (tag === "canvas") return accessible?.role === "Canvas";
  if (role !== "group" || node.attribute("role") === "group") return false;
  return tag === "g" || (accessible?.name === "" && (tag === "div" || tag === "span"));
}

/** Whether it takes the focus or can be dragged, also with controls inside. */
export function isOwnTarget(node: DomNode): boolean {
  return node.attribute("draggable") === "true" || node.attribute("tabindex") !== undefined;
}

function hasHandOf(node: DomNode): boolean {
  return node.style("cursor") === "pointer" || node.attribute("tabindex") !== undefined;
}
