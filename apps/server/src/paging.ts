import type { Page } from "@shoal/contract";

/** Makes a page out of `limit + 1` rows: the one too many only tells that there are more. */
export function toPage<Row, Item>(rows: readonly Row[], window: { readonly limit: number; readonly offset: number }, toItem: (row: Row) => Item): Page<Item> {
  const hasMore = rows.length > window.limit;
  return { items: rows.slice(0, window.limit).map(toItem), hasMore, nextOffset: hasMore ? window.offset + window.limit : undefined };
}

/** The page of a list that nothing can be on. */
export function emptyPage<Item>(): Page<Item> {
  return { items: [], hasMore: false, nextOffset: undefined };
}

/** Whether the database can hold a text: PostgreSQL has no NUL character, so nothing is found by one. */
export function isStorable(text: string | undefined): boolean {
  return !text?.includes("\0");
}
