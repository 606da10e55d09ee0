import { withoutCredentials } from "../tabs/shown-address.ts";
import type { Element, ElementContent, Root } from "hast";
import type { CapturedPage } from "../sight/captured-page.ts";
import { DocumentNodes } from "../sight/document-nodes.ts";
import { alternativeOf, formulaOf } from "../sight/formula.ts";
import { firstNumberOf, numberOf } from "./list-numbers.ts";
import { readableText, tellingSign } from "./readable-text.ts";
import { isDataTable, isInline, tableRoles, tagFor } from "./tags.ts";
import { Visibility, type VisibilityOptions } from "../sight/visibility.ts";

/** Above these limits, the rest of the page is left out, and the text says so. */
const maxNodes = 300_000;
const maxCharacters = 4_000_000;
/** Deeper elements are written into this depth, without their tags. */
const maxDepth = 60;
/** Lists and quotes indent each of their lines. */
const maxIndents = 8;
const maxRecursion = 1_500;
const maxFrames = 100;
const maxSpannedColumns = 20;
const maxSpannedRows = 200;
/** Of all tables together. */
const maxSpanned = 50_000;
const maxAddressCharacters = 2_048;
const maxAltCharacters = 300;

const omittedTags: ReadonlySet<string> = new Set([
  ...["head", "script", "style", "noscript", "template", "title", "meta", "link"],
  ...["input", "textarea", "select", "datalist", "canvas", "audio", "video"],
  ...["progress", "meter"],
]);
const pictureRoles: ReadonlySet<string> = new Set(["img", "image", "math", "graphics-document"]);
const indentingTags: ReadonlySet<string> = new Set(["ul", "ol", "blockquote"]);
const documentSchemes: ReadonlySet<string> = new Set(["http:", "https:", "mailto:", "tel:"]);

interface SourceDocument {
  readonly nodes: DocumentNodes;
  readonly visibility: Visibility;
  readonly process: number;
}

/** A place in the result, and facts about its ancestors. */
interface Place {
  readonly into: ElementContent[];
  readonly depth: number;
  readonly recursion: number;
  readonly indents: number;
  readonly isInTable: boolean;
  /** Whether items of the list have their numbers in the text. */
  readonly isNumbered: boolean;
}

export interface VisibleTree {
  readonly root: Root;
  readonly title: string;
  readonly url: string;
  /** Whether a limit ended the reading. */
  readonly isCut: boolean;
}

/** Builds the part of a page that a person can see, as HTML nodes without scripts, styles and fields. */
export function readVisibleTree(page: CapturedPage): VisibleTree {
  const tree = new TreeReader(page, { ariaHidden: true }).read();
  // A page is never empty only because it hides everything from assistive technology.
  return hasText(tree.root) ? tree : new TreeReader(page, { ariaHidden: false }).read();
}

function hasText({ children }: Root | Element): boolean {
  return children.some((child) =>
    child.type === "text"
      ? child.value.trim() !== ""
      : child.type === "element" && (child.tagName === "img" || hasText(child)),
  );
}

class TreeReader {
  readonly #page: CapturedPage;
  readonly #options: VisibilityOptions;
  readonly #documents = new Map<string, SourceDocument | undefined>();
  #leftNodes = maxNodes;
  #leftCharacters = maxCharacters;
  #leftFrames = maxFrames;
  #leftSpanned = maxSpanned;
  #isCut = false;

  constructor(page: CapturedPage, options: VisibilityOptions) {
    this.#page = page;
    this.#options = options;
  }

  read(): VisibleTree {
    const into: ElementContent[] = [];
    const main = this.#document(0, 0);
    const place: Place = { into, depth: 0, recursion: 0, indents: 0, isInTable: false, isNumbered: false };
    const { root } = this.#page;
    if (main !== undefined && root === undefined) this.#children(main, 0, place);
    else if (root !== undefined) this.#element(root.process, root.backendNodeId, place);
    return {
      root: { type: "root", children: into },
      title: main?.nodes.title ?? "",
      url: main?.nodes.url ?? "",
      isCut: this.#isCut,
    };
  }

  #document(process: number, index: number): SourceDocument | undefined {
    const key = `${String(process)} ${String(index)}`;
    if (this.#documents.has(key)) return this.#documents.get(key);
    const captured = this.#page.processes[process];
    const document = captured?.documents[index];
    let source: SourceDocument | undefined;
    if (captured !== undefined && document !== undefined) {
      const nodes = new DocumentNodes(document, captured.strings, this.#leftNodes);
      this.#leftNodes -= nodes.count;
      if (nodes.count < (document.nodes.parentIndex?.length ?? 0)) this.#isCut = true;
      source = { nodes, visibility: new Visibility(nodes, this.#options), process };
    }
    this.#documents.set(key, source);
    return source;
  }

  #element(process: number, backendNodeId: number, place: Place): void {
    const count = this.#page.processes[process]?.documents.length ?? 0;
    for (let index = 0; index < count; index++) {
      const document = this.#document(process, index);
      const node = document?.nodes.indexOf(backendNodeId);
      if (document === undefined || node === undefined) continue;
      this.#node(document, node, place);
      return;
    }
  }

  #children(document: SourceDocument, node: number, place: Place): void {
    const { nodes } = document;
    const after: number[] = [];
    for (const child of nodes.childrenOf(node))
      // A snapshot lists them before the content.
      if (nodes.tagOf(child) === "::after") after.push(child);
      else this.#node(document, child, place);
    for (const child of after) this.#node(document, child, place);
  }

  #node(document: SourceDocument, node: number, around: Place): void {
    const { nodes, visibility } = document;
    if (around.recursion > maxRecursion || this.#leftCharacters <= 0) {
      this.#isCut = true;
      return;
    }
    const place = { ...around, recursion: around.recursion + 1 };
    if (nodes.isText(node)) this.#text(document, node, place);
    else if (nodes.isElement(node)) {
      const tag = nodes.tagOf(node);
      if (omittedTags.has(tag)) return;
      if (tag.startsWith("::")) {
        this.#added(document, node, place);
        return;
      }
      if (visibility.isHidden(node)) {
        this.#hidden(document, node, place);
        return;
      }
      if (this.#isFrame(document, node)) this.#frame(document, node, place);
      else if (tag === "img") this.#image(document, node, place);
      else if (tag === "math") this.#formula(document, node, place);
      else if (tag === "pre") this.#code(document, node, place);
      else this.#container(document, node, place);
    } else this.#children(document, node, place);
  }

  /** Words that styles add. */
  #added(document: SourceDocument, node: number, place: Place): void {
    const { nodes } = document;
    const tag = nodes.tagOf(node);
    if (tag !== "::before" && tag !== "::after") return;
    const text = nodes.renderedTextOf(node);
    if (!tellingSign.test(text)) return;
    if (isInline(nodes.styleOf(node, "display"))) this.#text(document, node, place, text);
    else this.#text(document, node, place, ` ${text} `);
  }

  #text({ nodes, visibility }: SourceDocument, node: number, { into }: Place, text = nodes.textOf(node)): void {
    if (text.trim() === "") {
      into.push({ type: "text", value: text === "" ? "" : " " });
      return;
    }
    if (!visibility.isVisible(node)) return;
    const security = nodes.styleOf(node, "-webkit-text-security");
    if (security !== "" && security !== "none") {
      into.push({ type: "text", value: "•••" });
      return;
    }
    const value = readableText(text).slice(0, this.#leftCharacters);
    this.#leftCharacters -= value.length;
    if (!nodes.styleOf(node, "white-space-collapse").startsWith("preserve")) {
      into.push({ type: "text", value });
      return;
    }
    for (const [place, line] of value.split("\n").entries()) {
      if (place > 0) into.push(element("br"));
      into.push({ type: "text", value: line });
    }
  }

  #container(document: SourceDocument, node: number, place: Place): void {
    const { nodes } = document;
    const display = nodes.styleOf(node, "display");
    const attributes = nodes.attributesOf(node);
    const stated = tagFor(nodes.tagOf(node), display, attributes);
    const isList = stated === "ol" || stated === "ul";
    const first = isList ? firstNumberOf(nodes, node) : undefined;
    const own = isList ? (first === undefined ? "ul" : "ol") : stated;
    const isNumbered = isList ? first === undefined : place.isNumbered;
    const isTable = own === "table" && isDataTable(nodes, node);
    const isInTable = own === "table" ? isTable : place.isInTable;
    const properties: Record<string, string | number> = {
      ...this.#properties(document, own, attributes),
      ...(first !== undefined && { start: first }),
    };
    const tag = meaningful(own, { isInTable, isLink: properties.href !== undefined, display, place });
    // On the screen they have a gap, without a space in the text.
    const isBox = display.startsWith("inline-") || nodes.tagOf(node) === "button";
    if (place.depth >= maxDepth) {
      this.#children(document, node, { ...place, isInTable, isNumbered });
      return;
    }
    const made = element(tag, tag === own ? properties : {});
    if (isBox) place.into.push({ type: "text", value: " " });
    const isAbove = nodes.tagOf(node) === "rt" && nodes.hasLayout(node);
    if (isAbove) place.into.push({ type: "text", value: "(" });
    const number = own === "li" && place.isNumbered ? numberOf(nodes, node) : "";
    if (number !== "") made.children.push({ type: "text", value: `${number} ` });
    const indents = place.indents + (indentingTags.has(own) ? 1 : 0);
    const inside = { indents, isInTable, isNumbered, into: made.children, depth: place.depth + 1 };
    this.#children(document, node, { ...place, ...inside });
    if (!hasText(made) && pictureRoles.has(attributes.get("role") ?? "") && document.visibility.isVisible(node))
      place.into.push({ type: "text", value: ` ${this.#alternative(attributes.get("aria-label"))} ` });
    if (made.children.length > 0 || tag === "br" || tag === "hr" || tag === "td" || tag === "th") place.into.push(made);
    if (isAbove) place.into.push({ type: "text", value: ")" });
    if (isBox) place.into.push({ type: "text", value: " " });
  }

  #formula(document: SourceDocument, node: number, place: Place): void {
    const { nodes, visibility } = document;
    const formula = formulaOf(nodes, node, (part) => visibility.isVisible(part));
    if (formula === undefined) this.#container(document, node, place);
    else this.#drawn(document, { node, text: formula }, place);
  }

  /** Formulas are drawn in parts that assistive technology does not get. */
  #hidden(document: SourceDocument, node: number, place: Place): void {
    const { nodes, visibility } = document;
    if (nodes.attributeOf(node, "aria-hidden") !== "true" || !visibility.isDrawn(node)) return;
    const drawn = alternativeOf(nodes, node, (part) => visibility.isDrawn(part));
    if (drawn !== undefined) this.#drawn(document, { node, text: drawn.text.slice(0, maxAltCharacters) }, place);
  }

  #drawn({ nodes }: SourceDocument, { node, text }: { readonly node: number; readonly text: string }, { into }: Place) {
    const display = nodes.styleOf(node, "display");
    const made = element(isInline(display) || display === "math" ? "span" : "div");
    const value = readableText(text).slice(0, this.#leftCharacters);
    this.#leftCharacters -= value.length;
    made.children.push({ type: "text", value });
    if (value !== "") into.push(made);
  }

  /** A page inside of a page; an object may have one, or other content. */
  #isFrame({ nodes, process }: SourceDocument, node: number): boolean {
    const tag = nodes.tagOf(node);
    if (tag === "iframe" || tag === "frame" || nodes.childDocuments.has(node)) return true;
    const id = nodes.backendNodeIdOf(node);
    return this.#page.frames.some(({ ownerNodeId, ownerProcess }) => ownerNodeId === id && ownerProcess === process);
  }

  #frame(document: SourceDocument, node: number, place: Place): void {
    const { nodes, process, visibility } = document;
    if (!visibility.isVisible(node) || --this.#leftFrames < 0) return;
    const backendNodeId = nodes.backendNodeIdOf(node);
    const remote = this.#page.frames.find(
      ({ ownerNodeId, ownerProcess }) => ownerNodeId === backendNodeId && ownerProcess === process,
    );
    const local = nodes.childDocuments.get(node);
    const child =
      remote === undefined
        ? local === undefined
          ? undefined
          : this.#document(process, local)
        : this.#document(remote.process, 0);
    if (child === undefined) return;
    const made = element("div", { dataFrame: "true" });
    this.#children(child, 0, { ...place, into: made.children, depth: place.depth + 1 });
    if (made.children.length > 0) place.into.push(made);
  }

  #image({ nodes, visibility }: SourceDocument, node: number, { into }: Place): void {
    if (!visibility.isVisible(node)) return;
    const attributes = nodes.attributesOf(node);
    const alt = this.#alternative(attributes.get("alt"));
    const src = this.#page.links ? absolute(attributes.get("src"), nodes) : undefined;
    if (alt !== "") into.push(src === undefined ? { type: "text", value: ` ${alt} ` } : element("img", { alt, src }));
  }

  #alternative(stated = ""): string {
    const text = readableText(stated).trim().slice(0, maxAltCharacters);
    this.#leftCharacters -= text.length;
    return text;
  }

  /** Takes code as it is shown: editors have one element for each line, without line breaks. */
  #code(document: SourceDocument, node: number, place: Place): void {
    const { nodes } = document;
    const parts: string[] = [];
    const gather = (at: number, recursion: number): void => {
      if (recursion > maxRecursion || this.#leftCharacters <= 0) return;
      if (nodes.isText(at)) {
        const text = readableText(nodes.textOf(at));
        const isSecret = !["", "none"].includes(nodes.styleOf(at, "-webkit-text-security"));
        if (text.trim() !== "" && !document.visibility.isVisible(at)) return;
        this.#leftCharacters -= text.length;
        parts.push(isSecret ? "•••" : text);
        return;
      }
      const tag = nodes.tagOf(at);
      if (omittedTags.has(tag) || tag.startsWith("::") || document.visibility.isHidden(at)) return;
      if (tag === "br") parts.push("\n");
      const isLine = !nodes.styleOf(at, "display").startsWith("inline") && nodes.isElement(at) && at !== node;
      if (isLine && parts.length > 0 && parts.at(-1)?.endsWith("\n") !== true) parts.push("\n");
      for (const child of nodes.childrenOf(at)) gather(child, recursion + 1);
    };
    gather(node, place.recursion);
    const value = parts.join("").replace(/^\n+/, "").trimEnd();
    if (value === "") return;
    const language = languageOf(nodes, node);
    const code = element("code", language === undefined ? {} : { className: [`language-${language}`] });
    code.children.push({ type: "text", value });
    const pre = element("pre");
    pre.children.push(code);
    place.into.push(pre);
  }

  /** Each place that a cell fills becomes an empty cell. */
  #spans(columns: number, rows: number): Record<string, number> {
    const [colSpan, rowSpan] = [spanOf(columns, maxSpannedColumns), spanOf(rows, maxSpannedRows)];
    this.#leftSpanned -= colSpan * rowSpan - 1;
    if (this.#leftSpanned < 0) return {};
    return { ...(colSpan > 1 && { colSpan }), ...(rowSpan > 1 && { rowSpan }) };
  }

  #properties(
    { nodes }: SourceDocument,
    tag: string,
    attributes: ReadonlyMap<string, string>,
  ): Record<string, string | number> {
    if (tag === "a") {
      const href = absolute(attributes.get("href"), nodes);
      return href === undefined || !this.#page.links ? {} : { href };
    }
    const number = (name: string): number => Number.parseInt(attributes.get(name) ?? "", 10);
    if (tag !== "td" && tag !== "th") return {};
    return this.#spans(number("colspan"), number("rowspan"));
  }
}

/** 1 for a cell of one column or row. */
function spanOf(stated: number, most: number): number {
  return stated > 1 && stated <= most ? stated : 1;
}

function meaningful(
  tag: string,
  { display, isInTable, isLink, place }: { display: string; isInTable: boolean; isLink: boolean; place: Place },
): string {
  const isTooDeep = place.indents >= maxIndents;
  if ((isTooDeep && indentingTags.has(tag)) || (tag === "li" && place.indents > maxIndents)) return "div";
  if (tableRoles.has(tag) && !isInTable) return "div";
  if (tag !== "a" || isLink) return tag;
  return isInline(display) ? "span" : "div";
}

function element(tagName: string, properties: Element["properties"] = {}): Element {
  return { type: "element", tagName, properties, children: [] };
}

/** Returns `undefined` for addresses without a meaning outside of the page, such as `javascript:`. */
function absolute(address: string | undefined, nodes: DocumentNodes): string | undefined {
  if (address === undefined || address.length > maxAddressCharacters) return undefined;
  const url = URL.parse(address.trim(), nodes.baseUrl);
  if (url === null || url.href.length > maxAddressCharacters) return undefined;
  return documentSchemes.has(url.protocol) ? withoutCredentials(url.href) : undefined;
}

function languageOf(nodes: DocumentNodes, pre: number): string | undefined {
  const children = [...nodes.childrenOf(pre)].filter((child) => nodes.isElement(child));
  for (const node of [...children.slice(0, 1), pre, nodes.parentOf(pre)]) {
    const classes = nodes.attributesOf(node).get("class") ?? "";
    const found = /(?:^|\s)(?:lang(?:uage)?|highlight-source|brush:)-?\s?([\w+#-]{1,20})/.exec(classes)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}
