import type { Page } from "@shoal/contract";

/** One page of a list that is in memory. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  { limit, offset }: { readonly limit: number; readonly offset: number },
  toItem: (row: Row) => Item,
): Page<Item> {
  const hasMore = rows.length > offset + limit;
  return { items: rows.slice(offset, offset + limit).map(toItem), hasMore, nextOffset: hasMore ? offset + limit : undefined };
}

/** A text without case and accents, as names are compared in searches. */
export function folded(text: string): string {
  return text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();
}

/** Whether a text holds another; case and accents do not matter. */
export function holds(text: string | null | undefined, part: string): boolean {
  return folded(text ?? "").includes(folded(part));
}

/** Compares texts by their UTF-16 units. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
