import { type DomNode, flatChildren } from "./dom-snapshot.ts";
import { isField, isNamedByContent } from "./roles.ts";

/** Longest name in characters. */
export const maxNameCharacters = 200;
const maxScanned = 20_000;
const maxDepth = 200;
const maxNodes = 2_000;
const buttonTypes: ReadonlySet<string> = new Set(["button", "submit", "reset", "image"]);

/** The accessible name of an element, as the specification computes it in the common cases. */
export function nameOf(node: DomNode, role: string): string {
  return statedName(node) || ownName(node, role) || clean(node.attribute("title") ?? "");
}

/** A name in the attributes of the element. */
export function statedName(node: DomNode): string {
  const ids = (node.attribute("aria-labelledby") ?? "").split(/\s+/, 10).filter((id) => id !== "");
  const labels = ids.map((id) => textBelow(node.document.byId(id), true));
  return clean(labels.join(" ")) || clean(node.attribute("aria-label") ?? "");
}

function ownName(node: DomNode, role: string): string {
  if (isField(node)) return fieldName(node);
  if (node.tag === "img" || node.tag === "area") return clean(node.attribute("alt") ?? "");
  if (node.tag === "svg") return clean(textBelow(childOf(node, "title"), true));
  if (node.tag === "fieldset") return clean(textBelow(childOf(node, "legend"), false));
  if (node.tag === "table") return clean(textBelow(childOf(node, "caption"), false));
  return isNamedByContent(role) ? clean(textBelow(node, false)) : "";
}

function fieldName(node: DomNode): string {
  const type = node.attribute("type")?.toLowerCase() ?? "";
  if (node.tag === "input" && buttonTypes.has(type))
    return clean(node.attribute("value") ?? node.attribute("alt") ?? (type === "submit" ? "Submit" : ""));
  const label = labelOf(node);
  return clean(label === undefined ? "" : textBelow(label, false, node)) || clean(node.attribute("placeholder") ?? "");
}

/** The element with the label of a field. */
export function labelOf(node: DomNode): DomNode | undefined {
  const id = node.attribute("id");
  const stated = id === undefined ? undefined : node.document.labelFor(id);
  if (stated !== undefined) return stated;
  let at = node.parent;
  for (let depth = 0; at !== undefined && depth < 20; depth++, at = at.parent) if (at.tag === "label") return at;
  return undefined;
}

/** @param isHidden - whether to read text that is not shown. @param except - a field whose options are not part of its label. */
export function textBelow(node: DomNode | undefined, isHidden: boolean, except?: DomNode): string {
  if (node === undefined) return "";
  const parts: string[] = [];
  let characters = 0;
  let visited = 0;
  const visit = (at: DomNode, depth: number): void => {
    if (characters > maxScanned || depth > maxDepth || ++visited > maxNodes || at === except) return;
    if (!isHidden && at.attribute("aria-hidden") === "true") return;
    const text = ownText(at, isHidden);
    parts.push(text);
    characters += text.length;
    if (at.tag === "select" || at.tag === "script" || at.tag === "style" || at.tag === "textarea") return;
    const isBlock = at.isLaidOut && !at.isText && !at.style("display").startsWith("inline");
    if (isBlock) parts.push(" ");
    for (const child of flatChildren(at)) visit(child, depth + 1);
    if (isBlock) parts.push(" ");
  };
  visit(node, 0);
  return parts.join("");
}

function ownText(node: DomNode, isHidden: boolean): string {
  if (node.isText) {
    if (isSecret(node.parent)) return "";
    return (node.isLaidOut ? node.renderedText : isHidden ? node.value : "").slice(0, maxScanned);
  }
  if (!node.isLaidOut && !isHidden) return "";
  const label = node.tag === "img" ? node.attribute("alt") : node.attribute("aria-label");
  return label === undefined ? "" : ` ${label.slice(0, maxScanned)} `;
}

/** Whether the page shows dots in the place of its characters. */
export function isSecret(node: DomNode | undefined): boolean {
  if (node === undefined) return false;
  const security = node.style("-webkit-text-security");
  return security !== "" && security !== "none";
}

/** One line, without characters that are not shown. Cut first: a hostile page may have megabytes of spaces. */
export function clean(text: string, maxCharacters = maxNameCharacters): string {
  const line = text
    .slice(0, maxScanned)
    .replace(/[\s\u2028\u2029]+/g, " ")
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, "")
    .trim();
  return line.length <= maxCharacters
    ? line
    : `${line
        .slice(0, maxCharacters)
        .toWellFormed()
        .replace(/\uFFFD$/, "")}…`;
}

function childOf({ children }: DomNode, tag: string): DomNode | undefined {
  return children.find((child) => child.tag === tag);
}
