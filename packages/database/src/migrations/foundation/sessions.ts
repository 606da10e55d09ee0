import { requireOpenProject } from "./functions.ts";

export const sessions: readonly string[] = [
  `create table browser_pools (
    id text collate "C" primary key,
    project_id text collate "C" not null references projects,
    name text collate "C",
    name_folded text collate "C" generated always as (shoal_fold(name)) stored,
    size bigint not null check (size > 0),
    config jsonb not null,
    telemetry_destination_id text collate "C" generated always as (config ->> 'telemetry_destination_id') stored
      references telemetry_destinations,
    region text collate "C" not null default 'default',
    credits bigint not null default 0,
    fill_at timestamptz(3) not null default now(),
    condition text not null default 'new' check (condition in ('new', 'filled', 'empty', 'failing')),
    created_at timestamptz(3) not null default now(),
    unique (project_id, name)
  )`,
  "create index browser_pools_by_age on browser_pools (project_id, created_at desc, id)",
  "create index browser_pools_by_name on browser_pools (project_id, name_folded)",
  "create index browser_pools_by_telemetry_destination on browser_pools (telemetry_destination_id) where telemetry_destination_id is not null",
  "create trigger shoal_changes after insert or delete on browser_pools for each row execute function shoal_notify()",
  "create trigger shoal_updates after update of name, size, config on browser_pools for each row execute function shoal_notify()",
  requireOpenProject("browser_pools"),

  `create table browser_pool_waiters (
    id text collate "C" primary key,
    place bigint generated always as identity,
    pool_id text collate "C" not null references browser_pools on delete cascade,
    server_id text collate "C" not null,
    expires_at timestamptz(3) not null
  )`,
  "create index browser_pool_waiters_by_pool on browser_pool_waiters (pool_id, place)",

  // No references to proxies, pools and invocations, which may be deleted. A profile cannot be deleted while a session uses it.
  `create table sessions (
    id text collate "C" primary key,
    project_id text collate "C" not null references projects,
    name text collate "C",
    name_folded text collate "C" generated always as (shoal_fold(name)) stored,
    tags jsonb not null default '{}',
    placement text not null,
    server_id text collate "C" not null,
    region text collate "C" not null default 'default',
    timeout_seconds integer not null,
    max_duration_seconds integer,
    headless boolean not null,
    stealth boolean not null,
    viewport jsonb,
    memory text,
    start_url text,
    options jsonb not null default '{}',
    proxy jsonb,
    profile_id text collate "C" references profiles on delete set null,
    profile_version integer,
    profile_save_changes boolean not null default false,
    telemetry_destination_id text collate "C" references telemetry_destinations on delete set null,
    pool_id text collate "C",
    pool_name text,
    pool_state text check (pool_state in ('starting', 'warm', 'leased')),
    invocation_id text collate "C",
    api_key_id text collate "C",
    invocation_over boolean not null default false,
    browser_restarts integer not null default 0,
    lifecycle jsonb not null default '{}',
    created_at timestamptz(3) not null default now(),
    ends_at timestamptz(3),
    ended_at timestamptz(3),
    ended_reason text,
    files_stored boolean not null default false,
    constraint sessions_ended_with_reason check ((ended_at is null) = (ended_reason is null)),
    constraint sessions_pool_with_state check ((pool_id is null) = (pool_state is null))
  )`,
  "create unique index sessions_active_name on sessions (project_id, name) where ended_at is null",
  "create index sessions_by_age on sessions (project_id, created_at desc, id)",
  "create index sessions_active_by_age on sessions (project_id, created_at desc, id) where ended_at is null",
  "create index sessions_active_by_server on sessions (server_id) where ended_at is null",
  "create index sessions_active_by_pool on sessions (pool_id) where ended_at is null and pool_id is not null",
  "create index sessions_active_by_invocation on sessions (invocation_id) where ended_at is null and invocation_id is not null",
  "create index sessions_by_tags on sessions using gin (tags jsonb_path_ops)",
  "create index sessions_by_profile on sessions (profile_id) where profile_id is not null",
  "create index sessions_by_telemetry_destination on sessions (telemetry_destination_id) where telemetry_destination_id is not null",
  // One writer at a time across all servers. Ending the session releases it, even if its server died.
  "create unique index sessions_profile_writer on sessions (profile_id) where profile_save_changes and ended_at is null",
  requireOpenProject("sessions"),

  `create function shoal_notify_pool() returns trigger language plpgsql as $$
    begin
      perform pg_notify('shoal_changes', 'browser_pools:' || old.pool_id);
      return null;
    end $$`,
  `create trigger shoal_pool_left after update of ended_at on sessions for each row
    when (old.pool_id is not null and old.ended_at is null and new.ended_at is not null) execute function shoal_notify_pool()`,
  "create trigger shoal_pool_removed after delete on sessions for each row when (old.pool_id is not null) execute function shoal_notify_pool()",

  // Running sessions of a project outside of pools, of a pool, and for '' of all projects outside of pools.
  `create table session_counts (
    counted text collate "C" primary key,
    running bigint not null
  ) with (fillfactor = 50)`,
  // Changes that are not yet in the counts. Ends only add rows: writing the counts, they would wait for each other.
  `create table session_count_changes (
    project_id text collate "C" not null,
    pool_id text collate "C",
    change integer not null
  )`,
  `create function shoal_count_session() returns trigger language plpgsql as $$
    begin
      if tg_op <> 'INSERT' and old.ended_at is null then
        insert into session_count_changes values (old.project_id, old.pool_id, -1);
      end if;
      if tg_op <> 'DELETE' and new.ended_at is null then
        insert into session_count_changes values (new.project_id, new.pool_id, 1);
      end if;
      return null;
    end $$`,
  "create trigger shoal_session_counted after insert or delete on sessions for each row execute function shoal_count_session()",
  `create trigger shoal_session_recounted after update of ended_at, pool_id on sessions for each row
    when (old.ended_at is distinct from new.ended_at or old.pool_id is distinct from new.pool_id) execute function shoal_count_session()`,

  // A pool counts with its size, or with its running sessions if it was made smaller.
  `create function shoal_used_sessions(project text) returns bigint language sql stable as $$
    select (coalesce((select running from session_counts where counted = coalesce(project, '')), 0)
      + coalesce((select sum(change) from session_count_changes where pool_id is null and (project is null or project_id = project)), 0)
      + coalesce((select sum(greatest(size, coalesce((select running from session_counts where counted = browser_pools.id), 0) + coalesce(pending, 0)))
         from browser_pools
         left join (select pool_id, sum(change) as pending from session_count_changes group by pool_id) as changes on changes.pool_id = browser_pools.id
         where project is null or project_id = project), 0))::bigint
  $$`,

  // Moves the changes into the counts. Callers hold the lock below.
  `create function shoal_apply_session_changes() returns void language plpgsql as $$
    declare
      empty text[];
    begin
      with applied as (delete from session_count_changes returning project_id, pool_id, change),
        sums as (
          select coalesce(pool_id, project_id) as counted, sum(change) as change from applied group by 1
          union all select '', sum(change) from applied where pool_id is null having count(*) > 0),
        written as (
          insert into session_counts as counts select counted, change from sums where change <> 0 order by counted
          on conflict (counted) do update set running = counts.running + excluded.running
          returning counted, running)
      select array_agg(counted) into empty from written where running = 0;
      if empty is not null then
        delete from session_counts where counted = any(empty);
      end if;
    end $$`,

  // Its time does not depend on the number of running sessions, because all creates wait for this lock.
  `create function shoal_admit_sessions(project text, project_default integer, organization_limit integer, wanted bigint) returns boolean language plpgsql as $$
    declare
      project_limit integer;
      used bigint;
    begin
      perform pg_advisory_xact_lock(1936223073, 27650);
      perform shoal_apply_session_changes();
      select coalesce(projects.max_sessions, nullif(coalesce(organization.default_max_sessions, project_default), 0)) into project_limit
        from projects cross join organization where projects.id = project;
      used := shoal_used_sessions(project);
      if used + wanted > project_limit then
        raise exception using errcode = 'SH429', message = 'the project runs all the sessions it may', detail = json_build_object('scope', 'project', 'limit', project_limit, 'used', used)::text;
      end if;
      used := shoal_used_sessions(null);
      if used + wanted > organization_limit then
        raise exception using errcode = 'SH429', message = 'the organisation runs all the sessions it may', detail = json_build_object('scope', 'organization', 'limit', organization_limit, 'used', used)::text;
      end if;
      return true;
    end $$`,
  `create function shoal_admit_session(project text, project_default integer, organization_limit integer) returns boolean language plpgsql as $$
    begin
      return shoal_admit_sessions(project, project_default, organization_limit, 1);
    end $$`,

  // Files of sessions, in the store for blobs once `stored_at` is set. The session's server announces recordings before.
  `create table session_files (
    session_id text collate "C" not null references sessions on delete cascade,
    project_id text collate "C" not null,
    kind text collate "C" not null check (kind in ('recording', 'telemetry', 'download')),
    name text collate "C" not null,
    description bytea not null,
    size_bytes bigint not null default 0,
    blobs text[] collate "C" not null default '{}',
    piece_bytes integer not null check (piece_bytes > 0),
    kept_from timestamptz(3) not null default now(),
    stored_at timestamptz(3),
    primary key (session_id, kind, name)
  )`,
  "create index session_files_by_project on session_files (project_id, kind)",
  "create index session_files_by_age on session_files (kind, kept_from)",
  "create index session_files_by_blob on session_files using gin (blobs)",
];
