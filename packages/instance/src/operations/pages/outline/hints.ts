import type { DomNode } from "../capture/dom-snapshot.ts";
import type { PageItem, PageItemElement } from "../reading/page-items.ts";

/** A word as authors of pages write it: nothing else can be in a hint. */
const word = /^[a-zA-Z][a-zA-Z_-]{2,24}$/;
const attributes = ["name", "data-icon", "data-testid", "id", "href", "xlink:href", "src", "class"] as const;
/** Words of a markup that say nothing about one element. */
const generic = /^(?:btn|button|icons?|img|image|svg|link|ripple|fa|fas|far|fab|bi|ti|material|mdi|glyphicon)$/;
const maxInner = 10;

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

/** Of the element, or of the picture in it. */
function wordOf({ node }: PageItemElement): string {
  const inner: DomNode[] = [node];
  for (const at of inner) inner.push(...at.children.slice(0, Math.max(0, maxInner - inner.length)));
  const words = inner.flatMap((at) => attributes.flatMap((attribute) => wordsIn(at, attribute)));
  return words.find((one) => !generic.test(one.toLowerCase())) ?? words[0] ?? "";
}

function wordsIn(node: DomNode, attribute: (typeof attributes)[number]): readonly string[] {
  const value = node.attribute(attribute) ?? "";
  const isAddress = attribute === "href" || attribute === "xlink:href" || attribute === "src";
  // The address of a link has its own place in the line.
  if (isAddress && node.tag === "a") return [];
  const shown = isAddress
    ? value
        .slice(0, 500)
        .replace(/^.*[#/]/, "")
        .replace(/[.?].*/s, "")
    : value;
  return shown.split(/\s+/, 5).filter((one) => word.test(one));
}
