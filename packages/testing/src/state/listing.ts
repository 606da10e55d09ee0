import type { Page } from "@shoal/contract";

export function pageOf<Row, Item>(
  rows: readonly Row[],
  { limit, offset }: { readonly limit: number; readonly offset: number },
  toItem: (row: Row) => Item,
): Page<Item> {
  const hasMore = rows.length > offset + limit;
  return {
    items: rows.slice(offset, offset + limit).map(toItem),
    hasMore,
    nextOffset: hasMore ? offset + limit : undefined,
  };
}

/** Folds case and accents, for searches. */
export function folded(text: string): string {
  return text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();
}

export function holds(text: string | null | undefined, part: string): boolean {
  return folded(text ?? "").includes(folded(part));
}

/** Compares texts by UTF-16 units. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
