import type { ColumnType, Generated, GeneratedAlways } from "kysely";
import type { OptionalTimestamp, PolicyColumn, Timestamp, TimestampOfInsert } from "./column-types.ts";

export interface DeploymentsTable {
  id: string;
  project_id: string;
  status: "queued" | "in_progress" | "running" | "failed" | "stopped";
  status_reason: Generated<string | null>;
  /** Label of the app versions that it creates. */
  version: string;
  force: boolean;
  region: string;
  entrypoint: string;
  source_type: "file" | "github";
  source_url: Generated<string | null>;
  source_ref: Generated<string | null>;
  source_path: Generated<string | null>;
  /** Sealed; `null` once the source is fetched. */
  source_token: Generated<Buffer | null>;
  source_checksum: Generated<string | null>;
  /** The archive; `null` before a fetch, and after the build. */
  source_blob: Generated<string | null>;
  env_names: ColumnType<string[], string, string>;
  /** A JSON object, sealed. */
  env: Buffer;
  /** Server that builds it, and the `life` of that server. */
  builder: Generated<string | null>;
  builder_life: Generated<string | null>;
  /** Builds that began. */
  attempts: Generated<number>;
  artifact: Generated<string | null>;
  language: Generated<"node" | "python" | null>;
  /** Of the key that made the deployment, and of the key of the deployment. */
  policy: PolicyColumn;
  /** The limited key that made the deployment. */
  issuer_key_id: Generated<string | null>;
  created_at: TimestampOfInsert;
  updated_at: OptionalTimestamp;
  deleted_at: OptionalTimestamp;
}

/** The newest version of each app and label is current, unless its deployment was deleted. */
export interface AppVersionsTable {
  id: string;
  project_id: string;
  deployment_id: string;
  app_name: string;
  app_name_folded: GeneratedAlways<string>;
  version: string;
  actions: ColumnType<AppActionColumn[], string, string>;
  /** Those of the code. */
  schedules: ColumnType<DeclaredScheduleColumn[], string | undefined, string>;
  is_current: boolean;
  created_at: TimestampOfInsert;
}

export interface DeclaredScheduleColumn {
  readonly action_name: string;
  readonly cron: string;
  readonly time_zone: string;
  /** JSON. */
  readonly payload?: string | undefined;
}

export interface AppActionColumn {
  readonly name: string;
  readonly input_schema?: Record<string, unknown> | null;
  readonly output_schema?: Record<string, unknown> | null;
}

/** Triggers write it. */
export interface AppLogTotalsTable {
  deployment_id: string;
  /** Of its lines, with 256 for each chunk. */
  bytes: number;
}

export interface AppLogChunksTable {
  id: string;
  deployment_id: string;
  /** `null` = lines of the build. */
  invocation_id: string | null;
  /** Increases within a deployment in the order of commits. */
  sequence: GeneratedAlways<number>;
  last_at: Timestamp;
  /** One JSON array per line. */
  lines: string;
}

interface StoredFlowStart {
  /** The key of the caller, whose rights count at each due time. */
  key_id: string;
  /** As the caller saw the service. */
  base_url: string;
  /** Of a person: the role of the token that created the schedule. */
  role?: "viewer" | "operator" | "admin";
  /** Input of `flows.runs.create`. */
  run: Record<string, unknown>;
}

export interface SchedulesTable {
  id: string;
  project_id: string;
  /** `null` for a flow. */
  app_name: string | null;
  /** `null` for a flow. */
  version: string | null;
  /** `null` for a flow. */
  action_name: string | null;
  /** `null` for an app. */
  flow_id: Generated<string | null>;
  /** How the flow starts; `null` for an app. */
  flow_start: ColumnType<StoredFlowStart | null, string | null | undefined, never>;
  cron: string;
  time_zone: string;
  /** JSON. */
  payload: string | null;
  /** `code` = an action of the app declares it. */
  origin: "code" | "request";
  is_paused: Generated<boolean>;
  /** `null` while it is paused. */
  next_at: ColumnType<string | null, string | Date | null, string | Date | null>;
  last_at: OptionalTimestamp;
  last_invocation_id: Generated<string | null>;
  last_flow_run_id: Generated<string | null>;
  /** Why the last due time started nothing. */
  last_problem: Generated<string | null>;
  created_at: TimestampOfInsert;
}
