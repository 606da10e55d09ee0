import type { ColumnType, Generated, GeneratedAlways } from "kysely";
import type { OptionalTimestamp, TimestampOfInsert } from "./column-types.ts";

export interface VaultsTable {
  id: string;
  project_id: string;
  name: string;
  name_folded: GeneratedAlways<string>;
  /** `kid`, `x` and `y` of its key, which the first read creates. */
  public_key: ColumnType<Record<"kid" | "x" | "y", string> | null, string | undefined, string>;
  /** Sealed: the key as a JWK. */
  private_key: Generated<Buffer | null>;
  created_at: TimestampOfInsert;
  updated_at: TimestampOfInsert;
}

export interface VaultItemsTable {
  id: string;
  vault_id: string;
  key: string;
  /** `ItemDefinition`, without values. */
  definition: ColumnType<Record<string, unknown>, string, string>;
  /** Sealed: the digest of the request that created it. */
  request: Buffer;
  version: Generated<number>;
  /** Number of its latest event. */
  events: Generated<number>;
  /** The link of its form. */
  collection_id: Generated<string | null>;
  /** The link ends with this key. */
  collection_key_id: Generated<string | null>;
  collection_expires_at: OptionalTimestamp;
  created_at: TimestampOfInsert;
  updated_at: TimestampOfInsert;
}

export interface VaultValuesTable {
  item_id: string;
  name: string;
  sealed: Buffer;
}

export interface VaultItemEventsTable {
  item_id: string;
  /** Counts from 1 in each item. */
  number: number;
  id: string;
  name: string;
  session_id: string | null;
  data: ColumnType<Record<string, unknown> | null, string | null, never>;
  created_at: TimestampOfInsert;
}
