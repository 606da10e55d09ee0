import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** Browser pools, who waits for a browser of one, and their part of the limits. */
export const browserPools: Migration = {
  id: "0005_browser_pools",
  async up(query) {
    await sql`
      create table browser_pools (
        id text collate "C" primary key,
        project_id text collate "C" not null references projects,
        name text collate "C",
        name_folded text collate "C" generated always as (shoal_fold(name)) stored,
        size bigint not null check (size > 0),
        config jsonb not null,
        credits bigint not null default 0,
        fill_at timestamptz(3) not null default now(),
        created_at timestamptz(3) not null default now(),
        unique (project_id, name)
      )`.execute(query);
    await sql`create index browser_pools_by_age on browser_pools (project_id, created_at desc, id)`.execute(query);
    await sql`create index browser_pools_by_name on browser_pools (project_id, name_folded)`.execute(query);

    await sql`
      create table browser_pool_waiters (
        id text collate "C" primary key,
        place bigint generated always as identity,
        pool_id text collate "C" not null references browser_pools on delete cascade,
        server_id text collate "C" not null,
        expires_at timestamptz(3) not null
      )`.execute(query);
    await sql`create index browser_pool_waiters_by_pool on browser_pool_waiters (pool_id, place)`.execute(query);

    // No reference: a session goes on telling which pool it came from.
    await sql`
      alter table sessions
        add column pool_id text collate "C",
        add column pool_name text,
        add column pool_state text check (pool_state in ('starting', 'warm', 'leased')),
        add constraint sessions_pool_with_state check ((pool_id is null) = (pool_state is null))`.execute(query);
    await sql`create index sessions_active_by_pool on sessions (pool_id) where ended_at is null and pool_id is not null`.execute(query);

    // Every server looks after a pool again when one of its browsers has gone, whatever the reason, or when it was changed.
    await sql`
      create function shoal_notify_pool() returns trigger language plpgsql as $$
      begin
        perform pg_notify('shoal_changes', 'browser_pools:' || old.pool_id);
        return null;
      end $$`.execute(query);
    await sql`
      create trigger shoal_pool_left after update of ended_at on sessions for each row
      when (old.pool_id is not null and old.ended_at is null and new.ended_at is not null) execute function shoal_notify_pool()`.execute(query);
    await sql`create trigger shoal_pool_removed after delete on sessions for each row when (old.pool_id is not null) execute function shoal_notify_pool()`.execute(
      query,
    );
    await sql`create trigger shoal_changes after insert or delete on browser_pools for each row execute function shoal_notify()`.execute(query);
    await sql`create trigger shoal_updates after update of name, size, config on browser_pools for each row execute function shoal_notify()`.execute(
      query,
    );
    await sql`create trigger shoal_project_open before insert on browser_pools for each row execute function shoal_project_open()`.execute(query);

    // A pool uses its size, or what it runs where it was made smaller than that.
    await sql`
      create function shoal_used_sessions(project text) returns bigint language sql stable as $$
        select (select count(*) from sessions where ended_at is null and pool_id is null and (project is null or project_id = project))
          + (select coalesce(sum(greatest(size, (select count(*) from sessions where sessions.pool_id = browser_pools.id and ended_at is null))), 0)::bigint
             from browser_pools where project is null or project_id = project)
      $$`.execute(query);
    await sql`
      create function shoal_admit_sessions(project text, project_default integer, organization_limit integer, wanted bigint) returns boolean language plpgsql as $$
      declare
        project_limit integer;
        used bigint;
      begin
        perform pg_advisory_xact_lock(1936223073, 27650);
        select coalesce(projects.max_sessions, nullif(coalesce(organization.default_max_sessions, project_default), 0)) into project_limit
          from projects cross join organization where projects.id = project;
        if project_limit is not null then
          select shoal_used_sessions(project) into used;
          if used + wanted > project_limit then
            raise exception using errcode = 'SH429', message = 'the project runs all the sessions it may', detail = json_build_object('scope', 'project', 'limit', project_limit, 'used', used)::text;
          end if;
        end if;
        select shoal_used_sessions(null) into used;
        if used + wanted > organization_limit then
          raise exception using errcode = 'SH429', message = 'the organisation runs all the sessions it may', detail = json_build_object('scope', 'organization', 'limit', organization_limit, 'used', used)::text;
        end if;
        return true;
      end $$`.execute(query);
    await sql`
      create or replace function shoal_admit_session(project text, project_default integer, organization_limit integer) returns boolean language plpgsql as $$
      begin
        return shoal_admit_sessions(project, project_default, organization_limit, 1);
      end $$`.execute(query);
  },
};
