import type { PageItem, PageItemElement } from "../reading/page-items.ts";

/** A word as authors of pages write it: nothing else can be in a hint. */
const word = /^[a-zA-Z][a-zA-Z_-]{2,24}$/;
const attributes = ["name", "data-icon", "data-testid", "id", "class"] as const;

/** What tells usable elements without a name apart: a word of their markup, and their place among equal ones. */
export function hintsOf(items: readonly PageItem[]): ReadonlyMap<PageItemElement, string> {
  const nameless = items.flatMap((item) => (isNameless(item) ? [item] : []));
  const groups = Map.groupBy(nameless, (element) => `${element.role} ${wordOf(element)}`);
  const hints = new Map<PageItemElement, string>();
  for (const group of groups.values())
    for (const [place, element] of group.entries()) {
      const own = wordOf(element);
      const count = group.length > 1 ? `${String(place + 1)} of ${String(group.length)}` : "";
      const parts = [own, count].filter((part) => part !== "");
      if (parts.length > 0) hints.set(element, `(${parts.join(", ")})`);
    }
  return hints;
}

function isNameless(item: PageItem): item is PageItemElement {
  return item.kind === "element" && item.isUsable && item.name === "" && item.children.length === 0;
}

function wordOf({ node }: PageItemElement): string {
  for (const attribute of attributes) {
    const found = (node.attribute(attribute) ?? "").split(/\s+/, 5).find((one) => word.test(one));
    if (found !== undefined) return found;
  }
  return "";
}
