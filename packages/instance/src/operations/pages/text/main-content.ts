import { Readability } from "@mozilla/readability";
import type { Element, ElementContent, Root } from "hast";
import { parseHTML } from "linkedom";

type Parent = Root | Element;

const landmarks: ReadonlySet<string> = new Set(["nav", "header", "footer", "aside"]);
/** A smaller part of the page is not its main text. */
const leastCharacters = 200;
const leastShare = 0.1;
const leastReadableShare = 0.4;
const maxReadableElements = 20_000;

/** Returns the main text as the page marks it, or as Readability finds it; the whole page if neither succeeds. */
export function findMainContent(page: Root): Root {
  const whole = textLength(page);
  const marked = largest(findAll(page, "main"));
  if (marked !== undefined && isMost(marked, whole)) return rootOf(marked.children);
  const body = withoutLandmarks(page);
  const bodyLength = textLength(body);
  const articles = findAll(body, "article");
  const [article] = articles;
  if (article !== undefined && articles.length === 1 && textLength(article) > bodyLength / 2)
    return rootOf(article.children);
  const readable = readArticle(body);
  if (readable !== undefined && textLength(readable) >= Math.max(leastCharacters, bodyLength * leastReadableShare))
    return readable;
  return bodyLength >= leastCharacters || bodyLength > whole / 2 ? body : page;
}

function isMost(part: Parent, whole: number): boolean {
  const length = textLength(part);
  return length >= leastCharacters || length >= whole * leastShare;
}

function rootOf(children: readonly ElementContent[]): Root {
  return { type: "root", children: [...children] };
}

function textLength(node: Parent): number {
  let length = 0;
  for (const child of node.children) {
    if (child.type === "text") length += child.value.trim().length;
    else if (child.type === "element") length += textLength(child);
  }
  return length;
}

function findAll(node: Parent, tag: string): Element[] {
  return node.children.flatMap((child) => {
    if (child.type !== "element") return [];
    return child.tagName === tag ? [child] : findAll(child, tag);
  });
}

function largest(elements: readonly Element[]): Element | undefined {
  const [found] = elements.toSorted((first, second) => textLength(second) - textLength(first));
  return found;
}

/** Omits menus, sidebars and frames. Headers of articles stay. */
function withoutLandmarks(page: Root): Root {
  const clean = (children: readonly ElementContent[]): ElementContent[] =>
    children.flatMap((child): ElementContent[] => {
      if (child.type !== "element" || child.tagName === "article") return [child];
      if (landmarks.has(child.tagName) || child.properties.dataFrame !== undefined) return [];
      return [{ ...child, children: clean(child.children) }];
    });
  return rootOf(clean(page.children.filter((child) => child.type !== "doctype")));
}

function countElements(node: Parent): number {
  return node.children.reduce(
    (count, child) => (child.type === "element" ? count + 1 + countElements(child) : count),
    0,
  );
}

function readArticle(page: Root): Root | undefined {
  if (countElements(page) > maxReadableElements) return undefined;
  const { document } = parseHTML("<!doctype html><html><head></head><body></body></html>");
  for (const child of page.children) document.body.append(toDom(child, document));
  try {
    const reader = new Readability<Node>(document, {
      disableJSONLD: true,
      keepClasses: true,
      serializer: (node) => node,
    });
    const article = reader.parse()?.content;
    return article instanceof Object ? rootOf(fromDom(article)) : undefined;
  } catch {
    // It fails on some documents.
    return undefined;
  }
}

function toDom(node: Root["children"][number], document: Document): Node {
  if (node.type === "text") return document.createTextNode(node.value);
  if (node.type !== "element") return document.createTextNode("");
  const made = document.createElement(node.tagName);
  for (const [name, value] of Object.entries(node.properties))
    made.setAttribute(attributeOf(name), Array.isArray(value) ? value.join(" ") : String(value));
  for (const child of node.children) made.append(toDom(child, document));
  return made;
}

function attributeOf(property: string): string {
  if (property === "className") return "class";
  return property === "colSpan" || property === "rowSpan" ? property.toLowerCase() : property;
}

const elementType = 1;
const textType = 3;

export function fromDom(node: Node): ElementContent[] {
  return [...node.childNodes].flatMap((child): ElementContent[] => {
    if (child.nodeType === textType) return [{ type: "text", value: child.textContent ?? "" }];
    if (child.nodeType !== elementType) return [];
    const { attributes, tagName } = child as globalThis.Element;
    const properties: Element["properties"] = {};
    for (const { name, value } of attributes) {
      if (name === "class") properties.className = value.split(" ");
      else if (name === "colspan") properties.colSpan = Number(value);
      else if (name === "rowspan") properties.rowSpan = Number(value);
      else if (name === "href" || name === "src" || name === "alt" || name === "start") properties[name] = value;
    }
    return [{ type: "element", tagName: tagName.toLowerCase(), properties, children: fromDom(child) }];
  });
}
