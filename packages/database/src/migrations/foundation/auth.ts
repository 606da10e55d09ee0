import { notifyChanges, requireOpenProject } from "./functions.ts";

export const auth: readonly string[] = [
  `create table credentials (
    id text collate "C" primary key,
    project_id text collate "C" not null references projects,
    name text collate "C" not null,
    name_folded text collate "C" generated always as (shoal_fold(name)) stored,
    domain text collate "C" not null,
    sso_provider text,
    totp bytea,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    unique (project_id, name)
  )`,
  "create index credentials_by_age on credentials (project_id, created_at desc, id)",
  "create index credentials_by_name on credentials (project_id, name_folded)",
  "create index credentials_by_domain on credentials (project_id, domain)",
  requireOpenProject("credentials"),

  `create table credential_values (
    credential_id text collate "C" not null references credentials on delete cascade,
    key text collate "C" not null,
    sealed bytea not null,
    primary key (credential_id, key)
  )`,

  `create table auth_connections (
    id text collate "C" primary key,
    project_id text collate "C" not null references projects,
    profile_id text collate "C" not null references profiles,
    domain text collate "C" not null,
    status text collate "C" not null default 'NEEDS_AUTH' check (status in ('AUTHENTICATED', 'NEEDS_AUTH')),
    login_url text,
    post_login_url text,
    allowed_domains jsonb not null default '[]',
    credential_id text collate "C" references credentials on delete set null,
    credential_provider text collate "C",
    credential_path text,
    proxy_id text collate "C" references proxies,
    proxy_mode text collate "C",
    stealth boolean,
    browser_telemetry jsonb,
    telemetry_destination_id text collate "C" generated always as (browser_telemetry #>> '{export,otlp,destination,id}') stored
      references telemetry_destinations,
    health_check_interval integer not null,
    health_checks boolean not null,
    auto_reauth boolean not null,
    save_credentials boolean not null,
    record_session boolean not null,
    flow_id text collate "C",
    plan jsonb,
    last_auth_check_at timestamptz(3),
    signed_in_at timestamptz(3),
    needs jsonb,
    next_check_at timestamptz(3),
    check_id text collate "C",
    check_server_id text collate "C",
    check_started_at timestamptz(3),
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    unique (project_id, profile_id, domain)
  )`,
  "create index auth_connections_by_age on auth_connections (project_id, created_at desc, id)",
  "create index auth_connections_by_domain on auth_connections (project_id, domain)",
  "create index auth_connections_by_profile on auth_connections (profile_id)",
  "create index auth_connections_by_credential on auth_connections (credential_id)",
  "create index auth_connections_by_proxy on auth_connections (proxy_id)",
  "create index auth_connections_by_destination on auth_connections (telemetry_destination_id)",
  "create index auth_connections_due on auth_connections (next_check_at) where health_checks",
  "create index auth_connections_checked on auth_connections (profile_id) where check_id is not null",
  requireOpenProject("auth_connections"),

  // Logins and health checks. Only one login of a connection runs at a time.
  `create table auth_flows (
    id text collate "C" primary key,
    connection_id text collate "C" not null references auth_connections on delete cascade,
    type text collate "C" not null check (type in ('login', 'reauth', 'health_check')),
    status text collate "C" not null,
    previous_status text collate "C",
    step text collate "C",
    interaction_id text collate "C",
    question jsonb,
    answer bytea,
    error_code text,
    error_message text,
    website_error text,
    note text,
    server_id text collate "C",
    session_id text collate "C",
    replay_id text collate "C",
    telemetry_captured boolean not null default false,
    handoffs integer not null default 0,
    handed_off_at timestamptz(3),
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    asked_at timestamptz(3),
    expires_at timestamptz(3)
  )`,
  "create index auth_flows_by_age on auth_flows (connection_id, created_at desc, id)",
  "create unique index auth_flows_running on auth_flows (connection_id) where status = 'IN_PROGRESS'",
  "create index auth_flows_running_by_server on auth_flows (server_id) where status = 'IN_PROGRESS'",
  ...notifyChanges("auth_flows"),

  `create function shoal_lose_logins(server text) returns integer language plpgsql as $$
    declare
      lost integer;
    begin
      update auth_flows set status = 'FAILED', step = 'COMPLETED', question = null, interaction_id = null,
          asked_at = null, answer = null, error_code = 'internal_error', updated_at = clock_timestamp(),
          error_message = 'The server that ran the login has stopped. Start the login again.'
        where server_id = server and status = 'IN_PROGRESS';
      get diagnostics lost = row_count;
      return lost;
    end $$`,

  `create table credential_providers (
    id text collate "C" primary key,
    project_id text collate "C" not null references projects,
    name text collate "C" not null,
    name_folded text collate "C" generated always as (shoal_fold(name)) stored,
    provider_type text collate "C" not null,
    settings jsonb not null default '{}',
    token bytea not null,
    cache_ttl_seconds integer not null default 300,
    enabled boolean not null default true,
    priority integer not null default 0,
    revision integer not null default 1,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    unique (project_id, name)
  )`,
  "create index credential_providers_by_priority on credential_providers (project_id, priority, created_at, id)",
  // New rows change nothing that servers keep.
  "create trigger shoal_changes after delete on credential_providers for each row execute function shoal_notify()",
  `create trigger shoal_updates after update on credential_providers for each row when (old.* is distinct from new.*)
    execute function shoal_notify()`,
  requireOpenProject("credential_providers"),
];
