import type { ColumnType, Generated } from "kysely";
import type { OptionalTimestamp, TimestampOfInsert } from "./column-types.ts";

interface FlowsTable {
  id: string;
  project_id: string;
  name: string;
  /** The latest one. */
  version: Generated<number>;
  start_url: string;
  created_at: TimestampOfInsert;
  updated_at: TimestampOfInsert;
}

interface FlowVersionsTable {
  flow_id: string;
  version: number;
  /** Steps and parameters, JSON. */
  content: ColumnType<unknown, string, never>;
  created_at: TimestampOfInsert;
}

type RunStatus = "running" | "succeeded" | "diverged" | "failed" | "canceled" | "unknown";

interface FlowRunsTable {
  id: string;
  project_id: string;
  flow_id: string;
  flow_version: number;
  status: Generated<RunStatus>;
  row_count: number;
  /** The server that runs it. */
  server_id: string;
  created_at: TimestampOfInsert;
  finished_at: OptionalTimestamp;
}

interface FlowRunRowsTable {
  run_id: string;
  /** Position in the table of the request. */
  index: number;
  status: Generated<RunStatus | "queued" | "waiting">;
  session_id: string | null;
  /** Results of steps, JSON. */
  steps: ColumnType<StoredStep[], string | undefined, string>;
  error: string | null;
}

interface StoredDivergence {
  code: string;
  expected: string;
  seen: string;
  candidates: string[];
  url: string;
  title: string;
  has_picture?: boolean;
}

interface FlowRunPicturesTable {
  run_id: string;
  /** Of the row. */
  index: number;
  step: number;
  jpeg: Buffer;
}

interface StoredStep {
  step: number;
  status: string;
  found_by: string | null;
  duration_ms: number;
  divergence?: StoredDivergence;
}

/** Flows and their runs. */
export interface FlowTables {
  flows: FlowsTable;
  flow_versions: FlowVersionsTable;
  flow_runs: FlowRunsTable;
  flow_run_rows: FlowRunRowsTable;
  flow_run_pictures: FlowRunPicturesTable;
}
