import { requireOpenProject } from "./functions.ts";

export const invocations: readonly string[] = [
  // No reference to deployments: an invocation outlives its deployment. Without server_id, it waits in the queue.
  `create table invocations (
    id text collate "C" primary key,
    project_id text collate "C" not null references projects,
    deployment_id text collate "C" not null,
    app_name text collate "C" not null,
    app_name_folded text collate "C" generated always as (shoal_fold(app_name)) stored,
    version text collate "C" not null,
    action_name text collate "C" not null,
    action_name_folded text collate "C" generated always as (shoal_fold(action_name)) stored,
    status text collate "C" not null default 'queued' check (status in ('queued', 'running', 'succeeded', 'failed')),
    status_reason text,
    payload text,
    output text,
    server_id text collate "C",
    is_async boolean not null,
    timeout_seconds integer not null,
    place bigint generated always as identity,
    due_at timestamptz(3),
    max_retries integer not null default 0,
    attempts jsonb not null default '[]',
    started_at timestamptz(3) not null default now(),
    finished_at timestamptz(3),
    constraint invocations_finished check ((finished_at is null) = (status in ('queued', 'running')))
  )`,
  "create index invocations_by_age on invocations (project_id, started_at desc, id)",
  "create index invocations_by_deployment on invocations (deployment_id, started_at desc)",
  "create index invocations_active on invocations (project_id) where finished_at is null and server_id is not null",
  "create index invocations_active_by_server on invocations (server_id) where finished_at is null",
  "create index invocations_waiting on invocations (project_id, place) where finished_at is null and server_id is null",
  "create index invocations_finished_by_age on invocations (finished_at)",
  requireOpenProject("invocations"),
  `create trigger shoal_waits after insert on invocations for each row when (new.server_id is null) execute function shoal_notify()`,
  `create trigger shoal_updates after update on invocations for each row
    when (old.status is distinct from new.status or old.server_id is distinct from new.server_id) execute function shoal_notify()`,

  // The lock makes concurrent admissions wait until the previous one has committed its row.
  `create function shoal_admit_invocation(project text, app text, project_default integer, app_limit integer, organization_limit integer) returns boolean language plpgsql as $$
    declare
      project_limit integer;
      used bigint;
    begin
      perform pg_advisory_xact_lock(1936223073, 27653);
      select coalesce(max_invocations, nullif(project_default, 0)) into project_limit from projects where id = project;
      if project_limit is not null then
        select count(*) into used from invocations where finished_at is null and server_id is not null and project_id = project;
        if used >= project_limit then
          raise exception using errcode = 'SH430', message = 'the project runs all the invocations it may', detail = json_build_object('scope', 'project', 'limit', project_limit, 'used', used)::text;
        end if;
      end if;
      if app_limit > 0 then
        select count(*) into used from invocations where finished_at is null and server_id is not null and project_id = project and app_name = app;
        if used >= app_limit then
          raise exception using errcode = 'SH430', message = 'the app runs all the invocations it may', detail = json_build_object('scope', 'app', 'limit', app_limit, 'used', used)::text;
        end if;
      end if;
      select count(*) into used from invocations where finished_at is null and server_id is not null;
      if used >= organization_limit then
        raise exception using errcode = 'SH430', message = 'the organisation runs all the invocations it may', detail = json_build_object('scope', 'organization', 'limit', organization_limit, 'used', used)::text;
      end if;
      return true;
    end $$`,

  // Lets an invocation wait for its next run, and ends the sessions of the failed one.
  `create function shoal_retry_invocation(invocation text, reason text) returns boolean language plpgsql as $$
    begin
      update invocations set status = 'queued', server_id = null,
          due_at = clock_timestamp() + make_interval(secs => least(300, power(2, jsonb_array_length(attempts)))),
          attempts = attempts || jsonb_build_array(jsonb_build_object('failed_at', clock_timestamp(), 'status_reason', reason))
        where id = invocation and finished_at is null and server_id is not null and jsonb_array_length(attempts) < max_retries;
      if not found then
        return false;
      end if;
      update sessions set invocation_over = true where invocation_id = invocation and ended_at is null;
      return true;
    end $$`,

  `create function shoal_lose_invocations(server text) returns integer language plpgsql as $$
    declare
      reason constant text := 'The server that ran the invocation was lost.';
      invocation text;
      lost integer := 0;
    begin
      for invocation in select id from invocations where server_id = server and finished_at is null loop
        lost := lost + 1;
        if not shoal_retry_invocation(invocation, reason) then
          update invocations set status = 'failed', finished_at = clock_timestamp(), status_reason = reason,
              output = json_build_object('error', reason)::text
            where id = invocation and finished_at is null;
        end if;
      end loop;
      return lost;
    end $$`,

  // Under the lock of admissions. Returns the oldest waiting invocation that may run, now of this server.
  `create function shoal_take_invocation(server text, project_default integer, app_limit integer, organization_limit integer) returns text language plpgsql as $$
    declare
      taken text;
    begin
      perform pg_advisory_xact_lock(1936223073, 27653);
      if (select count(*) from invocations where finished_at is null and server_id is not null) >= organization_limit then
        return null;
      end if;
      with used as (
        select project_id, count(*) as count from invocations where finished_at is null and server_id is not null group by project_id),
      used_by_app as (
        select project_id, app_name, count(*) as count from invocations where finished_at is null and server_id is not null group by project_id, app_name)
      select waiting.id into taken
        from invocations as waiting
        join projects on projects.id = waiting.project_id
        left join used on used.project_id = waiting.project_id
        left join used_by_app on used_by_app.project_id = waiting.project_id and used_by_app.app_name = waiting.app_name
        where waiting.finished_at is null and waiting.server_id is null
          and (waiting.due_at is null or waiting.due_at <= clock_timestamp())
          and coalesce(used.count, 0) < coalesce(projects.max_invocations, nullif(project_default, 0), 2147483647)
          and coalesce(used_by_app.count, 0) < coalesce(nullif(app_limit, 0), 2147483647)
        order by waiting.place limit 1;
      update invocations set server_id = server, due_at = null where id = taken;
      return taken;
    end $$`,

  // Rejects sessions that start while their invocation ends: the shared lock waits for its update.
  `create function shoal_invocation_active() returns trigger language plpgsql as $$
    begin
      perform 1 from invocations where id = new.invocation_id and project_id = new.project_id and finished_at is null for share;
      if not found then
        raise exception using errcode = 'SH409', message = 'the invocation has ended', detail = new.invocation_id;
      end if;
      return new;
    end $$`,
  `create trigger shoal_invocation_active before insert on sessions for each row
    when (new.invocation_id is not null) execute function shoal_invocation_active()`,

  // The secret is sealed; the row in api_keys has its hash.
  `create table deployment_keys (
    deployment_id text collate "C" primary key,
    key_id text collate "C" not null references api_keys,
    secret bytea not null
  )`,
];
