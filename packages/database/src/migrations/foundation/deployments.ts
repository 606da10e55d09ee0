import { notifyChanges, requireOpenProject } from "./functions.ts";

export const deployments: readonly string[] = [
  `create table deployments (
    id text collate "C" primary key,
    project_id text collate "C" not null references projects,
    status text not null check (status in ('queued', 'in_progress', 'running', 'failed', 'stopped')),
    status_reason text,
    version text collate "C" not null,
    force boolean not null,
    region text not null,
    entrypoint text not null,
    source_type text not null check (source_type in ('file', 'github')),
    source_url text,
    source_ref text,
    source_path text,
    source_token bytea,
    source_checksum text collate "C",
    source_blob text collate "C",
    env_names jsonb not null,
    env bytea not null,
    builder text collate "C",
    builder_life text collate "C",
    attempts integer not null default 0,
    artifact text collate "C",
    language text check (language in ('node', 'python')),
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3),
    deleted_at timestamptz(3),
    constraint deployments_running_with_artifact check (status <> 'running' or (artifact is not null and language is not null))
  )`,
  "create index deployments_by_age on deployments (project_id, created_at desc, id) where deleted_at is null",
  "create index deployments_to_build on deployments (created_at) where status in ('queued', 'in_progress')",
  "create index deployments_by_source_blob on deployments (source_blob) where source_blob is not null",
  "create index deployments_by_artifact on deployments (artifact) where artifact is not null",
  ...notifyChanges("deployments"),
  requireOpenProject("deployments"),

  `create table app_versions (
    id text collate "C" primary key,
    project_id text collate "C" not null references projects,
    deployment_id text collate "C" not null references deployments on delete cascade,
    app_name text collate "C" not null,
    app_name_folded text collate "C" generated always as (shoal_fold(app_name)) stored,
    version text collate "C" not null,
    actions jsonb not null,
    schedules jsonb not null default '[]',
    is_current boolean not null,
    created_at timestamptz(3) not null default now(),
    unique (deployment_id, app_name)
  )`,
  "create unique index app_versions_current on app_versions (project_id, app_name, version) where is_current",
  "create index app_versions_by_age on app_versions (project_id, created_at desc, id) where is_current",
  "create index app_versions_by_name on app_versions (project_id, app_name, version)",

  `create table schedules (
    id text collate "C" primary key,
    project_id text collate "C" not null references projects,
    app_name text collate "C" not null,
    version text collate "C" not null,
    action_name text collate "C" not null,
    cron text collate "C" not null,
    time_zone text collate "C" not null,
    payload text,
    origin text not null check (origin in ('code', 'request')),
    is_paused boolean not null default false,
    next_at timestamptz(3),
    last_at timestamptz(3),
    last_invocation_id text collate "C",
    last_problem text,
    created_at timestamptz(3) not null default now()
  )`,
  "create index schedules_by_age on schedules (project_id, created_at desc, id)",
  "create index schedules_due on schedules (next_at) where next_at is not null",
  requireOpenProject("schedules"),

  `create table app_log_chunks (
    id text collate "C" primary key,
    deployment_id text collate "C" not null references deployments on delete cascade,
    invocation_id text collate "C",
    sequence bigint not null generated always as identity,
    last_at timestamptz(3) not null,
    lines text not null
  )`,
  "create index app_log_chunks_by_deployment on app_log_chunks (deployment_id, sequence)",
  "create index app_log_chunks_by_invocation on app_log_chunks (invocation_id, sequence) where invocation_id is not null",
  "create index app_log_chunks_by_age on app_log_chunks (last_at)",
  `create function shoal_notify_app_log() returns trigger language plpgsql as $$
    begin
      perform pg_notify('shoal_changes', 'app_log_chunks:' || coalesce(new.invocation_id, '') || '@' || new.deployment_id);
      return null;
    end $$`,
  "create trigger shoal_changes after insert on app_log_chunks for each row execute function shoal_notify_app_log()",
];
