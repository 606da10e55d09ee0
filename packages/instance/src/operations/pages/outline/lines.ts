import type { DomNode } from "../capture/dom-snapshot.ts";
import type { PageItem, PageItemElement } from "../reading/page-items.ts";
import { options } from "../reading/states.ts";
import { headingLevel } from "../reading/roles.ts";
import { estimateTokens } from "./estimate.ts";
import { hintsOf } from "./hints.ts";
import { emptyBefore } from "./spans.ts";
import { numberOf } from "../text/list-numbers.ts";
import { plainText, quote, shortTarget } from "./text.ts";

export interface OutlineLine {
  /** The same for the same node in the next outline. */
  readonly key: string;
  readonly depth: number;
  readonly text: string;
  /** Line of the element around it. */
  readonly parent: OutlineLine | undefined;
  /** The first element of the line, if the line begins with one. */
  readonly element: PageItemElement | undefined;
  /** All elements that the line shows, except those in lines below it. */
  readonly elements: readonly PageItemElement[];
  /** Elements and texts in this line. */
  readonly count: number;
  readonly isVisible: boolean;
  readonly tokens: number;
}

/** Returns the reference to show with an element. */
export type RefOf = (element: PageItemElement) => string | undefined;

const maxOptions = 10;
const maxLines = 20_000;
/** Left out inside a line. */
const plainRoles: ReadonlySet<string> = new Set(["list", "listitem", "group"]);
const cellRoles: ReadonlySet<string> = new Set(["cell", "gridcell", "columnheader", "rowheader"]);

export class LineWriter {
  readonly lines: OutlineLine[] = [];
  readonly #refOf: RefOf;
  /** Shows all options of this list. */
  readonly #wanted: PageItemElement | undefined;
  readonly #hints = new Map<PageItemElement, string>();

  constructor(refOf: RefOf, wanted?: PageItemElement) {
    this.#refOf = refOf;
    this.#wanted = wanted;
  }

  write(items: readonly PageItem[], depth = 0, parent?: OutlineLine): void {
    for (const [element, hint] of hintsOf(items)) this.#hints.set(element, hint);
    for (const item of items) this.#item(item, { depth, parent, prefix: "" });
  }

  #item(item: PageItem, place: Place): void {
    if (this.lines.length >= maxLines) return;
    if (item.kind === "element") this.#element(item, place);
    else this.#add(item, place, this.#inline(item));
  }

  #element(element: PageItemElement, place: Place): void {
    const { children, role } = element;
    if (role === "list" && element.shownName === "" && place.prefix === "") {
      for (const child of children) this.#item(child, place);
    } else if (role === "listitem") this.#listItem(element, place);
    else if (role === "row" && children.every((child) => isCellLike(child)))
      this.#add(element, place, this.#row(element));
    else if (role === "heading" && element.shownName === "") this.#prefixed(element, place);
    else {
      const line = this.#add(element, place, this.#head(element));
      this.write(children, place.depth + 1, line);
    }
  }

  /** The marker comes before the first line of the item. */
  #listItem(element: PageItemElement, place: Place): void {
    const [first, ...others] = element.children;
    const marks = this.#marks(element);
    const prefix = `${place.prefix}${numberOf(element.node.document, element.node.index) || "*"} ${marks === "" ? "" : `${marks} `}`;
    if (first === undefined) return;
    const known = this.lines.length;
    this.#item(first, { ...place, prefix });
    const line = this.lines[known];
    for (const other of others) this.#item(other, { depth: place.depth + 1, parent: line, prefix: "" });
  }

  #prefixed(element: PageItemElement, place: Place): void {
    const [only, ...others] = element.children;
    if (only === undefined) return;
    const head = `${place.prefix}${this.#head(element)}`;
    if (others.length === 0) this.#item(only, { ...place, prefix: `${head}: ` });
    else this.write(element.children, place.depth + 1, this.#add(element, { ...place, prefix: "" }, head));
  }

  #row(element: PageItemElement): string {
    const cells = element.children.flatMap((child) => [
      ...Array<string>(child.kind === "element" ? emptyBefore(child.node) : 0).fill(""),
      this.#cell(child),
    ]);
    const marks = this.#marks(element);
    const head = [...(element.shownName === "" ? [] : [quote(element.shownName)]), ...(marks === "" ? [] : [marks])];
    return `${head.length === 0 ? "" : `row ${head.join(" ")} `}| ${cells.join(" | ")}`;
  }

  #cell(item: PageItem): string {
    if (item.kind !== "element" || !cellRoles.has(item.role)) return this.#inline(item);
    const { children, role, shownName } = item;
    const marks = this.#marks(item);
    const head = [...(shownName === "" ? [] : [quote(shownName)]), ...(marks === "" ? [] : [marks])];
    // A name that replaces the text, such as the date of a day.
    const content = shownName === "" ? children : children.filter(({ kind }) => kind !== "text");
    return [
      ...(head.length === 0 ? [] : [`${role} ${head.join(" ")}`]),
      ...content.map((child) => this.#inline(child)),
    ].join(" ");
  }

  #inline(item: PageItem): string {
    if (item.kind === "text") return plainText(item.text);
    if (item.kind === "line") return item.parts.map((part) => this.#inline(part)).join(" ");
    const children = item.children.map((child) => this.#inline(child));
    const isPlain = plainRoles.has(item.role) && item.shownName === "" && this.#marks(item) === "";
    return [...(isPlain ? [] : [this.#head(item)]), ...children].join(" ");
  }

  /** The reference and the states. */
  #marks(element: PageItemElement): string {
    const ref = this.#refOf(element);
    const marks = [...(ref === undefined ? [] : [`[${ref}]`])];
    if (element.states.length > 0) marks.push(`[${element.states.join(" ")}]`);
    return marks.join(" ");
  }

  #head(element: PageItemElement): string {
    const { node, refusal, role, shownName, value } = element;
    const href = role === "link" ? (node.attribute("href") ?? node.attribute("xlink:href")) : undefined;
    const target = href === undefined ? "" : shortTarget(href, node.document.url);
    return [
      role === "heading" ? `heading ${String(headingLevel(node))}` : role,
      shownName === "" ? "" : quote(shownName),
      this.#marks(element),
      this.#hints.get(element) ?? "",
      value === undefined || value === "" ? "" : `= ${quote(value, 1_000)}`,
      refusal === "" ? "" : `(refused: ${quote(refusal)})`,
      role === "iframe" ? frameOf(element) : node.tag === "canvas" ? sizeOf(element) : target,
      showsPdf(node) ? "(PDF: read takes its ref or selector)" : "",
      this.#options(element),
    ]
      .filter((part) => part !== "")
      .join(" ");
  }

  #options(element: PageItemElement): string {
    if (element.node.tag !== "select") return "";
    const all = options(element.node).filter(({ isHidden }) => !isHidden);
    const shown = element.node === this.#wanted?.node ? all : all.slice(0, maxOptions);
    const more = all.length > shown.length ? ` and ${String(all.length - shown.length)} more` : "";
    const listed = shown.map(({ isDisabled, label }) => `${quote(label, 100)}${isDisabled ? " (disabled)" : ""}`);
    return `options ${listed.join(", ")}${more}`;
  }

  #add(item: PageItem, { depth, parent, prefix }: Place, content: string): OutlineLine {
    const text = `${prefix}${content}`;
    const line: OutlineLine = {
      key: keyOf(item),
      depth,
      text,
      parent,
      element: item.kind === "element" ? item : undefined,
      elements: shownIn(item),
      count: countOf(item),
      isVisible: isVisible(item),
      tokens: estimateTokens(text) + 1,
    };
    this.lines.push(line);
    return line;
  }
}

interface Place {
  readonly depth: number;
  readonly parent: OutlineLine | undefined;
  readonly prefix: string;
}

function isCellLike(item: PageItem): boolean {
  if (item.kind !== "element" || !cellRoles.has(item.role)) return item.kind !== "element";
  return item.children.length <= 12 && item.children.every(isSimple);
}

function isSimple(item: PageItem): boolean {
  if (item.kind !== "element") return true;
  return item.role !== "table" && item.role !== "row" && item.children.length <= 6 && item.children.every(isSimple);
}

/** A person draws on it by pixels. */
function sizeOf({ box }: PageItemElement): string {
  return box === undefined ? "" : `${String(Math.round(box.width))}×${String(Math.round(box.height))} px`;
}

function frameOf({ node }: PageItemElement): string {
  const source = node.attribute("src") ?? node.attribute("data");
  return source === undefined ? "" : shortTarget(source, node.document.url);
}

function isVisible(item: PageItem): boolean {
  return item.kind === "line" ? item.parts.some(isVisible) : item.isVisible;
}

function countOf(item: PageItem): number {
  if (item.kind === "line") return item.parts.length;
  if (item.kind === "element" && item.role === "row") return 1 + item.children.length;
  return 1;
}

function showsPdf(node: DomNode): boolean {
  if (!["iframe", "embed", "object"].includes(node.tag)) return false;
  const address = node.attribute(node.tag === "object" ? "data" : "src") ?? "";
  // The browser's viewer has an element without an address in its frames.
  if (address === "" || address.startsWith("about:")) return false;
  return node.attribute("type") === "application/pdf" || /\.pdf(?:[?#]|$)/i.test(address);
}

function shownIn(item: PageItem): readonly PageItemElement[] {
  if (item.kind === "text") return [];
  if (item.kind === "line") return item.parts.flatMap(shownIn);
  return item.role === "row" ? [item, ...item.children.flatMap(shownIn)] : [item];
}

function keyOf(item: PageItem): string {
  if (item.kind === "line") return item.parts.map(keyOf).join(" ").slice(0, 200);
  if (item.kind === "text") return `t${String(item.node.backendNodeId)} ${item.node.document.frameId}`;
  return `n${String(item.node.backendNodeId)} ${item.address.frameId}`;
}
