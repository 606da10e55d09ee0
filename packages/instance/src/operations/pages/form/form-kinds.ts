import type { DomNode } from "../capture/dom-snapshot.ts";
import { type ClickSurroundings, isClickable, isClickTarget } from "../reading/click-targets.ts";
import { isUsable, roleOf, statedRole } from "../reading/roles.ts";

/** `control`: a person can use it. `block`: groups other nodes. `words`: its name contains its text. */
export type FormKind = "control" | "block" | "words";

export interface Recognized {
  readonly kind: FormKind;
  readonly role: string;
}

const clickableTags: ReadonlySet<string> = new Set(["a", "div", "span", "li", "td", "p", "img", "svg"]);
const attributeNames = [
  ...["id", "name", "type", "autocomplete", "placeholder", "title", "alt", "aria-label", "maxlength", "inputmode"],
  ...["pattern", "for", "method", "data-testid"],
];
const maxAttributeCharacters = 200;

/** Returns `undefined` for elements that a form view omits. Elements that are hidden count as well. */
export function recognize(node: DomNode, around: ClickSurroundings): Recognized | undefined {
  if (node.tag === "option" || node.tag === "optgroup") return undefined;
  const role = roleOf(node) ?? (node.accessible === undefined ? statedRole(node) : undefined);
  if (role === "heading") return { kind: "words", role };
  if (role === "image" && !isClickTarget(node, role, around))
    return (node.accessible?.name ?? "") === "" ? undefined : { kind: "words", role };
  if (role === "image") return { kind: "control", role: "clickable" };
  if (role !== undefined) return { kind: isUsable(role) ? "control" : "block", role };
  const live = node.attribute("aria-live");
  if (live === "assertive" || live === "polite") return { kind: "block", role: live === "polite" ? "status" : "alert" };
  if (node.attribute("aria-busy") === "true") return { kind: "block", role: "group" };
  if (node.tag === "form") return { kind: "block", role: "form" };
  return clickableTags.has(node.tag) && isClickable(node, around) ? { kind: "control", role: "clickable" } : undefined;
}

/** Attributes that tell the meaning of a node. Of addresses, the query is left out: it may contain tokens. */
export function meaningOf(node: DomNode): Record<string, string> {
  const meaning: Record<string, string> = {};
  for (const name of attributeNames) {
    const value = node.attribute(name);
    if (value !== undefined && value !== "") meaning[name] = value.slice(0, maxAttributeCharacters);
  }
  for (const name of ["href", "action", "src"]) {
    const value = node.attribute(name);
    const url = value === undefined ? null : URL.parse(value, node.document.url);
    if (url !== null && /^https?:$/.test(url.protocol))
      meaning[name] = `${url.origin}${url.pathname}`.slice(0, maxAttributeCharacters);
  }
  return meaning;
}
