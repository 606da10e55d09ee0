import type { Page } from "@shoal/contract";
import type { VisibleObjects } from "@shoal/contract/rights";
import { type SelectQueryBuilder, sql } from "kysely";

interface Window {
  readonly limit: number;
  readonly offset: number;
}

/** A list, and what the policy of the calling key lets it show; `undefined` = everything. */
export type Seen<Filter> = Filter & { readonly visible?: readonly VisibleObjects[] | undefined };

function isVisible(parts: readonly VisibleObjects[]) {
  const each = parts.map(({ ids, profileIds }) =>
    sql.join(
      [
        ids === undefined ? sql`true` : sql`id = any(${ids})`,
        profileIds === undefined ? sql`true` : sql`(profile_id is null or profile_id = any(${profileIds}))`,
      ],
      sql` and `,
    ),
  );
  return sql<boolean>`(${sql.join(each, sql` or `)})`;
}

/** Selects the rows of a page and one more for {@link toPage}, from a table with `created_at` and `id`. */
export function newestFirst<Tables, From extends keyof Tables, Row>(
  rows: SelectQueryBuilder<Tables, From, Row>,
  { limit, offset, visible }: Seen<Window>,
): SelectQueryBuilder<Tables, From, Row> {
  return (visible === undefined ? rows : rows.where(isVisible(visible)))
    .orderBy(sql.ref("created_at"), "desc")
    .orderBy(sql.ref("id"), "desc")
    .limit(limit + 1)
    .offset(offset);
}

/** The last of `limit + 1` rows only shows that more exist. */
export function toPage<Row, Item>(rows: readonly Row[], window: Window, toItem: (row: Row) => Item): Page<Item> {
  const hasMore = rows.length > window.limit;
  return {
    items: rows.slice(0, window.limit).map(toItem),
    hasMore,
    nextOffset: hasMore ? window.offset + window.limit : undefined,
  };
}

export function emptyPage<Item>(): Page<Item> {
  return { items: [], hasMore: false, nextOffset: undefined };
}

/** PostgreSQL cannot store NUL characters. */
export function isStorable(text: string | undefined): boolean {
  return !text?.includes("\0");
}
