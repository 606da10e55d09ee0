import { type Expression, type RawBuilder, sql, type SqlBool } from "kysely";

/**
 * `text` without case and accents, to compare with a `name_folded` column: `.where("name_folded", "=", folded("Café"))` finds
 * `CAFE`. The server does it (Unicode NFKD, combining marks dropped, lower case), so that both sides are folded alike.
 */
export function folded(text: string): RawBuilder<string> {
  return sql<string>`shoal_fold(${text}::text)`;
}

/** Whether a `name_folded` column holds `text` anywhere, without case and accents; `%` and `_` mean themselves. Null holds nothing. */
export function containsFolded(column: string, text: string): Expression<SqlBool> {
  return sql<SqlBool>`strpos(${sql.ref(column)}, shoal_fold(${text}::text)) > 0`;
}
