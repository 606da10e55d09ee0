import { ServiceError } from "@shoal/router";
import { ambiguousTarget, elementNotFound } from "../tabs/page-errors.ts";
import type { ActedTab, ElementSource } from "../tabs/element-source.ts";
import type { PageItemElement } from "../reading/page-items.ts";
import { readPage } from "../reading/read-page.ts";

export interface ElementWish {
  readonly role?: string | undefined;
  /** Case does not matter; a part is enough if no whole name matches. */
  readonly name?: string | undefined;
}

/** An element of a page with its reference. */
export type FoundElement = PageItemElement & { readonly ref: string };

const maxSimilar = 5;

/**
 * Finds the one element with this role and name, also outside the visible part. Usable elements come before others, and
 * those behind a dialog last.
 * Returns `undefined` while a dialog is open. @throws {ServiceError} 404 `element_not_found`, 409 `ambiguous_target`.
 */
export async function findElement(
  pages: ElementSource,
  tab: ActedTab,
  wish: ElementWish,
): Promise<FoundElement | undefined> {
  const read = await readPage(tab);
  if (read === undefined) return undefined;
  const { elements } = read.tree;
  const named = (element: PageItemElement): FoundElement => ({
    ...element,
    ref: pages.references.refOf(tab.id, element),
  });
  const all = matching(elements, wish);
  const reached = all.filter((element) => !read.covered.has(element));
  const matches = reached.length === 0 ? all : reached;
  const [only] = matches;
  if (only === undefined) throw ServiceError.of(elementNotFound(textOf(wish), similar(elements, wish).map(named)));
  if (matches.length > 1) throw ServiceError.of(ambiguousTarget(textOf(wish), matches.map(named)));
  return named(only);
}

type Described = Pick<PageItemElement, "isUsable" | "name" | "role">;

/** Whole names before parts of names, and usable elements before others. */
export function matching<E extends Described>(elements: readonly E[], { name, role }: ElementWish): readonly E[] {
  const wanted = name === undefined ? undefined : fold(name);
  const ofRole = elements.filter((element) => role === undefined || element.role === role.toLowerCase());
  const whole = ofRole.filter((element) => wanted === undefined || fold(element.name) === wanted);
  const partly = wanted === undefined ? [] : ofRole.filter((element) => fold(element.name).includes(wanted));
  for (const group of [whole, partly]) {
    const usable = group.filter(({ isUsable }) => isUsable);
    if (usable.length > 0) return usable;
    if (group.length > 0) return group;
  }
  return [];
}

/** Elements of the same role, or with common words in their names. */
export function similar<E extends Described>(elements: readonly E[], { name = "", role }: ElementWish): readonly E[] {
  const words = new Set(fold(name).split(" "));
  const scored = elements
    .filter(({ isUsable }) => isUsable)
    .map((element) => {
      const common = fold(element.name)
        .split(" ")
        .filter((word) => word !== "" && words.has(word)).length;
      return { element, score: common * 2 + (element.role === role ? 1 : 0) };
    });
  return scored
    .filter(({ score }) => score > 0)
    .sort((first, second) => second.score - first.score)
    .slice(0, maxSimilar)
    .map(({ element }) => element);
}

function textOf({ name, role = "element" }: ElementWish): string {
  return name === undefined ? role : `${role} "${name}"`;
}

/** Case, spaces and characters that only join others do not matter. */
export function fold(text: string): string {
  return text
    .toLowerCase()
    .replace(/\p{Cf}/gu, "")
    .replace(/\s+/g, " ")
    .trim();
}
