import type { ColumnType, Generated, GeneratedAlways } from "kysely";
import type { OptionalTimestamp, TimestampOfInsert } from "./column-types.ts";

export interface TelemetryDestinationsTable {
  id: string;
  project_id: string;
  name: string;
  name_folded: GeneratedAlways<string>;
  /** Without `/v1/logs`. */
  endpoint: string;
  description: string | null;
  header_names: ColumnType<string[], string, string>;
  /** Sealed. */
  headers: Buffer | null;
  consecutive_failures: Generated<number>;
  last_export_at: OptionalTimestamp;
  last_error: Generated<string | null>;
  last_error_at: OptionalTimestamp;
  created_at: TimestampOfInsert;
  updated_at: TimestampOfInsert;
}
