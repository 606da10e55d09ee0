import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** Projects that are archived, deleted and limited; the organisation; when keys were last used. */
export const projects: Migration = {
  id: "0002_projects",
  async up(query) {
    await sql`
      alter table projects
        add column name_folded text collate "C" generated always as (shoal_fold(name)) stored,
        add column status text not null default 'active' check (status in ('active', 'archived')),
        add column updated_at timestamptz(3) not null default now(),
        add column deleted_at timestamptz(3),
        add column max_sessions integer check (max_sessions > 0),
        add column max_invocations integer check (max_invocations > 0)`.execute(query);
    await sql`update projects set updated_at = created_at`.execute(query);
    // The name of a deleted project is free again.
    await sql`alter table projects drop constraint projects_name_key`.execute(query);
    await sql`create unique index projects_present_name on projects (name) where deleted_at is null`.execute(query);
    await sql`create index projects_by_age on projects (created_at desc, id desc) where deleted_at is null`.execute(query);

    await sql`
      create table organization (
        id text collate "C" primary key,
        is_only boolean not null default true unique check (is_only),
        default_max_sessions integer check (default_max_sessions >= 0),
        created_at timestamptz(3) not null default now()
      )`.execute(query);
    const id = `o${BigInt(`0x${randomBytes(18).toString("hex")}`)
      .toString(36)
      .padStart(28, "0")
      .slice(-23)}`;
    await sql`insert into organization (id) values (${id})`.execute(query);

    // Not a column of api_keys: a change there empties every server's memory of the key.
    await sql`
      create table api_key_uses (
        key_id text collate "C" primary key references api_keys,
        last_used_at timestamptz(3) not null
      )`.execute(query);

    // Nothing new in a project that is archived or deleted, not even by a request that came before. The lock is one that many inserts share, and that
    // an update of the project waits for.
    await sql`
      create function shoal_project_open() returns trigger language plpgsql as $$
      begin
        if new.project_id is not null then
          perform 1 from projects where id = new.project_id and status = 'active' and deleted_at is null for share;
          if not found then
            raise exception using errcode = 'SH404', message = 'the project is archived or deleted', detail = new.project_id;
          end if;
        end if;
        return new;
      end $$`.execute(query);
    for (const table of ["api_keys", "profiles", "sessions"]) {
      await sql`create trigger shoal_project_open before insert on ${sql.ref(table)} for each row execute function shoal_project_open()`.execute(
        query,
      );
    }

    // Counting and inserting must not be interrupted by another that counts, on whichever server: whoever comes later waits for the commit.
    await sql`
      create function shoal_admit_session(project text, project_default integer, organization_limit integer) returns boolean language plpgsql as $$
      declare
        project_limit integer;
        used integer;
      begin
        perform pg_advisory_xact_lock(1936223073, 27650);
        select coalesce(projects.max_sessions, nullif(coalesce(organization.default_max_sessions, project_default), 0)) into project_limit
          from projects cross join organization where projects.id = project;
        if project_limit is not null then
          select count(*) into used from sessions where project_id = project and ended_at is null;
          if used >= project_limit then
            raise exception using errcode = 'SH429', message = 'the project runs all the sessions it may', detail = json_build_object('scope', 'project', 'limit', project_limit, 'used', used)::text;
          end if;
        end if;
        select count(*) into used from sessions where ended_at is null;
        if used >= organization_limit then
          raise exception using errcode = 'SH429', message = 'the organisation runs all the sessions it may', detail = json_build_object('scope', 'organization', 'limit', organization_limit, 'used', used)::text;
        end if;
        return true;
      end $$`.execute(query);
  },
};
