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
  readonly node: DomNode;
  /** The name as far as the content does not say it. */
  readonly shownName: string;
  readonly isUsable: boolean;
  readonly states: readonly string[];
  readonly value: string | undefined;
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

const maxContext = 200;

/** Elements with the text around each of them: of its line, or before and after it. */
export function withContext(
  items: readonly PageItem[],
  elements: readonly PageItemElement[],
): readonly PageItemElement[] {
  const contexts = new Map<PageItemElement, string>();
  const sequence: (string | PageItemElement)[] = [];
  const visit = (item: PageItem): void => {
    if (item.kind === "text") sequence.push(item.text.trim().slice(0, maxContext));
    else if (item.kind === "line") {
      const text = item.parts
        .map((part) => (part.kind === "text" ? part.text : ""))
        .join("")
        .trim();
      if (text !== "")
        for (const part of item.parts) if (part.kind === "element") contexts.set(part, text.slice(0, maxContext));
      for (const part of item.parts) visit(part);
    } else {
      sequence.push(item);
      if (!item.isUsable || item.role === "link") sequence.push(item.name.slice(0, maxContext));
      for (const child of item.children) visit(child);
    }
  };
  for (const item of items) visit(item);
  const before = textsBefore(sequence);
  const after = textsBefore(sequence.toReversed());
  return elements.map((element) => ({
    ...element,
    context: contexts.get(element) ?? `${before.get(element) ?? ""}\n${after.get(element) ?? ""}`,
  }));
}

function textsBefore(sequence: readonly (string | PageItemElement)[]): ReadonlyMap<PageItemElement, string> {
  const texts = new Map<PageItemElement, string>();
  let last = "";
  for (const one of sequence) {
    if (typeof one !== "string") texts.set(one, last);
    else if (one !== "") last = one;
  }
  return texts;
}

/** Texts and elements in items. */
export function countItems(items: readonly PageItem[]): number {
  return items.reduce((sum, item) => {
    if (item.kind === "text") return sum + 1;
    return sum + 1 + countItems(item.kind === "line" ? item.parts : item.children);
  }, 0);
}
