import type { Generated } from "kysely";
import type { OptionalTimestamp, TimestampOfInsert } from "./column-types.ts";

interface NetworkRecordingsTable {
  id: string;
  project_id: string;
  session_id: string;
  /** The server of the session. */
  server_id: string;
  /** The sealed content; `null` while it runs, or if it failed. */
  blob: string | null;
  size_bytes: Generated<number>;
  requests: Generated<number>;
  left_out: Generated<number>;
  truncated: Generated<boolean>;
  /** Of `Math.random`. */
  seed: number | null;
  created_at: TimestampOfInsert;
  finished_at: OptionalTimestamp;
  expires_at: OptionalTimestamp;
}

/** Network recordings of sessions. */
export interface NetworkRecordingTables {
  network_recordings: NetworkRecordingsTable;
}
