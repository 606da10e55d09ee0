import type { Generated, GeneratedAlways } from "kysely";
import type { PolicyColumn, Timestamp, TimestampOfInsert } from "./column-types.ts";

/** Updated with a delay of some seconds. */
export interface ApiKeyUsesTable {
  key_id: string;
  last_used_at: Timestamp;
}

export interface ApiKeysTable {
  id: string;
  name: string;
  name_folded: GeneratedAlways<string>;
  /** SHA-256 of the key, which is not stored. */
  key_hash: Buffer;
  masked_key: string;
  /** `null` = all projects. */
  project_id: string | null;
  created_by_id: string;
  created_by_email: string;
  created_by_name: string | null;
  created_at: TimestampOfInsert;
  expires_at: Timestamp | null;
  deleted_at: Timestamp | null;
  /** For rotations; `null` = unlimited. */
  lifetime_days: number | null;
  deployment_id: Generated<string | null>;
  /** `null` = every right. Never changes. */
  policy: PolicyColumn;
  /** Of the key of an app: the limited key with which it ends. */
  issuer_key_id: Generated<string | null>;
}
