import { notifyChanges, requireOpenProject } from "./functions.ts";

export const resources: readonly string[] = [
  `create table profiles (
    id text collate "C" primary key,
    project_id text collate "C" not null references projects,
    name text collate "C",
    name_folded text collate "C" generated always as (shoal_fold(name)) stored,
    version integer,
    last_version integer not null default 0,
    size_bytes bigint,
    last_save_error text,
    web_bot_auth jsonb,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3),
    saved_at timestamptz(3),
    last_used_at timestamptz(3),
    unique (project_id, name)
  )`,
  "create index profiles_by_age on profiles (project_id, created_at desc, id)",
  "create index profiles_by_name on profiles (project_id, name_folded)",
  ...notifyChanges("profiles"),
  requireOpenProject("profiles"),

  `create table profile_versions (
    profile_id text collate "C" not null references profiles on delete cascade,
    version integer not null check (version > 0),
    blob text collate "C" not null,
    size_bytes bigint not null,
    checksum text collate "C" not null,
    source text not null,
    session_id text collate "C",
    created_at timestamptz(3) not null default now(),
    primary key (profile_id, version)
  )`,
  // Copied and rolled-back profiles share the blob of another version.
  "create index profile_versions_by_blob on profile_versions (blob)",

  `create table proxies (
    id text collate "C" primary key,
    project_id text collate "C" not null references projects,
    name text collate "C",
    name_folded text collate "C" generated always as (shoal_fold(name)) stored,
    type text not null,
    protocol text not null,
    bypass_hosts jsonb not null default '[]',
    config jsonb not null,
    password bytea,
    ca_bundle text collate "C",
    status text,
    last_checked timestamptz(3),
    ip_address text,
    created_at timestamptz(3) not null default now()
  )`,
  "create index proxies_by_age on proxies (project_id, created_at desc, id)",
  "create index proxies_by_name on proxies (project_id, name_folded)",
  requireOpenProject("proxies"),

  `create table bot_keys (
    id text collate "C" primary key,
    project_id text collate "C" not null references projects on delete cascade,
    key_id text collate "C" not null unique,
    public_key text collate "C" not null,
    private_key bytea not null,
    created_at timestamptz(3) not null default now(),
    retires_at timestamptz(3)
  )`,
  "create unique index bot_keys_signing on bot_keys (project_id) where retires_at is null",
  "create index bot_keys_by_age on bot_keys (created_at desc)",
  requireOpenProject("bot_keys"),

  `create table extensions (
    id text collate "C" primary key,
    project_id text collate "C" not null references projects,
    name text collate "C",
    name_folded text collate "C" generated always as (shoal_fold(name)) stored,
    blob text collate "C" not null,
    size_bytes bigint not null,
    checksum text collate "C" not null,
    created_at timestamptz(3) not null default now(),
    last_used_at timestamptz(3),
    unique (project_id, name)
  )`,
  "create index extensions_by_age on extensions (project_id, created_at desc, id)",
  "create index extensions_by_name on extensions (project_id, name_folded)",
  requireOpenProject("extensions"),

  `create table telemetry_destinations (
    id text collate "C" primary key,
    project_id text collate "C" not null references projects,
    name text collate "C" not null,
    name_folded text collate "C" generated always as (shoal_fold(name)) stored,
    endpoint text not null,
    description text,
    header_names jsonb not null default '[]',
    headers bytea,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    unique (project_id, name)
  )`,
  "create index telemetry_destinations_by_age on telemetry_destinations (project_id, created_at desc, id)",
  "create index telemetry_destinations_by_name on telemetry_destinations (project_id, name_folded)",
  ...notifyChanges("telemetry_destinations"),
  requireOpenProject("telemetry_destinations"),
];
