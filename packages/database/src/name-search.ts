import { type Expression, type RawBuilder, sql, type SqlBool } from "kysely";

/** Folds case and accents (Unicode NFKD), for `.where("name_folded", "=", folded("Café"))`. */
export function folded(text: string): RawBuilder<string> {
  return sql<string>`shoal_fold(${text}::text)`;
}

/** Matches rows whose `name_folded` contains `text`. `%` and `_` are literal. */
export function containsFolded(column: string, text: string): Expression<SqlBool> {
  return sql<SqlBool>`strpos(${sql.ref(column)}, shoal_fold(${text}::text)) > 0`;
}
