import type { DomNode } from "./dom-snapshot.ts";

/** Their text, or what they add to a name, depends on more than the texts in them. */
const otherTags =
  /-|^(?:area|audio|canvas|details|desc|embed|fencedframe|foreignobject|iframe|img|input|math|meter|object|picture|progress|ruby|select|slot|summary|table|text|title|textarea|video)$/;
const drawingTags = /^(?:svg|g|path|rect|circle|ellipse|line|polygon|polyline|use|defs|clippath)$/;
const maxNodes = 60;
/** A longer text may be the name of many elements: putting it together for each takes seconds. */
const maxCharacters = 2_000;

const naming = ["role", "title", "aria-label", "aria-labelledby"];

/** The name that an element has by its content; `undefined` where only Chromium can tell. */
export function plainText(element: DomNode): string | undefined {
  const parts: string[] = [];
  let looked = 0;
  let characters = 0;
  const add = (text: string): boolean => {
    characters += text.length;
    if (characters <= maxCharacters) parts.push(text);
    return characters <= maxCharacters;
  };
  const visit = (node: DomNode): boolean => {
    if (++looked > maxNodes) return false;
    if (node.isText) {
      return node.parent?.style("visibility") !== "hidden" && (!node.isLaidOut || add(node.renderedText));
    }
    if (node.tag.startsWith("::")) return node.renderedText.trim() === "";
    if (node === element) return node.children.every(visit);
    const hidden = node.attribute("aria-hidden") ?? "";
    if (hidden === "true") return true;
    // Chromium takes most other values for `true`.
    if ((hidden !== "" && hidden !== "false") || node.attribute("inert") !== undefined) return false;
    const isUnnamed = naming.every((name) => node.attribute(name) === undefined);
    const isImage = node.tag === "img" && isUnnamed;
    if (otherTags.test(node.tag) && !isImage) return false;
    // Removed with its content, unless that takes its place in the layout.
    if (!node.isLaidOut) return node.children.every((child) => !child.isLaidOut && (child.isText || visit(child)));
    const alternative = isImage ? (node.attribute("alt") ?? "") : node.attribute("aria-label")?.trim();
    if (isImage || (alternative !== undefined && alternative !== ""))
      return node.attribute("aria-labelledby") === undefined && add(` ${alternative ?? ""} `);
    if (drawingTags.test(node.tag)) return isUnnamed && node.children.every(visit);
    if (!isUnnamed && !(isPlainRole(node) && node.attribute("title") === undefined)) return false;
    const isBlock = node.tag === "br" || node.style("display") !== "inline";
    if (isBlock) parts.push(" ");
    const isPlain = node.children.every(visit);
    if (isBlock) parts.push(" ");
    return isPlain;
  };
  return visit(element) ? parts.join("").replace(/\s+/g, " ").trim() : undefined;
}

/** Whether it adds no more than its content. */
function isPlainRole(node: DomNode): boolean {
  return /^(?:button|link)$/.test(node.attribute("role") ?? "") && node.attribute("aria-labelledby") === undefined;
}
