import type { DomNode } from "../capture/dom-snapshot.ts";
import { clean, textBelow } from "./names.ts";
import { containsUsable, type PageItem } from "./page-items.ts";
import { isNamedByContent } from "./roles.ts";

/** Chromium names them by their content, which an outline shows. */
const textRoles: ReadonlySet<string> = new Set(["cell", "columnheader", "gridcell", "listitem", "row", "rowheader"]);

interface Shortened {
  /** The name that the line of an element shows. */
  readonly shownName: string;
  readonly children: readonly PageItem[];
}

/** Says each text of an element once: in its name, or in its content. */
export function shortenContent(
  node: DomNode,
  {
    children,
    hasUsable,
    name,
    role,
  }: {
    readonly name: string;
    readonly role: string;
    readonly children: readonly PageItem[];
    readonly hasUsable: boolean;
  },
): Shortened {
  const isStated = node.attribute("aria-label") !== undefined || node.attribute("aria-labelledby") !== undefined;
  if (textRoles.has(role)) {
    // Chromium adds the values of fields to a name by content.
    const isContent = isTextOf(node, name) || (hasUsable && !isStated && node.attribute("title") === undefined);
    return { shownName: isContent ? "" : name, children };
  }
  if (!isNamedByContent(role)) return { shownName: name, children };
  if (role === "clickable" && isStated && !isTextOf(node, name) && children.length > 0)
    return { shownName: name, children };
  if (!hasUsable) {
    // A long text is read in parts.
    const isInParts = name.endsWith("…") && !isStated && children.length > 1;
    return isInParts ? { shownName: "", children } : { shownName: name, children: [] };
  }
  if (isStated) return { shownName: name, children };
  const used = shownNodes(children);
  const own = clean(textBelow(node, { except: (at) => used.has(at) }));
  if (own === "") return { shownName: "", children };
  return { shownName: own, children: children.flatMap(withoutText) };
}

function isTextOf(node: DomNode, name: string): boolean {
  return name === "" || name.replaceAll(" ", "") === clean(textBelow(node)).replaceAll(" ", "");
}

/** Elements that keep their own lines, with their text. */
function shownNodes(items: readonly PageItem[]): ReadonlySet<DomNode> {
  return new Set(items.flatMap(withoutText).flatMap((item) => (item.kind === "element" ? [item.node] : [])));
}

/** The controls and pictures in a text. */
export function partsOfText(item: PageItem): readonly PageItem[] {
  if (item.kind === "text") return [];
  if (item.kind === "line") return item.parts.flatMap(partsOfText);
  return item.isUsable || item.role === "image" ? [item] : item.children.flatMap(partsOfText);
}

function withoutText(item: PageItem): readonly PageItem[] {
  if (item.kind === "text") return [];
  if (item.kind === "line") return item.parts.flatMap(withoutText);
  return containsUsable(item) || item.role === "image" ? [item] : [];
}
