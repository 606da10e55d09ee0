import { hash } from "node:crypto";
import type { DomNode } from "../capture/dom-snapshot.ts";
import { isSecret } from "./names.ts";
import type { PageItemElement } from "./page-items.ts";

type Described = Pick<PageItemElement, "name" | "node" | "path" | "role" | "url">;

/** What a person sees of a part without text, or what tells it apart from a similar one. */
const toldAttributes = ["alt", "aria-label", "href", "src", "title"] as const;

/**
 * Returns what only one element of the page has, and has again after the page renders it again: its role, name and path;
 * for elements that share these, also the content of their row. Equal elements in equal rows, or in a list whose rows
 * are not apart, get nothing: no difference says which one took the place of another.
 */
export function identitiesOf<E extends Described>(elements: readonly E[]): ReadonlyMap<E, string> {
  const identities = new Map<E, string>();
  const contents = new Map<DomNode, string>();
  for (const [signature, alike] of Map.groupBy(elements, signatureOf)) {
    const [only] = alike;
    if (only !== undefined && alike.length === 1) identities.set(only, signature);
    else
      for (const [row, [first, ...others]] of Map.groupBy(alike, contentOfRow(alike, contents)))
        if (row !== undefined && first !== undefined && others.length === 0)
          identities.set(first, `${signature} ${row}`);
  }
  return identities;
}

function signatureOf({ name, path, role, url }: Described): string {
  return JSON.stringify([role, name, path, url]);
}

/** The row of an element is the largest part of the page with only this one of the elements. */
function contentOfRow(alike: readonly Described[], contents: Map<DomNode, string>) {
  const counts = new Map<DomNode, number>();
  for (const { node } of alike)
    for (let at: DomNode | undefined = node; at !== undefined; at = at.parent)
      counts.set(at, (counts.get(at) ?? 0) + 1);
  const areApart = new Map<DomNode, boolean>();
  return ({ node }: Described): string | undefined => {
    let row = node;
    while (row.parent !== undefined && counts.get(row.parent) === 1) row = row.parent;
    const list = row.parent;
    if (list === undefined) return undefined;
    if (!areApart.has(list)) areApart.set(list, hasOnlyRows(list, counts, contents));
    return areApart.get(list) === true ? contentOf(row, contents) : undefined;
  };
}

/** Content between two rows may belong to either of them. */
function hasOnlyRows(list: DomNode, counts: ReadonlyMap<DomNode, number>, contents: Map<DomNode, string>): boolean {
  const first = list.children.findIndex((child) => counts.has(child));
  const last = list.children.findLastIndex((child) => counts.has(child));
  return list.children
    .slice(first, last + 1)
    .every((child) => counts.has(child) || contentOf(child, contents) === noContent);
}

/** A hash of everything in a part of the page that a person may read. */
function contentOf(part: DomNode, known: Map<DomNode, string>): string {
  const found = known.get(part);
  if (found !== undefined) return found;
  const texts: string[] = [];
  const left = [part];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    for (const child of at.children.toReversed()) left.push(child);
    if (isSecret(at.isText ? at.parent : at)) continue;
    const isShown = at.isText || at.tag.startsWith("::");
    texts.push(isShown ? at.renderedText : at.document.valueOf(at));
    for (const name of toldAttributes) texts.push(at.attribute(name) ?? "");
  }
  const content = hashOf(texts.map((text) => text.replaceAll(/\s+/g, " ").trim()).filter((text) => text !== ""));
  known.set(part, content);
  return content;
}

function hashOf(texts: readonly string[]): string {
  return hash("sha1", JSON.stringify(texts), "base64");
}

const noContent = hashOf([]);
