import type { DescribedElement } from "../tabs/references.ts";
import type { DomNode } from "../capture/dom-snapshot.ts";
import type { Box } from "../sight/document-nodes.ts";

/** Text without a role. */
export interface TextItem {
  readonly kind: "text";
  readonly node: DomNode;
  readonly text: string;
  readonly isVisible: boolean;
  /** In the page's viewport; `undefined` for spaces. */
  readonly box: Box | undefined;
}

/** Text with elements inside, such as a paragraph with links. */
export interface LineItem {
  readonly kind: "line";
  readonly parts: readonly (TextItem | PageItemElement)[];
}

export interface PageItemElement extends DescribedElement {
  readonly kind: "element";
  /** Set when the whole page has been read. */
  identity: string | undefined;
  readonly node: DomNode;
  /** The name as far as the content does not say it. */
  readonly shownName: string;
  readonly isUsable: boolean;
  readonly states: readonly string[];
  readonly value: string | undefined;
  /** What the browser says next to a focused field that holds back its form. */
  readonly refusal: string;
  readonly children: readonly PageItem[];
  /** Whether a part of it is in the visible part of the page. */
  readonly isVisible: boolean;
  /** In the page's viewport. */
  readonly box: Box | undefined;
  readonly isModal: boolean;
  /** Whether only a click can tell that a person sees it. */
  readonly isDoubtful: boolean;
}

export type PageItem = TextItem | LineItem | PageItemElement;

export function containsUsable(item: PageItem): boolean {
  if (item.kind === "text") return false;
  if (item.kind === "line") return item.parts.some(containsUsable);
  return item.isUsable || item.children.some(containsUsable);
}

/** Texts and elements in items. */
export function countItems(items: readonly PageItem[]): number {
  return items.reduce((sum, item) => {
    if (item.kind === "text") return sum + 1;
    return sum + 1 + countItems(item.kind === "line" ? item.parts : item.children);
  }, 0);
}
