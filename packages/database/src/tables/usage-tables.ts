import type { ColumnType, Generated } from "kysely";
import type { OptionalTimestamp, Timestamp } from "./column-types.ts";

/** Sessions in use and just ended ones. The triggers of `sessions` write the start and the end. */
export interface UsageSessionsTable {
  session_id: string;
  project_id: string;
  /** `null` = the service itself started it. */
  api_key_id: string | null;
  server_id: string;
  started_at: Timestamp;
  /** The latest sign of life, which is the end of a lost session. */
  seen_at: OptionalTimestamp;
  ended_at: OptionalTimestamp;
  /** `usage_days` contains its time up to this moment. */
  charged_at: OptionalTimestamp;
  bytes_sent: Generated<number>;
  bytes_received: Generated<number>;
  charged_sent: Generated<number>;
  charged_received: Generated<number>;
}

/** Sums of one UTC day. */
export interface UsageDaysTable {
  date: ColumnType<string, string, string>;
  project_id: string;
  /** `project`: the sum of all keys, with an empty `api_key_id`. */
  scope: "project" | "api_key";
  /** Empty for sessions that the service itself started. */
  api_key_id: Generated<string>;
  session_ms: Generated<number>;
  sessions_started: Generated<number>;
  peak_sessions: Generated<number>;
  bytes_sent: Generated<number>;
  bytes_received: Generated<number>;
  /** The largest measured value of the day; only in rows of projects. */
  storage_bytes: Generated<number>;
}

/** Files of projects in the folders of servers. */
export interface UsageStorageTable {
  server_id: string;
  project_id: string;
  bytes: number;
}
