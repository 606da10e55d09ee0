import type { ColumnType, Generated, GeneratedAlways } from "kysely";
import type {
  AppLogChunksTable,
  AppLogTotalsTable,
  AppVersionsTable,
  DeploymentsTable,
  SchedulesTable,
} from "./tables/app-tables.ts";
import type { AuditTables } from "./tables/audit-tables.ts";
import type {
  AuthConnectionsTable,
  AuthFlowsTable,
  CredentialProvidersTable,
  CredentialsTable,
  CredentialValuesTable,
} from "./tables/auth-tables.ts";
import type { ApiKeysTable, ApiKeyUsesTable } from "./tables/api-key-tables.ts";
import type { ConsoleLinksTable, ConsoleSessionsTable, UsersTable } from "./tables/console-tables.ts";
import type { OptionalTimestamp, Timestamp, TimestampOfInsert } from "./tables/column-types.ts";
import type { TelemetryDestinationsTable } from "./tables/telemetry-tables.ts";
import type { FlowTables } from "./tables/flow-tables.ts";
import type { NetworkRecordingTables } from "./tables/network-recording-tables.ts";
import type { SearchTables } from "./tables/search-tables.ts";
import type { RateLimitUsesTable } from "./tables/rate-limit-tables.ts";
import type { SnapshotTables } from "./tables/snapshot-tables.ts";
import type { HandoffsTable, LiveViewLinksTable } from "./tables/handoff-tables.ts";
import type { ProfilesTable, ProfileVersionsTable, StoredWebBotAuth } from "./tables/profile-tables.ts";
import type { UsageDaysTable, UsageSessionsTable, UsageStorageTable } from "./tables/usage-tables.ts";
import type { VaultItemEventsTable, VaultItemsTable, VaultsTable, VaultValuesTable } from "./tables/vault-tables.ts";
import type { WebhookDeliveriesTable, WebhooksTable } from "./tables/webhook-tables.ts";

/** Including deleted ones. Exactly one is the default; the first migration creates it. */
export interface ProjectsTable {
  id: string;
  /** Unique among projects that are not deleted. */
  name: string;
  /** Without case and accents, see `folded`. */
  name_folded: GeneratedAlways<string>;
  is_default: Generated<boolean>;
  status: Generated<"active" | "archived">;
  created_at: TimestampOfInsert;
  updated_at: TimestampOfInsert;
  deleted_at: Timestamp | null;
  /** `null` = the organization's default. */
  max_sessions: number | null;
  max_invocations: number | null;
  network: NetworkRulesColumn;
  /** Of new sessions; `null` = the server's setting. */
  default_telemetry: Generated<readonly string[] | null>;
  default_recording: Generated<boolean | null>;
}

/** `null` = without rules. */
type NetworkRulesColumn = ColumnType<NetworkRuleLists | null, string | null | undefined, string | null>;

interface NetworkRuleLists {
  allow?: readonly string[];
  deny?: readonly string[];
}

export interface OrganizationTable {
  id: string;
  is_only: Generated<boolean>;
  /** For projects without `max_sessions`; 0 = no limit, `null` = the server's setting. */
  default_max_sessions: number | null;
  created_at: TimestampOfInsert;
}

export interface SessionLifecycle {
  readonly start?: string;
  readonly first_used_at?: string;
  readonly sleeps?: number;
  readonly ended_by?: { readonly type: string; readonly id?: string; readonly name?: string };
  readonly ended_detail?: string;
  /** What telemetry captured at the end. */
  readonly captured?: readonly string[];
}

export interface SessionsTable {
  id: string;
  project_id: string;
  name: string | null;
  name_folded: GeneratedAlways<string | null>;
  tags: Generated<Record<string, string>>;
  placement: string;
  server_id: string;
  created_at: TimestampOfInsert;
  timeout_seconds: number;
  headless: boolean;
  stealth: boolean;
  viewport: { width: number; height: number; refresh_rate?: number } | null;
  start_url: string | null;
  /** With the proxy's name at that time; `null` = none was chosen. */
  proxy: Generated<{ id?: string; name?: string; mode?: string } | null>;
  pool_id: Generated<string | null>;
  pool_name: Generated<string | null>;
  /** `starting` and `warm` sessions are invisible to users. */
  pool_state: Generated<"starting" | "warm" | "leased" | null>;
  profile_id: Generated<string | null>;
  /** `null` = started from an empty profile. */
  profile_version: Generated<number | null>;
  /** Only one active session per profile may. */
  profile_save_changes: Generated<boolean>;
  browser_restarts: Generated<number>;
  /** Written at the end. */
  lifecycle: Generated<SessionLifecycle>;
  telemetry_destination_id: Generated<string | null>;
  invocation_id: Generated<string | null>;
  /** For usage; `null` = the service itself started it. */
  api_key_id: Generated<string | null>;
  /** The session must end although the invocation may go on or have succeeded. */
  invocation_over: Generated<boolean>;
  options: Generated<{
    kiosk_mode?: true;
    memory?: "1GiB" | "2GiB" | "6GiB" | "8GiB" | "16GiB";
    chrome_policy?: Record<string, unknown>;
    extensions?: readonly string[];
    private_hosts?: readonly string[];
    network_rules?: NetworkRuleLists;
    web_bot_auth?: StoredWebBotAuth;
  }>;
  region: Generated<string>;
  memory: Generated<string | null>;
  ended_at: Timestamp | null;
  ended_reason: string | null;
  /** No server has files of the ended session: it had none, or all are in `session_files`. */
  files_stored: Generated<boolean>;
  /** From the start or the latest extension; `null` = unlimited while in use. */
  max_duration_seconds: Generated<number | null>;
  /** The session ends then even if in use. */
  ends_at: OptionalTimestamp;
}

export interface SessionFilesTable {
  session_id: string;
  project_id: string;
  kind: "recording" | "telemetry" | "download";
  name: string;
  /** Sealed. */
  description: Buffer;
  /** Before sealing. */
  size_bytes: Generated<number>;
  /** Sealed pieces of `piece_bytes` each, except the last, which may be shorter. */
  blobs: Generated<string[]>;
  /** Before sealing. */
  piece_bytes: number;
  /** The retention begins then. */
  kept_from: TimestampOfInsert;
  /** `null` = incomplete: the session's server has the file. */
  stored_at: OptionalTimestamp;
}

export interface BrowserPoolsTable {
  id: string;
  project_id: string;
  name: string | null;
  name_folded: GeneratedAlways<string | null>;
  size: number;
  config: ColumnType<Record<string, unknown>, string, string>;
  telemetry_destination_id: GeneratedAlways<string | null>;
  /** Starts above the fill rate, to replace other browsers. */
  credits: Generated<number>;
  fill_at: TimestampOfInsert;
  /** The last event of the pool for webhooks. */
  condition: Generated<"new" | "filled" | "empty" | "failing">;
  region: Generated<string>;
  created_at: TimestampOfInsert;
}

export interface BrowserPoolWaitersTable {
  id: string;
  place: GeneratedAlways<number>;
  pool_id: string;
  server_id: string;
  /** The row is ignored afterwards, even if its server died. */
  expires_at: Timestamp;
}

export interface InvocationsTable {
  id: string;
  project_id: string;
  deployment_id: string;
  app_name: string;
  app_name_folded: GeneratedAlways<string>;
  version: string;
  action_name: string;
  action_name_folded: GeneratedAlways<string>;
  status: Generated<"queued" | "running" | "succeeded" | "failed">;
  status_reason: Generated<string | null>;
  /** JSON, up to 4.5 MB, like `output`. */
  payload: Generated<string | null>;
  output: Generated<string | null>;
  /** `null` = it waits in the queue. */
  server_id: string | null;
  is_async: boolean;
  timeout_seconds: number;
  place: GeneratedAlways<number>;
  /** Not before, for a waiting one; `null` = now. */
  due_at: OptionalTimestamp;
  max_retries: Generated<number>;
  /** The failed ones. */
  attempts: ColumnType<readonly InvocationAttempt[], string | undefined, string>;
  started_at: TimestampOfInsert;
  finished_at: OptionalTimestamp;
}

export interface InvocationAttempt {
  readonly failed_at: string;
  readonly status_reason: string;
}

export interface DeploymentKeysTable {
  deployment_id: string;
  key_id: string;
  /** Sealed. */
  secret: Buffer;
}

/** Keys that sign requests of sessions. */
export interface BotKeysTable {
  id: string;
  project_id: string;
  /** Thumbprint of the public key. */
  key_id: string;
  /** `x` of the JSON Web Key. */
  public_key: string;
  /** Sealed `d` of the JSON Web Key. */
  private_key: Buffer;
  created_at: TimestampOfInsert;
  /** `null` for the key that signs. */
  retires_at: Generated<string | null>;
}

export interface ProxiesTable {
  id: string;
  project_id: string;
  name: string | null;
  name_folded: GeneratedAlways<string | null>;
  type: string;
  protocol: string;
  bypass_hosts: ColumnType<string[], string, string>;
  /** Without the password. */
  config: ColumnType<Record<string, unknown>, string, string>;
  /** Sealed. */
  password: Buffer | null;
  ca_bundle: string | null;
  status: string | null;
  last_checked: Timestamp | null;
  ip_address: string | null;
  created_at: TimestampOfInsert;
}

export interface ExtensionsTable {
  id: string;
  project_id: string;
  name: string | null;
  name_folded: GeneratedAlways<string | null>;
  blob: string;
  size_bytes: number;
  checksum: string;
  created_at: TimestampOfInsert;
  last_used_at: Timestamp | null;
}

export interface IdempotencyKeysTable {
  /** Separates callers that use the same key. */
  scope: string;
  key: string;
  /** A repeat with a different one is refused. */
  fingerprint: string;
  /** 0 while the request is running. */
  status: Generated<number>;
  response: Buffer | null;
  created_at: TimestampOfInsert;
  server_id: string | null;
}

/** When a heartbeat stops, another server removes the row and ends the sessions. */
export interface ServersTable {
  id: string;
  started_at: TimestampOfInsert;
  heartbeat_at: TimestampOfInsert;
  /** Changes with each registration of the server. */
  life: string;
  /** For other servers; `null` until it listens. */
  address: string | null;
  /** Of its machine: sessions of all servers are kept away from them. */
  addresses: Generated<string[]>;
  version: string | null;
  region: string | null;
  draining_since: OptionalTimestamp;
  /** `null` = until the operator stops the server. */
  drain_until: OptionalTimestamp;
  /** Equal on servers with equal secrets. */
  secret_check: Buffer | null;
}

/** Servers authenticate to each other with it. One row. */
export interface ReplicaSecretTable {
  is_only: Generated<boolean>;
  secret: Buffer;
}

export interface JobsTable {
  name: string;
  ran_at: Timestamp;
}

export interface Tables extends AuditTables, FlowTables, NetworkRecordingTables, SearchTables, SnapshotTables {
  projects: ProjectsTable;
  organization: OrganizationTable;
  api_key_uses: ApiKeyUsesTable;
  api_keys: ApiKeysTable;
  profiles: ProfilesTable;
  profile_versions: ProfileVersionsTable;
  sessions: SessionsTable;
  session_files: SessionFilesTable;
  browser_pools: BrowserPoolsTable;
  browser_pool_waiters: BrowserPoolWaitersTable;
  invocations: InvocationsTable;
  deployment_keys: DeploymentKeysTable;
  proxies: ProxiesTable;
  bot_keys: BotKeysTable;
  extensions: ExtensionsTable;
  telemetry_destinations: TelemetryDestinationsTable;
  idempotency_keys: IdempotencyKeysTable;
  servers: ServersTable;
  replica_secret: ReplicaSecretTable;
  jobs: JobsTable;
  deployments: DeploymentsTable;
  app_versions: AppVersionsTable;
  app_log_chunks: AppLogChunksTable;
  app_log_totals: AppLogTotalsTable;
  schedules: SchedulesTable;
  rate_limit_uses: RateLimitUsesTable;
  usage_sessions: UsageSessionsTable;
  usage_days: UsageDaysTable;
  usage_storage: UsageStorageTable;
  credentials: CredentialsTable;
  credential_values: CredentialValuesTable;
  auth_connections: AuthConnectionsTable;
  auth_flows: AuthFlowsTable;
  credential_providers: CredentialProvidersTable;
  vaults: VaultsTable;
  vault_items: VaultItemsTable;
  vault_values: VaultValuesTable;
  vault_item_events: VaultItemEventsTable;
  webhooks: WebhooksTable;
  webhook_deliveries: WebhookDeliveriesTable;
  handoffs: HandoffsTable;
  live_view_links: LiveViewLinksTable;
  console_sessions: ConsoleSessionsTable;
  console_links: ConsoleLinksTable;
  users: UsersTable;
}
