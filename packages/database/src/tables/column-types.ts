import type { ColumnType } from "kysely";

/** A `timestamptz(3)`: read as ISO 8601 in UTC with milliseconds, written as that or as a `Date`. */
export type Timestamp = ColumnType<string, string | Date, string | Date>;
/** Defaults to the start of the transaction. */
export type TimestampOfInsert = ColumnType<string, string | Date | undefined, string | Date>;
export type OptionalTimestamp = ColumnType<string | null, string | Date | null | undefined, string | Date | null>;

interface StoredPolicy {
  readonly statements: readonly { readonly action: string; readonly resource: string }[];
}
/** Rights of a key, as JSON; `null` = every right. */
export type PolicyColumn = ColumnType<StoredPolicy | null, string | null | undefined, never>;
