import { notifyChanges, requireOpenProject } from "./functions.ts";

export const organization: readonly string[] = [
  `create table organization (
    id text collate "C" primary key,
    is_only boolean not null default true unique check (is_only),
    default_max_sessions integer check (default_max_sessions >= 0),
    created_at timestamptz(3) not null default now()
  )`,

  `create table projects (
    id text collate "C" primary key,
    name text collate "C" not null,
    name_folded text collate "C" generated always as (shoal_fold(name)) stored,
    is_default boolean not null default false,
    status text not null default 'active' check (status in ('active', 'archived')),
    max_sessions integer check (max_sessions > 0),
    max_invocations integer check (max_invocations > 0),
    network jsonb,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    deleted_at timestamptz(3)
  )`,
  "create unique index projects_one_default on projects (is_default) where is_default",
  "create unique index projects_present_name on projects (name) where deleted_at is null",
  "create index projects_by_age on projects (created_at desc, id desc) where deleted_at is null",
  ...notifyChanges("projects"),

  `create table api_keys (
    id text collate "C" primary key,
    name text collate "C" not null,
    name_folded text collate "C" generated always as (shoal_fold(name)) stored,
    key_hash bytea not null unique,
    masked_key text collate "C" not null,
    project_id text collate "C" references projects,
    created_by_id text collate "C" not null,
    created_by_email text not null,
    created_by_name text,
    created_at timestamptz(3) not null default now(),
    expires_at timestamptz(3),
    deleted_at timestamptz(3),
    lifetime_days integer,
    deployment_id text collate "C"
  )`,
  "create index api_keys_by_age on api_keys (created_at desc, id)",
  "create index api_keys_by_name on api_keys (name_folded)",
  ...notifyChanges("api_keys"),
  requireOpenProject("api_keys"),

  // A separate table: an update of api_keys evicts the key from every server's cache.
  `create table api_key_uses (
    key_id text collate "C" primary key references api_keys,
    last_used_at timestamptz(3) not null
  )`,
];
