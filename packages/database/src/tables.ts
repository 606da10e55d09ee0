import type { ColumnType, Generated, GeneratedAlways } from "kysely";

/**
 * A moment. Read as ISO 8601 in UTC with milliseconds (`2026-01-31T12:00:00.000Z`), which is what the wire carries and
 * what the column keeps: `timestamptz(3)`. Written as such a string or as a `Date`.
 */
export type Timestamp = ColumnType<string, string | Date, string | Date>;
/** A moment that is the start of the inserting transaction unless given. */
export type TimestampOfInsert = ColumnType<string, string | Date | undefined, string | Date>;

/** What keys, profiles and sessions belong to, deleted ones among them. Exactly one row is the default; the first migration makes it. */
export interface ProjectsTable {
  id: string;
  /** Unique among those that were not deleted. */
  name: string;
  /** `name` without case and accents; see `folded`. */
  name_folded: GeneratedAlways<string>;
  is_default: Generated<boolean>;
  status: Generated<"active" | "archived">;
  created_at: TimestampOfInsert;
  updated_at: TimestampOfInsert;
  deleted_at: Timestamp | null;
  /** Sessions that may run at once; `null` = as many as the organisation's default says. */
  max_sessions: number | null;
  /** App invocations that may run at once; `null` = no limit of the project's own. */
  max_invocations: number | null;
}

/** The organisation, one row. */
export interface OrganizationTable {
  id: string;
  is_only: Generated<boolean>;
  /** Sessions of each project that has no limit of its own; 0 = no such limit, `null` = the one in the server's settings. */
  default_max_sessions: number | null;
  created_at: TimestampOfInsert;
}

/** When keys were last used, some seconds late. */
export interface ApiKeyUsesTable {
  key_id: string;
  last_used_at: Timestamp;
}

/** Keys of the API, deleted ones among them. */
export interface ApiKeysTable {
  id: string;
  name: string;
  /** `name` without case and accents; see `folded`. */
  name_folded: GeneratedAlways<string>;
  /** SHA-256 of the key; the key itself is kept nowhere. */
  key_hash: Buffer;
  /** First and last characters of the key. */
  masked_key: string;
  /** The one project that it opens; `null` = all. */
  project_id: string | null;
  created_by_id: string;
  created_by_email: string;
  created_by_name: string | null;
  created_at: TimestampOfInsert;
  /** `null` = never. */
  expires_at: Timestamp | null;
  deleted_at: Timestamp | null;
  /** Days the key was made for, which a rotation takes over; `null` = for ever. */
  lifetime_days: number | null;
}

/** Saved browser states. The states themselves are files. */
export interface ProfilesTable {
  id: string;
  project_id: string;
  /** Unique in the project. */
  name: string | null;
  /** `name` without case and accents; see `folded`. */
  name_folded: GeneratedAlways<string | null>;
  created_at: TimestampOfInsert;
  updated_at: Timestamp | null;
  last_used_at: Timestamp | null;
  /** Its present state in `profile_versions`; `null` while it is empty. */
  version: number | null;
  /** Number of the latest version that was made, 0 before the first. */
  last_version: Generated<number>;
  /** Of the present state, as `size_bytes`. */
  saved_at: ColumnType<string | null, string | Date | null | undefined, string | Date | null>;
  size_bytes: number | null;
  /** Why the latest save failed; `null` when it did not. */
  last_save_error: string | null;
}

/** What was saved in profiles. The archives are blobs. */
export interface ProfileVersionsTable {
  profile_id: string;
  version: number;
  /** Name of the sealed archive among the blobs; several versions may share it. */
  blob: string;
  /** Of the archive before it was sealed. */
  size_bytes: number;
  /** SHA-256 of the archive before it was sealed, hexadecimal. */
  checksum: string;
  source: string;
  session_id: string | null;
  created_at: TimestampOfInsert;
}

/** Browser sessions, ended ones among them. */
export interface SessionsTable {
  id: string;
  project_id: string;
  /** Unique among the project's sessions that have not ended. */
  name: string | null;
  /** `name` without case and accents; see `folded`. */
  name_folded: GeneratedAlways<string | null>;
  tags: Generated<Record<string, string>>;
  /** Kind of placement: `sandbox`, `process`, … */
  placement: string;
  /** The server whose instance it is, see `servers`. */
  server_id: string;
  created_at: TimestampOfInsert;
  timeout_seconds: number;
  headless: boolean;
  stealth: boolean;
  viewport: { width: number; height: number; refresh_rate?: number } | null;
  start_url: string | null;
  /** What its traffic leaves by, as it was called when it was chosen; `null` = nothing was chosen. */
  proxy: Generated<{ id?: string; name?: string; mode?: string } | null>;
  /** The pool that keeps it; `null` = none. */
  pool_id: Generated<string | null>;
  /** As the pool was called when it was leased. */
  pool_name: Generated<string | null>;
  /** `starting` and `warm` ones are the service's own, nobody sees them; `null` without a pool. */
  pool_state: Generated<"starting" | "warm" | "leased" | null>;
  /** The profile that it started from; `null` = none, or one that was deleted since. */
  profile_id: Generated<string | null>;
  /** Number of the state that it started from; `null` = an empty profile. */
  profile_version: Generated<number | null>;
  /** Whether it writes to the profile; one session at a time does. */
  profile_save_changes: Generated<boolean>;
  browser_restarts: Generated<number>;
  /** Where its telemetry is sent, `null` = nowhere; of one that has ended, `null` too once the destination was deleted. */
  telemetry_destination_id: Generated<string | null>;
  /** How its browser is started, where that has no column of its own. */
  options: Generated<{
    kiosk_mode?: true;
    memory?: "1GiB" | "2GiB" | "6GiB" | "8GiB" | "16GiB";
    chrome_policy?: Record<string, unknown>;
    extensions?: readonly string[];
    private_hosts?: readonly string[];
  }>;
  /** Where its server is; `default` where nobody has named it. */
  region: Generated<string>;
  /** What it may take, as it is shown; `null` = from before that was written down. */
  memory: Generated<string | null>;
  /** Set together with `ended_reason`. */
  ended_at: Timestamp | null;
  ended_reason: string | null;
  /** Of the latest start or extension; `null` = it runs for as long as it is used. */
  max_duration_seconds: Generated<number | null>;
  /** When it ends although it is used. */
  ends_at: ColumnType<string | null, string | Date | null | undefined, string | Date | null>;
}

/** Pools of warm browsers. */
export interface BrowserPoolsTable {
  id: string;
  project_id: string;
  /** Unique in the project. */
  name: string | null;
  /** `name` without case and accents; see `folded`. */
  name_folded: GeneratedAlways<string | null>;
  /** Browsers, warm and leased ones together. */
  size: number;
  config: ColumnType<Record<string, unknown>, string, string>;
  /** Out of `config`. */
  telemetry_destination_id: GeneratedAlways<string | null>;
  /** Browsers that may be started beyond the fill rate: they replace others. */
  credits: Generated<number>;
  /** When the fill rate would have been used up, had every start waited for its turn. */
  fill_at: TimestampOfInsert;
  /** Whose servers fill it; `default` where nobody has named any. */
  region: Generated<string>;
  created_at: TimestampOfInsert;
}

/** Who waits for a browser of a pool, in their order. */
export interface BrowserPoolWaitersTable {
  id: string;
  /** Grows with each. */
  place: GeneratedAlways<number>;
  pool_id: string;
  /** The server that has the caller. */
  server_id: string;
  /** From then on it is forgotten, also when its server died. */
  expires_at: Timestamp;
}

/** Proxies, what sessions can leave by. */
export interface ProxiesTable {
  id: string;
  project_id: string;
  /** Need not be unique. */
  name: string | null;
  /** `name` without case and accents; see `folded`. */
  name_folded: GeneratedAlways<string | null>;
  type: string;
  protocol: string;
  bypass_hosts: ColumnType<string[], string, string>;
  /** Without the password. */
  config: ColumnType<Record<string, unknown>, string, string>;
  /** Sealed. */
  password: Buffer | null;
  /** Certificates of its own authority, PEM. */
  ca_bundle: string | null;
  /** What the last check found; `null` = never checked. */
  status: string | null;
  last_checked: Timestamp | null;
  ip_address: string | null;
  created_at: TimestampOfInsert;
}

/** Browser extensions. The archives are blobs. */
export interface ExtensionsTable {
  id: string;
  project_id: string;
  /** Unique in the project. */
  name: string | null;
  /** `name` without case and accents; see `folded`. */
  name_folded: GeneratedAlways<string | null>;
  /** Name of the archive among the blobs. */
  blob: string;
  size_bytes: number;
  /** SHA-256 of the archive, hexadecimal. */
  checksum: string;
  created_at: TimestampOfInsert;
  last_used_at: Timestamp | null;
}

/** OpenTelemetry collectors that sessions' telemetry is sent to. */
export interface TelemetryDestinationsTable {
  id: string;
  project_id: string;
  /** Unique in the project. */
  name: string;
  /** `name` without case and accents; see `folded`. */
  name_folded: GeneratedAlways<string>;
  /** Base address, without `/v1/logs`. */
  endpoint: string;
  description: string | null;
  /** As they were written. */
  header_names: ColumnType<string[], string, string>;
  /** Names and values, sealed; `null` = none. */
  headers: Buffer | null;
  created_at: TimestampOfInsert;
  updated_at: TimestampOfInsert;
}

/** Answers kept for repeated POSTs. A row with status 0 is a request that still runs. */
export interface IdempotencyKeysTable {
  /** Whose key it is, so that two callers may use the same one. */
  scope: string;
  key: string;
  /** Of the request; a repeat with another one is refused. */
  fingerprint: string;
  /** HTTP status of the answer; 0 while there is none. */
  status: Generated<number>;
  response: Buffer | null;
  created_at: TimestampOfInsert;
  /** The server on which the request runs, or ran. */
  server_id: string | null;
}

/** Replicas of the service. One whose heartbeat stops is removed by another, and has lost its sessions. */
export interface ServersTable {
  id: string;
  started_at: TimestampOfInsert;
  heartbeat_at: TimestampOfInsert;
  /** Another one at each registration; empty where an earlier version registered. */
  life: Generated<string>;
  /** Where the others reach it: `http://10.0.0.7:7777`; `null` until it listens. */
  address: string | null;
  version: string | null;
  /** Where it is; `default` where nobody has named it, `null` of a server of a version without regions. */
  region: string | null;
  /** The same on servers whose secrets are the same. */
  secret_check: Buffer | null;
}

/** What servers prove to one another that they belong together with, one row. */
export interface ReplicaSecretTable {
  is_only: Generated<boolean>;
  secret: Buffer;
}

/** When work was last done that one server does for all. */
export interface JobsTable {
  name: string;
  ran_at: Timestamp;
}

/** Who asked what of the service. Entries are only ever added at the end, and removed from the beginning. */
export interface AuditLogsTable {
  /** Place in the chain, from 1 on without a gap. */
  sequence: number;
  id: string;
  /** When the request came. */
  at: Timestamp;
  project_id: string | null;
  auth_strategy: string;
  /** Empty where it is not known, as the other texts. */
  user_id: string;
  email: string;
  method: string;
  path: string;
  route: string;
  /** Name of the operation. */
  operation: string;
  status: number;
  duration_ms: number;
  domain: string;
  client_ip: string;
  user_agent: string;
  request_id: string;
  /** Of the entry before it. */
  previous_hash: Buffer;
  hash: Buffer;
}

/** Both ends of the audit log, one row. */
export interface AuditChainTable {
  is_only: Generated<boolean>;
  first_sequence: Generated<number>;
  first_previous_hash: Generated<Buffer>;
  /** 0 while there was no entry. */
  last_sequence: Generated<number>;
  last_hash: Generated<Buffer>;
  /** The entry that was added when the seal was not the service's own; `null` = it always was. */
  broken_at: number | null;
  /** Both ends, sealed with the service's secret; `null` while there was no entry. */
  seal: Buffer | null;
}

/** Buckets that the audit log is written to as it grows. */
export interface AuditExportDestinationsTable {
  id: string;
  /** Unique together with `prefix`. */
  bucket: string;
  prefix: string;
  region: string;
  role_arn: string;
  /** `null` = the bucket's default. */
  kms_key_id: string | null;
  /** What the role asks for; made with the row, never changed. */
  external_id: string;
  status: Generated<"active" | "paused">;
  /** Grows with each change that somebody asked for. */
  revision: Generated<number>;
  /** Last entry that was written and noted as such; 0 = none. */
  exported_sequence: Generated<number>;
  /** The entries of the object that is being written, set before it is: whoever tries again writes the same one. */
  pending_first: Generated<number | null>;
  pending_last: Generated<number | null>;
  /** Its name, without the prefix. */
  pending_name: Generated<string | null>;
  /** The server that writes now. */
  lease_server: Generated<string | null>;
  /** From then on another one may, also when that server died. */
  lease_until: ColumnType<string | null, string | Date | null | undefined, string | Date | null>;
  consecutive_failures: Generated<number>;
  last_error: Generated<string | null>;
  last_error_at: ColumnType<string | null, string | Date | null | undefined, string | Date | null>;
  last_success_at: ColumnType<string | null, string | Date | null | undefined, string | Date | null>;
  /** When it is looked at again; `null` while it is paused. */
  next_attempt_at: ColumnType<string | null, string | Date | null | undefined, string | Date | null>;
  created_at: TimestampOfInsert;
  updated_at: TimestampOfInsert;
}

/** Requests that a server has let through, by whose limit they count towards; a row goes two minutes after its latest change. */
export interface RateLimitUsesTable {
  server_id: string;
  subject: string;
  used: number;
  began_at: TimestampOfInsert;
  changed_at: TimestampOfInsert;
}

/** Every table of Shoal, for `Kysely<Tables>`. `bigint` (counts) is read as a number. */
export interface Tables {
  projects: ProjectsTable;
  organization: OrganizationTable;
  api_key_uses: ApiKeyUsesTable;
  api_keys: ApiKeysTable;
  profiles: ProfilesTable;
  profile_versions: ProfileVersionsTable;
  sessions: SessionsTable;
  browser_pools: BrowserPoolsTable;
  browser_pool_waiters: BrowserPoolWaitersTable;
  proxies: ProxiesTable;
  extensions: ExtensionsTable;
  telemetry_destinations: TelemetryDestinationsTable;
  idempotency_keys: IdempotencyKeysTable;
  audit_logs: AuditLogsTable;
  audit_chain: AuditChainTable;
  audit_export_destinations: AuditExportDestinationsTable;
  servers: ServersTable;
  replica_secret: ReplicaSecretTable;
  jobs: JobsTable;
  rate_limit_uses: RateLimitUsesTable;
}
