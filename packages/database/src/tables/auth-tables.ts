import type { ColumnType, Generated, GeneratedAlways } from "kysely";
import type { OptionalTimestamp, TimestampOfInsert } from "./column-types.ts";

export interface CredentialsTable {
  id: string;
  project_id: string;
  name: string;
  name_folded: GeneratedAlways<string>;
  /** Canonical, with a port if it has one. */
  domain: string;
  /** Further sites on which its values may be typed, canonical. */
  sites: ColumnType<string[], string | undefined, string>;
  sso_provider: string | null;
  /** Sealed: the generator of one-time codes as JSON. */
  totp: Buffer | null;
  created_at: TimestampOfInsert;
  updated_at: TimestampOfInsert;
}

export interface CredentialValuesTable {
  credential_id: string;
  key: string;
  sealed: Buffer;
}

export interface AuthConnectionsTable {
  id: string;
  project_id: string;
  profile_id: string;
  /** Canonical, with a port if it has one. */
  domain: string;
  status: Generated<"AUTHENTICATED" | "NEEDS_AUTH">;
  login_url: string | null;
  post_login_url: Generated<string | null>;
  allowed_domains: ColumnType<string[], string | undefined, string>;
  credential_id: string | null;
  /** Name of a provider instead. */
  credential_provider: Generated<string | null>;
  /** The provider's item; `null` = found by the domain. */
  credential_path: Generated<string | null>;
  proxy_id: string | null;
  proxy_mode: string | null;
  stealth: boolean | null;
  /** As in the request; a telemetry destination by its id. */
  browser_telemetry: ColumnType<Record<string, unknown> | null, string | null | undefined, string | null>;
  telemetry_destination_id: GeneratedAlways<string | null>;
  /** Seconds. */
  health_check_interval: number;
  health_checks: boolean;
  auto_reauth: boolean;
  save_credentials: boolean;
  record_session: boolean;
  /** The latest login; `null` = none yet. */
  flow_id: Generated<string | null>;
  /** `LoginPlan` of the latest login that succeeded. */
  plan: ColumnType<Record<string, unknown> | null, string | null | undefined, string | null>;
  last_auth_check_at: OptionalTimestamp;
  /** The latest login that succeeded; `null` = none yet. */
  signed_in_at: OptionalTimestamp;
  /** `StoredNeeds` of the latest login that succeeded. */
  needs: ColumnType<Record<string, unknown> | null, string | null | undefined, string | null>;
  /** When the service checks the login, or signs in again while the status is `NEEDS_AUTH`. */
  next_check_at: OptionalTimestamp;
  /** The running check; its server loses it when it stops. */
  check_id: Generated<string | null>;
  check_server_id: Generated<string | null>;
  check_started_at: OptionalTimestamp;
  created_at: TimestampOfInsert;
  updated_at: TimestampOfInsert;
}

export interface AuthFlowsTable {
  id: string;
  connection_id: string;
  type: "login" | "reauth" | "health_check";
  status: "IN_PROGRESS" | "SUCCESS" | "FAILED" | "EXPIRED" | "CANCELED" | "AUTHENTICATED" | "NEEDS_AUTH";
  /** Of a health check. */
  previous_status: Generated<"AUTHENTICATED" | "NEEDS_AUTH" | null>;
  /** Of a login. */
  step: "DISCOVERING" | "AWAITING_INPUT" | "AWAITING_EXTERNAL_ACTION" | "SUBMITTING" | "COMPLETED" | null;
  /** Changes with each question. */
  interaction_id: Generated<string | null>;
  question: ColumnType<Record<string, unknown> | null, string | null | undefined, string | null>;
  /** Sealed; the server of the login takes it at once. */
  answer: Generated<Buffer | null>;
  error_code: Generated<string | null>;
  error_message: Generated<string | null>;
  website_error: Generated<string | null>;
  /** For people: what the login could not use, such as a provider that does not answer. */
  note: Generated<string | null>;
  /** The server that runs the login. */
  server_id: Generated<string | null>;
  session_id: Generated<string | null>;
  replay_id: Generated<string | null>;
  telemetry_captured: Generated<boolean>;
  /** Number of exchanged codes. The next code is derived from it. */
  handoffs: Generated<number>;
  /** The latest exchange of a code. */
  handed_off_at: OptionalTimestamp;
  created_at: TimestampOfInsert;
  updated_at: TimestampOfInsert;
  /** Since when the login waits for a person. */
  asked_at: OptionalTimestamp;
  /** Of a login. */
  expires_at: OptionalTimestamp;
}

export interface CredentialProvidersTable {
  id: string;
  project_id: string;
  name: string;
  name_folded: GeneratedAlways<string>;
  provider_type: string;
  /** As the kind of provider defines them. */
  settings: ColumnType<Readonly<Record<string, string>>, string | undefined, string>;
  /** Sealed. */
  token: Buffer;
  cache_ttl_seconds: Generated<number>;
  enabled: Generated<boolean>;
  /** Providers with lower numbers are asked first. */
  priority: Generated<number>;
  /** Changes with every update. */
  revision: Generated<number>;
  created_at: TimestampOfInsert;
  updated_at: TimestampOfInsert;
}
