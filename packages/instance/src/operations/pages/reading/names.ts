import { type DomNode, targetsOf } from "../capture/dom-snapshot.ts";
import { isField, isNamedByContent, isUsable, roleOfItem } from "./roles.ts";

/** Longest name in characters. */
export const maxNameCharacters = 200;
const maxScanned = 20_000;
const maxDepth = 200;
const maxNodes = 2_000;
/** Drawn by the browser, in the place of words. */
const marks: ReadonlySet<string> = new Set(["::marker", "::checkmark", "::picker-icon"]);
const buttonTypes: ReadonlySet<string> = new Set(["button", "submit", "reset", "image"]);

/**
 * The accessible name of an element. It is Chromium's, except that text which a person cannot see is left out where
 * other text names the element: hidden text is a way to give instructions to agents.
 */
export function nameOf(node: DomNode, role: string): string {
  const known = node.accessible;
  // Chromium names media by their errors.
  const isMedia = role === "audio" || role === "video";
  if (known === undefined || isMedia || (known.name === "" && (role === "clickable" || roleOfItem(node) !== undefined)))
    return nameByMarkup(node, role);
  // The glyph of an icon font is the name for Chromium, and no name here.
  const ofGlyph = known.name === "" ? "" : (node.attribute("title") ?? "");
  const name = clean(known.name) || nameOfHost(node, role) || clean(ofGlyph);
  const sources = name === "" || hasStatedName(node) ? [] : sourcesOf(node, role);
  if (!sources.some((source) => holdsOtherText(source, name))) return name;
  const seen = clean(
    sources.map((source) => textBelow(source, { except: (at) => at === node && isField(at) })).join(" "),
  );
  // A control needs a name, also a hidden one; a heading does not.
  return seen === "" && role !== "heading" && !sources.some(holdsSecretBelow) ? name : seen;
}

/** Chromium does not name the control inside of a custom element by the element's label. */
function nameOfHost(node: DomNode, role: string): string {
  const host = isUsable(role) ? node.document.tree[node.host] : undefined;
  return host === undefined ? "" : clean(textBelow(labelOf(host), { except: (at) => at === host }));
}

function hasStatedName(node: DomNode): boolean {
  return node.attribute("aria-labelledby") === undefined && (node.attribute("aria-label") ?? "").trim() !== "";
}

/** The elements whose text may be the name. */
function sourcesOf(node: DomNode, role: string): readonly DomNode[] {
  const labelledBy = targetsOf(node, "aria-labelledby");
  if (labelledBy.length > 0) return labelledBy;
  const label = labelOf(node);
  if (label !== undefined) return [label];
  return isField(node) || !isNamedByContent(role) ? [] : [node];
}

/** For elements that Chromium's tree does not report. */
function nameByMarkup(node: DomNode, role: string): string {
  const labels = targetsOf(node, "aria-labelledby").map((target) => textBelow(target, { hidden: true }));
  const stated = clean(labels.join(" ")) || clean(node.attribute("aria-label") ?? "");
  return stated || ownName(node, role) || clean(node.attribute("title") ?? "");
}

function ownName(node: DomNode, role: string): string {
  const type = node.attribute("type")?.toLowerCase() ?? "";
  if (node.tag === "input" && buttonTypes.has(type))
    return clean(node.attribute("value") ?? node.attribute("alt") ?? (type === "submit" ? "Submit" : ""));
  if (node.tag === "img" || node.tag === "area") return clean(node.attribute("alt") ?? "");
  const label = labelOf(node);
  const labelled = label === undefined ? "" : clean(textBelow(label, { except: (at) => at === node }));
  if (isField(node)) return labelled || clean(node.attribute("placeholder") ?? "");
  const titled = { fieldset: "legend", table: "caption", svg: "title" }[node.tag];
  const title = titled === undefined ? undefined : node.children.find(({ tag }) => tag === titled);
  if (title !== undefined) return clean(textBelow(title, { hidden: true }));
  return labelled || (isNamedByContent(role) ? clean(textBelow(node)) : "");
}

/** The element with the label of a field. */
export function labelOf(node: DomNode): DomNode | undefined {
  const id = node.attribute("id");
  const stated = id === undefined ? undefined : node.document.labelFor(id, node);
  if (stated !== undefined) return stated;
  if (!isField(node) && node.tag !== "button" && !node.tag.includes("-")) return undefined;
  let at = node.parent;
  for (let depth = 0; at !== undefined && depth < 20; depth++, at = at.parent)
    if (at.tag === "label") return at.attribute("for") === undefined ? at : undefined;
  return undefined;
}

export interface TextOptions {
  /** Also text that is not shown. */
  readonly hidden?: boolean;
  /** Parts that do not belong to the text. */
  readonly except?: (node: DomNode) => boolean;
}

export function textBelow(node: DomNode | undefined, { except, hidden = false }: TextOptions = {}): string {
  if (node === undefined) return "";
  const parts: string[] = [];
  let characters = 0;
  let visited = 0;
  const visit = (at: DomNode, depth: number): void => {
    if (characters > maxScanned || depth > maxDepth || ++visited > maxNodes || except?.(at) === true) return;
    if (!hidden && depth > 0 && at.attribute("aria-hidden") === "true") return;
    const label = depth === 0 || (!at.isLaidOut && !hidden) ? "" : labelText(at);
    const text = label === "" ? ownText(at, hidden) : ` ${label} `;
    parts.push(text);
    characters += text.length;
    if (label !== "" || at.tag === "select" || at.tag === "script" || at.tag === "style" || at.tag === "textarea")
      return;
    const isBlock =
      at.tag === "br" || (at.isLaidOut && !at.isText && at.style("display") !== "inline" && !at.tag.startsWith("::"));
    if (isBlock) parts.push(" ");
    for (const child of at.children) visit(child, depth + 1);
    if (isBlock) parts.push(" ");
  };
  visit(node, 0);
  return parts.join("");
}

function ownText(node: DomNode, hidden: boolean): string {
  if (!node.isText && !node.tag.startsWith("::")) return "";
  if (isSecret(node.isText ? node.parent : node) || marks.has(node.tag)) return "";
  if (hidden && !node.isLaidOut) return node.value.slice(0, maxScanned);
  const text = node.renderedText.slice(0, maxScanned);
  return hidden || text.trim() === "" || node.isVisible ? text : "";
}

function labelText(node: DomNode): string {
  const label = node.attribute("aria-label") ?? (node.tag === "img" ? node.attribute("alt") : undefined);
  return (label ?? "").slice(0, maxScanned).trim();
}

/** Whether a part of it is laid out, but cannot be seen, or is a secret, or is a counter, which Chromium omits. */
function holdsOtherText(node: DomNode, name: string): boolean {
  return hasBelow(node, (at) => {
    // A person sees no gap where a word may be broken; Chromium reports one.
    if (at.tag === "wbr") return true;
    if (isField(at)) return isSecret(at);
    const isPseudo = at.tag.startsWith("::") && !marks.has(at.tag);
    if (!at.isLaidOut || (isPseudo ? at.renderedText : at.isText ? at.value : "").trim() === "") return false;
    return isSecret(isPseudo ? at : at.parent) || !at.isVisible || (isPseudo && isLostCounter(at, name));
  });
}

function isLostCounter({ renderedText }: DomNode, name: string): boolean {
  return /\p{N}/u.test(renderedText) && !name.includes(clean(renderedText));
}

function holdsSecretBelow(node: DomNode): boolean {
  return hasBelow(node, (at) => isSecret(at));
}

function hasBelow(node: DomNode, fits: (node: DomNode) => boolean): boolean {
  let visited = 0;
  const waiting = [node];
  for (let at = waiting.pop(); at !== undefined && ++visited < maxNodes; at = waiting.pop()) {
    if (fits(at)) return true;
    for (const child of at.children) waiting.push(child);
  }
  return false;
}

/** Whether the page shows dots in the place of its characters. */
export function isSecret(node: DomNode | undefined): boolean {
  if (node === undefined) return false;
  const security = node.style("-webkit-text-security");
  return security !== "" && security !== "none";
}

/** Characters that join or order others; other invisible ones are removed. */
const invisible = /(?![\u200C-\u200F])[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu;

/** One line, without characters that are not shown. Cut first: a hostile page may have megabytes of spaces. */
export function clean(text: string, maxCharacters = maxNameCharacters): string {
  const line = text
    .slice(0, maxScanned)
    .replace(/[\s\u2028\u2029]+/g, " ")
    .replace(invisible, "")
    .trim();
  return line.length <= maxCharacters
    ? line
    : `${line
        .slice(0, maxCharacters)
        .toWellFormed()
        .replace(/\uFFFD$/, "")}…`;
}
