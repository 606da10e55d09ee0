import type { DomNode } from "./dom-snapshot.ts";

/** Elements that a person can use. */
const usableRoles: ReadonlySet<string> = new Set([
  "button",
  "checkbox",
  "clickable",
  "combobox",
  "link",
  "listbox",
  "menuitem",
  "menuitemcheckbox",
  "menuitemradio",
  "option",
  "radio",
  "searchbox",
  "slider",
  "spinbutton",
  "switch",
  "tab",
  "textbox",
  "treeitem",
]);
/** Named by their content. */
const contentRoles: ReadonlySet<string> = new Set([
  "button",
  "checkbox",
  "clickable",
  "heading",
  "link",
  "menuitem",
  "menuitemcheckbox",
  "menuitemradio",
  "option",
  "radio",
  "switch",
  "tab",
  "treeitem",
]);
const regionRoles: ReadonlySet<string> = new Set([
  "alert",
  "alertdialog",
  "article",
  "banner",
  "cell",
  "columnheader",
  "complementary",
  "contentinfo",
  "dialog",
  "form",
  "grid",
  "gridcell",
  "group",
  "iframe",
  "image",
  "heading",
  "list",
  "listitem",
  "log",
  "main",
  "menu",
  "menubar",
  "meter",
  "navigation",
  "progressbar",
  "radiogroup",
  "region",
  "row",
  "rowheader",
  "search",
  "status",
  "table",
  "tablist",
  "tabpanel",
  "toolbar",
  "tree",
  "treegrid",
]);
const tagRoles: ReadonlyMap<string, string> = new Map([
  ["article", "article"],
  ["aside", "complementary"],
  ["button", "button"],
  ["dialog", "dialog"],
  ["fieldset", "group"],
  ["footer", "contentinfo"],
  ["form", "form"],
  ["frame", "iframe"],
  ["header", "banner"],
  ["iframe", "iframe"],
  ["li", "listitem"],
  ["main", "main"],
  ["menu", "list"],
  ["meter", "meter"],
  ["nav", "navigation"],
  ["ol", "list"],
  ["option", "option"],
  ["progress", "progressbar"],
  ["search", "search"],
  ["section", "region"],
  ["select", "combobox"],
  ["summary", "button"],
  ["table", "table"],
  ["td", "cell"],
  ["textarea", "textbox"],
  ["th", "columnheader"],
  ["tr", "row"],
  ["ul", "list"],
]);
const inputRoles: ReadonlyMap<string, string> = new Map([
  ["button", "button"],
  ["checkbox", "checkbox"],
  ["file", "button"],
  ["image", "button"],
  ["number", "spinbutton"],
  ["radio", "radio"],
  ["range", "slider"],
  ["reset", "button"],
  ["search", "searchbox"],
  ["submit", "button"],
]);
const headings: ReadonlySet<string> = new Set(["h1", "h2", "h3", "h4", "h5", "h6"]);

/** Every word that begins a line of an outline. */
export const outlineRoles: ReadonlySet<string> = new Set([...usableRoles, ...regionRoles]);

export function isUsable(role: string): boolean {
  return usableRoles.has(role);
}

export function isNamedByContent(role: string): boolean {
  return contentRoles.has(role);
}

/** Returns `undefined` for elements without a role. */
export function roleOf(node: DomNode): string | undefined {
  const stated = node.attribute("role")?.toLowerCase().trim().split(/\s+/)[0];
  if (stated === "img") return "image";
  if (stated !== undefined && stated !== "clickable" && stated !== "iframe" && outlineRoles.has(stated)) return stated;
  if (stated === "presentation" || stated === "none") return isField(node) ? nativeRole(node) : undefined;
  return nativeRole(node);
}

function nativeRole(node: DomNode): string | undefined {
  const { tag } = node;
  if (tag === "input") return inputRole(node);
  if (tag === "a" || tag === "area") return node.attribute("href") === undefined ? undefined : "link";
  if (headings.has(tag)) return "heading";
  if (tag === "img" || tag === "svg") return "image";
  if (tag === "select") return isListBox(node) ? "listbox" : "combobox";
  const editable = node.attribute("contenteditable");
  if (editable !== undefined && editable !== "false") return "textbox";
  return tagRoles.get(tag);
}

function inputRole(node: DomNode): string | undefined {
  const type = node.attribute("type")?.toLowerCase() ?? "text";
  if (type === "hidden") return undefined;
  const role = inputRoles.get(type) ?? "textbox";
  return role === "textbox" && node.attribute("list") !== undefined ? "combobox" : role;
}

function isListBox(node: DomNode): boolean {
  return node.attribute("multiple") !== undefined || Number(node.attribute("size") ?? 1) > 1;
}

export function isField({ tag }: DomNode): boolean {
  return tag === "input" || tag === "textarea" || tag === "select";
}

/** The level of a heading, 1 to 6. */
export function headingLevel(node: DomNode): number {
  const level = Number(node.attribute("aria-level") ?? node.tag.slice(1));
  return Number.isInteger(level) && level >= 1 && level <= 9 ? level : 2;
}
