import type { DomNode } from "../capture/dom-snapshot.ts";

/** Elements that a person can use. */
const usableRoles: ReadonlySet<string> = new Set([
  ...["button", "checkbox", "clickable", "combobox", "link", "listbox", "menuitem", "menuitemcheckbox"],
  ...["menuitemradio", "option", "radio", "searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "treeitem"],
]);
/** Elements that a person can use if they take the focus. */
const focusableRoles: ReadonlySet<string> = new Set(["application", "scrollbar", "separator"]);
/** Their text is their name. */
const contentRoles: ReadonlySet<string> = new Set([
  ...["button", "checkbox", "clickable", "heading", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "option"],
  ...["radio", "switch", "tab", "treeitem"],
]);
const regionRoles: ReadonlySet<string> = new Set([
  ...["alert", "alertdialog", "article", "audio", "banner", "cell", "columnheader", "complementary"],
  ...["contentinfo", "dialog", "form", "grid", "gridcell", "group", "heading", "iframe", "image", "list"],
  ...["listitem", "log", "main", "menu", "menubar", "meter", "navigation", "progressbar", "radiogroup"],
  ...["region", "row", "rowheader", "search", "status", "table", "tablist", "tabpanel", "toolbar", "tree"],
  ...["treegrid", "video"],
]);
/** Roles with another name here: Chromium's own, and roles that a reader need not tell apart. */
const otherNames = byWord({
  audio: "Audio",
  button: "DisclosureTriangle DisclosureTriangleGrouped",
  image: "doc-cover graphics-document img",
  link: "doc-backlink doc-biblioref doc-glossref doc-noteref",
  list: "directory",
  navigation: "doc-index doc-pagelist doc-toc",
  textbox: "ColorWell Date DateTime InputTime",
  video: "Video",
});
/** Parts of a book; they matter with a name. */
const namedRegions = /^doc-(?:a|b|c|d|e|f|g|i|p)/;
const tagRoles = byWord({
  button: "button summary",
  cell: "td",
  columnheader: "th",
  combobox: "select",
  complementary: "aside",
  group: "fieldset",
  heading: "h1 h2 h3 h4 h5 h6",
  image: "img",
  list: "menu ol ul",
  listitem: "li",
  navigation: "nav",
  progressbar: "progress",
  region: "section",
  row: "tr",
  textbox: "textarea",
});
/** Their tags are their roles. */
const sameTags = /^(?:article|audio|dialog|form|main|meter|option|search|table|video)$/;
const inputRoles = byWord({
  button: "button file image reset submit",
  checkbox: "checkbox",
  radio: "radio",
  searchbox: "search",
  slider: "range",
  spinbutton: "number",
});
const tableTags: ReadonlySet<string> = new Set(["table", "tr", "td", "th"]);
const listsOfItems: ReadonlyMap<string, string> = new Map([
  ["option", "listbox"],
  ["treeitem", "tree"],
]);
/** They may be between an item and its list. */
const groupRoles: ReadonlySet<string> = new Set(["", "group", "none", "presentation", "treeitem"]);
const maxItemDepth = 50;
const frameTags: ReadonlySet<string> = new Set(["iframe", "frame"]);

/** Every word that begins a line of an outline. */
export const outlineRoles: ReadonlySet<string> = new Set([...usableRoles, ...focusableRoles, ...regionRoles]);

export function isUsable(role: string): boolean {
  return usableRoles.has(role) || focusableRoles.has(role);
}

export function isNamedByContent(role: string): boolean {
  return contentRoles.has(role);
}

/** Returns the name that outlines have for a role of Chromium. */
export function shownRole(role: string): string {
  return otherNames.get(role) ?? role;
}

/** Returns the role in Chromium's accessibility tree; `undefined` for elements that an outline shows without a role. */
export function roleOf(node: DomNode): string | undefined {
  if (frameTags.has(node.tag)) return "iframe";
  if (isEditor(node) && (node.accessible === undefined || isPlainEditor(node.accessible.role))) return "textbox";
  if (isTablePart(node)) return node.tag === "table" ? "table" : tagRoles.get(node.tag);
  if (node.accessible === undefined) return undefined;
  const { name, role } = node.accessible;
  if (role === "SvgRoot" || role === "Canvas") return name === "" ? undefined : "image";
  if (focusableRoles.has(role)) return isFocusable(node) ? role : undefined;
  const kept = roleOfItem(node);
  if (kept !== undefined) return kept;
  if (outlineRoles.has(role)) return role === "clickable" ? undefined : role;
  return otherNames.get(role) ?? (namedRegions.test(role) ? "region" : undefined);
}

/**
 * Chromium takes the role from an item with a plain `<li>` between it and its list; a person chooses it all the same.
 * Returns that role.
 */
export function roleOfItem(node: DomNode): string | undefined {
  if (node.accessible?.role !== "generic") return undefined;
  const stated = (node.attribute("role") ?? "").toLowerCase().trim();
  const list = listsOfItems.get(stated);
  if (list === undefined) return undefined;
  let at = node.parent;
  for (let depth = 0; at !== undefined && depth < maxItemDepth; depth++, at = at.parent) {
    const around = at.attribute("role")?.toLowerCase().trim();
    if (around === list) return stated;
    if (around !== undefined && !groupRoles.has(around)) return undefined;
  }
  return undefined;
}

/** Assistive technology does not get tables that look like a layout; a person sees their rows. */
function isTablePart(node: DomNode): boolean {
  if (!tableTags.has(node.tag) || (node.accessible !== undefined && !/^(?:generic|Layout)/.test(node.accessible.role)))
    return false;
  let at: DomNode | undefined = node;
  for (; at !== undefined; at = at.parent) {
    if (at.attribute("role") !== undefined || at.attribute("aria-hidden") === "true") return false;
    if (at.tag === "table") return true;
  }
  return false;
}

/**
 * Returns the role by attribute and tag, for elements that Chromium's tree does not report: in a very large document, or
 * in a part that is hidden from assistive technology by mistake.
 */
export function statedRole(node: DomNode): string | undefined {
  if (frameTags.has(node.tag)) return "iframe";
  for (const stated of (node.attribute("role") ?? "").toLowerCase().trim().split(/\s+/, 10)) {
    const role = otherNames.get(stated) ?? stated;
    if (role === "presentation" || role === "none") return isField(node) ? nativeRole(node) : undefined;
    if (focusableRoles.has(role) && !isFocusable(node)) return undefined;
    if (role !== "clickable" && role !== "iframe" && outlineRoles.has(role)) return role;
  }
  return nativeRole(node);
}

function nativeRole(node: DomNode): string | undefined {
  const { tag } = node;
  if (tag === "input") {
    const type = node.attribute("type")?.toLowerCase() ?? "text";
    const role = inputRoles.get(type) ?? (type === "hidden" ? undefined : "textbox");
    return role === "textbox" && node.attribute("list") !== undefined ? "combobox" : role;
  }
  if (tag === "a" || tag === "area") return node.attribute("href") === undefined ? undefined : "link";
  if (tag === "select" && (node.attribute("multiple") !== undefined || Number(node.attribute("size") ?? 1) > 1))
    return "listbox";
  return isEditor(node) ? "textbox" : sameTags.test(tag) ? tag : tagRoles.get(tag);
}

function isEditor(node: DomNode): boolean {
  const editable = node.attribute("contenteditable");
  return editable !== undefined && editable !== "false";
}

/** Chromium names an editor by its tag, such as a paragraph. Cells and items of lists keep their places. */
function isPlainEditor(role: string): boolean {
  return (
    !isUsable(shownRole(role)) &&
    !/^(?:(?:.+)?cell|columnheader|grid|listitem|list|row|rowheader|table|treegrid)$/i.test(role)
  );
}

export function isField({ tag }: DomNode): boolean {
  return tag === "input" || tag === "textarea" || tag === "select";
}

export function isFocusable(node: DomNode): boolean {
  return node.accessible?.isFocusable ?? node.attribute("tabindex") !== undefined;
}

/** Whether the page provides it a place in the order of the Tab key. */
export function isTabStop(node: DomNode): boolean {
  return Number.parseInt(node.attribute("tabindex") ?? "", 10) >= 0;
}

function byWord(words: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(words).flatMap(([role, all]) => all.split(" ").map((word) => [word, role] as const)));
}

/** The level of a heading, 1 to 9. */
export function headingLevel(node: DomNode): number {
  const level = Number(node.attribute("aria-level") ?? node.tag.slice(1));
  return Number.isInteger(level) && level >= 1 && level <= 9 ? level : 2;
}
