import type { Page } from "@shoal/contract";
import { type SelectQueryBuilder, sql } from "kysely";

/** Which rows of a list a page holds. */
interface Window {
  readonly limit: number;
  readonly offset: number;
}

/** The rows of a page, and one more where there are more, for {@link toPage}. Of a table with `created_at` and `id`. */
export function newestFirst<Tables, From extends keyof Tables, Row>(
  rows: SelectQueryBuilder<Tables, From, Row>,
  { limit, offset }: Window,
): SelectQueryBuilder<Tables, From, Row> {
  return rows
    .orderBy(sql.ref("created_at"), "desc")
    .orderBy(sql.ref("id"), "desc")
    .limit(limit + 1)
    .offset(offset);
}

/** Makes a page out of `limit + 1` rows: the one too many only tells that there are more. */
export function toPage<Row, Item>(rows: readonly Row[], window: Window, toItem: (row: Row) => Item): Page<Item> {
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
