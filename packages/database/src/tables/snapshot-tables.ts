import type { ColumnType } from "kysely";
import type { Timestamp, TimestampOfInsert } from "./column-types.ts";

interface SnapshotsTable {
  id: string;
  project_id: string;
  session_id: string;
  name: string | null;
  engine: string;
  not_exact_because: string | null;
  /** The sealed content. */
  blob: string;
  size_bytes: number;
  /** Of an exact one, in memory before a session starts from it; 0 for others. */
  unpacked_bytes: number;
  paused_ms: number;
  /** Facts of the server that an exact one needs. */
  compatibility: ColumnType<Record<string, string> | null, string | null, never>;
  /** Of the sessions that start from it. The service alone reads them. */
  settings: ColumnType<unknown, string, never>;
  created_at: TimestampOfInsert;
  expires_at: Timestamp;
}

/** Stored states of sessions. */
export interface SnapshotTables {
  snapshots: SnapshotsTable;
}
