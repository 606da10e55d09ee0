export const service: readonly string[] = [
  `create table servers (
    id text collate "C" primary key,
    life text collate "C" not null,
    address text,
    addresses text[] not null default '{}',
    version text,
    region text collate "C",
    secret_check bytea,
    draining_since timestamptz(3),
    drain_until timestamptz(3),
    started_at timestamptz(3) not null default now(),
    heartbeat_at timestamptz(3) not null default now()
  )`,
  "create table replica_secret (is_only boolean primary key default true check (is_only), secret bytea not null)",
  `create table jobs (name text collate "C" primary key, ran_at timestamptz(3) not null)`,

  `create table idempotency_keys (
    scope text collate "C" not null,
    key text collate "C" not null,
    fingerprint text not null,
    status integer not null default 0,
    response bytea,
    server_id text collate "C",
    created_at timestamptz(3) not null default now(),
    primary key (scope, key)
  )`,
  "create index idempotency_keys_by_age on idempotency_keys (created_at)",
  "create index idempotency_keys_running on idempotency_keys (server_id) where status = 0",

  // Unlogged: losing the counts in a crash is acceptable.
  `create unlogged table rate_limit_uses (
    server_id text collate "C" not null,
    subject text collate "C" not null,
    used bigint not null,
    began_at timestamptz(3) not null default now(),
    changed_at timestamptz(3) not null default now(),
    primary key (server_id, subject)
  )`,
  "create index rate_limit_uses_changed on rate_limit_uses (changed_at)",
];

export const audit: readonly string[] = [
  // No references: an entry outlives the rows that it names.
  `create table audit_logs (
    sequence bigint primary key,
    id text collate "C" not null,
    at timestamptz(3) not null,
    project_id text collate "C",
    auth_strategy text collate "C" not null,
    user_id text collate "C" not null,
    email text collate "C" not null,
    method text collate "C" not null,
    path text collate "C" not null,
    route text collate "C" not null,
    operation text collate "C" not null,
    status integer not null,
    duration_ms integer not null,
    domain text collate "C" not null,
    client_ip text collate "C" not null,
    user_agent text collate "C" not null,
    request_id text collate "C" not null,
    previous_hash bytea not null,
    hash bytea not null
  )`,
  "create index audit_logs_by_age on audit_logs (at desc, sequence desc)",
  "create index audit_logs_by_project on audit_logs (project_id, at desc, sequence desc)",

  `create table audit_chain (
    is_only boolean primary key default true check (is_only),
    first_sequence bigint not null default 1,
    first_previous_hash bytea not null default decode(repeat('00', 32), 'hex'),
    last_sequence bigint not null default 0,
    last_hash bytea not null default decode(repeat('00', 32), 'hex'),
    broken_at bigint,
    seal bytea
  )`,

  `create table audit_export_destinations (
    id text collate "C" primary key,
    bucket text collate "C" not null,
    prefix text collate "C" not null,
    region text collate "C" not null,
    role_arn text collate "C" not null,
    kms_key_id text collate "C",
    external_id text collate "C" not null,
    status text collate "C" not null default 'paused' check (status in ('active', 'paused')),
    revision bigint not null default 1,
    exported_sequence bigint not null default 0,
    pending_first bigint,
    pending_last bigint,
    pending_name text collate "C",
    lease_server text collate "C",
    lease_until timestamptz(3),
    consecutive_failures integer not null default 0,
    last_error text,
    last_error_at timestamptz(3),
    last_success_at timestamptz(3),
    next_attempt_at timestamptz(3),
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    constraint audit_export_pending_whole check ((pending_first is null) = (pending_last is null) and (pending_first is null) = (pending_name is null))
  )`,
  "create unique index audit_export_destinations_place on audit_export_destinations (bucket, prefix)",
  // Only changes by users: an export also updates its row after each step.
  "create trigger shoal_changes after insert or delete on audit_export_destinations for each row execute function shoal_notify()",
  "create trigger shoal_updates after update of revision on audit_export_destinations for each row execute function shoal_notify()",
];
