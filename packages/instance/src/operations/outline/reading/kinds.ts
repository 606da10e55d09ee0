import type { SnapshotNode } from "./snapshot.ts";

/** `control`: a person can use it. `block`: groups other nodes. `words`: its name contains its text. */
export type OutlineKind = "control" | "block" | "words" | "text";

const controlRoles: ReadonlySet<string> = new Set([
  "button",
  "checkbox",
  "combobox",
  "link",
  "listbox",
  "menuitem",
  "menuitemradio",
  "option",
  "radio",
  "searchbox",
  "spinbutton",
  "switch",
  "tab",
  "textbox",
]);
const blockRoles: ReadonlySet<string> = new Set([
  "alert",
  "alertdialog",
  "banner",
  "complementary",
  "contentinfo",
  "dialog",
  "form",
  "group",
  "list",
  "listitem",
  "log",
  "main",
  "navigation",
  "progressbar",
  "radiogroup",
  "region",
  "row",
  "search",
  "status",
]);
const blockTags: ReadonlyMap<string, string> = new Map([
  ["form", "form"],
  ["dialog", "dialog"],
  ["fieldset", "group"],
  ["nav", "navigation"],
  ["header", "banner"],
  ["footer", "contentinfo"],
  ["main", "main"],
  ["aside", "complementary"],
  ["ul", "list"],
  ["ol", "list"],
  ["li", "listitem"],
  ["tr", "row"],
  ["iframe", "iframe"],
]);
const inputRoles: ReadonlyMap<string, string> = new Map([
  ["button", "button"],
  ["submit", "button"],
  ["reset", "button"],
  ["image", "button"],
  ["checkbox", "checkbox"],
  ["radio", "radio"],
  ["search", "searchbox"],
]);
const headings: ReadonlySet<string> = new Set(["h1", "h2", "h3", "h4", "h5", "h6"]);
const clickableTags: ReadonlySet<string> = new Set(["div", "span", "li", "td", "p", "img", "svg"]);
const attributeNames = [
  "id",
  "name",
  "type",
  "autocomplete",
  "placeholder",
  "title",
  "alt",
  "aria-label",
  "maxlength",
  "inputmode",
  "pattern",
  "for",
  "method",
  "data-testid",
] as const;
const maxAttributeCharacters = 200;

export interface Recognized {
  readonly kind: OutlineKind;
  readonly role: string;
}

/** Returns `undefined` for nodes that an outline omits. */
export function recognize(
  node: SnapshotNode,
  accessible: { readonly name: string } | undefined,
): Recognized | undefined {
  const { tag, attributes } = node;
  if (tag === "#text") return node.text.trim() === "" ? undefined : { kind: "text", role: "text" };
  if (tag === "input" && attributes.type === "hidden") return undefined;
  const stated = attributes.role?.toLowerCase().split(/\s/)[0] ?? "";
  const role = controlRoles.has(stated) || blockRoles.has(stated) ? stated : nativeRole(node);
  if (role !== undefined && (controlRoles.has(role) || role === "iframe"))
    return { kind: role === "iframe" ? "block" : "control", role };
  if (role === "heading") return { kind: "words", role };
  if (role !== undefined) return { kind: "block", role };
  if (attributes["aria-live"] === "assertive" || attributes["aria-live"] === "polite")
    return { kind: "block", role: attributes["aria-live"] === "polite" ? "status" : "alert" };
  if (attributes["aria-busy"] === "true") return { kind: "block", role: "group" };
  if (tag === "img" && (accessible?.name ?? "") !== "" && !node.isClickable) return { kind: "words", role: "image" };
  if (node.isClickable && clickableTags.has(tag)) return { kind: "control", role: "clickable" };
  return undefined;
}

function nativeRole({ tag, attributes }: SnapshotNode): string | undefined {
  if (tag === "input") return inputRoles.get(attributes.type?.toLowerCase() ?? "") ?? "textbox";
  if (tag === "textarea") return "textbox";
  if (tag === "select") return "combobox";
  if (tag === "button" || tag === "summary") return "button";
  if (tag === "a") return attributes.href === undefined ? undefined : "link";
  if (tag === "label") return undefined;
  if (attributes.contenteditable !== undefined && attributes.contenteditable !== "false") return "textbox";
  if (headings.has(tag)) return "heading";
  return blockTags.get(tag);
}

/** Attributes that tell the meaning of a node. Of addresses, the query is left out: it may contain tokens. */
export function meaningOf({ attributes }: SnapshotNode, base: string): Record<string, string> {
  const meaning: Record<string, string> = {};
  for (const name of attributeNames) {
    const value = attributes[name];
    if (value !== undefined && value !== "") meaning[name] = value.slice(0, maxAttributeCharacters);
  }
  for (const name of ["href", "action", "src"] as const) {
    const value = attributes[name];
    if (value === undefined || !URL.canParse(value, base)) continue;
    const url = new URL(value, base);
    if (/^https?:$/.test(url.protocol)) meaning[name] = `${url.origin}${url.pathname}`.slice(0, maxAttributeCharacters);
  }
  return meaning;
}
