import type { ColumnType, Generated, GeneratedAlways } from "kysely";
import type { Timestamp, TimestampOfInsert } from "./column-types.ts";

interface StoredLocation {
  timezone?: string;
  locale?: string;
}

export interface StoredWebBotAuth {
  enabled: boolean;
  sign_only?: string[] | undefined;
  signature_agent?: string | undefined;
}

export interface ProfilesTable {
  id: string;
  project_id: string;
  name: string | null;
  name_folded: GeneratedAlways<string | null>;
  created_at: TimestampOfInsert;
  updated_at: Timestamp | null;
  last_used_at: Timestamp | null;
  /** In `profile_versions`; `null` while the profile is empty. */
  version: number | null;
  last_version: Generated<number>;
  saved_at: ColumnType<string | null, string | Date | null | undefined, string | Date | null>;
  size_bytes: number | null;
  last_save_error: string | null;
  web_bot_auth: ColumnType<StoredWebBotAuth | null, string | null | undefined, string | null>;
  location: ColumnType<StoredLocation | null, string | null | undefined, string | null>;
  /** `BrowserConditions` of the contract. */
  conditions: ColumnType<Readonly<Record<string, unknown>> | null, string | null | undefined, string | null>;
}

export interface ProfileVersionsTable {
  profile_id: string;
  version: number;
  /** With the sealed archive; versions may share it. */
  blob: string;
  /** Before sealing. */
  size_bytes: number;
  /** Hexadecimal SHA-256 before sealing. */
  checksum: string;
  source: string;
  session_id: string | null;
  created_at: TimestampOfInsert;
}
