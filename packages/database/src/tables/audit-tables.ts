import type { Generated } from "kysely";
import type { OptionalTimestamp, Timestamp, TimestampOfInsert } from "./column-types.ts";

/** Entries are only appended at the end and removed from the beginning. */
export interface AuditLogsTable {
  /** From 1 without gaps. */
  sequence: number;
  id: string;
  at: Timestamp;
  project_id: string | null;
  auth_strategy: string;
  /** Empty if unknown, like the other texts. */
  user_id: string;
  email: string;
  method: string;
  path: string;
  route: string;
  operation: string;
  status: number;
  duration_ms: number;
  domain: string;
  client_ip: string;
  user_agent: string;
  request_id: string;
  previous_hash: Buffer;
  hash: Buffer;
}

/** Both ends of the audit log. One row. */
interface AuditChainTable {
  is_only: Generated<boolean>;
  first_sequence: Generated<number>;
  first_previous_hash: Generated<Buffer>;
  last_sequence: Generated<number>;
  last_hash: Generated<Buffer>;
  /** First entry after the seal did not match; `null` = it always matched. */
  broken_at: number | null;
  /** Both ends, sealed with the service's secret; `null` before the first entry. */
  seal: Buffer | null;
}

export interface AuditExportDestinationsTable {
  id: string;
  bucket: string;
  prefix: string;
  region: string;
  role_arn: string;
  kms_key_id: string | null;
  /** The role requires it; never changes. */
  external_id: string;
  status: Generated<"active" | "paused">;
  /** Increases with each change by a user. */
  revision: Generated<number>;
  exported_sequence: Generated<number>;
  /** Stored before the upload, so that a retry writes the same object. */
  pending_first: Generated<number | null>;
  pending_last: Generated<number | null>;
  pending_name: Generated<string | null>;
  lease_server: Generated<string | null>;
  /** Another server may export afterwards. */
  lease_until: OptionalTimestamp;
  consecutive_failures: Generated<number>;
  last_error: Generated<string | null>;
  last_error_at: OptionalTimestamp;
  last_success_at: OptionalTimestamp;
  /** `null` while it is paused. */
  next_attempt_at: OptionalTimestamp;
  created_at: TimestampOfInsert;
  updated_at: TimestampOfInsert;
}

export interface AuditTables {
  audit_logs: AuditLogsTable;
  audit_chain: AuditChainTable;
  audit_export_destinations: AuditExportDestinationsTable;
}
