import type { ColumnType } from "kysely";
import type { Timestamp, TimestampOfInsert } from "./column-types.ts";

interface SearchesTable {
  id: string;
  project_id: string;
  /** The answer of `search.create`, JSON. */
  answer: ColumnType<unknown, string, never>;
  created_at: TimestampOfInsert;
  expires_at: Timestamp;
}

/** Answers of searches. */
export interface SearchTables {
  searches: SearchesTable;
}
