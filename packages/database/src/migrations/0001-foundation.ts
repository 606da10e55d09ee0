import { randomBytes } from "node:crypto";
import { type Kysely, sql } from "kysely";
import type { Migration } from "../migrate.ts";

/**
 * Collations whose lower() knows all of Unicode, best first. `pg_c_utf8` is built in since PostgreSQL 17; the others depend
 * on how the server was built and on its operating system.
 */
const unicodeCollations = ["pg_c_utf8", "und-x-icu", "C.utf8", "C.UTF-8", "en_US.utf8"];

/** The first collation that this server has, quoted; the database's own if it has none of them. */
async function unicodeCollation(query: Kysely<unknown>): Promise<string> {
  const { rows } = await sql<{ collname: string }>`
    select collname from pg_collation
    where collnamespace = 'pg_catalog'::regnamespace and collencoding in (-1, pg_char_to_encoding('UTF8'))
      and collname = any (${unicodeCollations})
    order by array_position(${unicodeCollations}::name[], collname) limit 1`.execute(query);
  return `pg_catalog."${rows[0]?.collname ?? "default"}"`;
}

/** A letter and 23 letters or digits, as all identifiers of the service. */
function newId(): string {
  return `p${BigInt(`0x${randomBytes(18).toString("hex")}`)
    .toString(36)
    .padStart(28, "0")
    .slice(-23)}`;
}

export const foundation: Migration = {
  id: "0001_foundation",
  async up(query) {
    // The extension unaccent is not installed everywhere. Only ICU knows the sigma at the end of a word, hence translate().
    await sql`
      create function shoal_fold(value text) returns text language sql immutable strict parallel safe
      return translate(
        lower(
          regexp_replace(normalize(value, NFKD), '[\\u0300-\\u036f\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f]', '', 'g')
          collate ${sql.raw(await unicodeCollation(query))}
        ), 'ς', 'σ') collate "C"`.execute(query);

    await sql`
      create table projects (
        id text collate "C" primary key,
        name text collate "C" not null unique,
        is_default boolean not null default false,
        created_at timestamptz(3) not null default now()
      )`.execute(query);
    await sql`create unique index projects_one_default on projects (is_default) where is_default`.execute(query);
    await sql`insert into projects (id, name, is_default) values (${newId()}, 'default', true)`.execute(query);

    await sql`
      create table api_keys (
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
        lifetime_days integer
      )`.execute(query);
    await sql`create index api_keys_by_age on api_keys (created_at desc, id)`.execute(query);
    await sql`create index api_keys_by_name on api_keys (name_folded)`.execute(query);

    await sql`
      create table profiles (
        id text collate "C" primary key,
        project_id text collate "C" not null references projects,
        name text collate "C",
        name_folded text collate "C" generated always as (shoal_fold(name)) stored,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3),
        last_used_at timestamptz(3),
        unique (project_id, name)
      )`.execute(query);
    await sql`create index profiles_by_age on profiles (project_id, created_at desc, id)`.execute(query);
    await sql`create index profiles_by_name on profiles (project_id, name_folded)`.execute(query);

    await sql`
      create table sessions (
        id text collate "C" primary key,
        project_id text collate "C" not null references projects,
        name text collate "C",
        name_folded text collate "C" generated always as (shoal_fold(name)) stored,
        tags jsonb not null default '{}',
        placement text not null,
        server_id text collate "C" not null,
        created_at timestamptz(3) not null default now(),
        timeout_seconds integer not null,
        headless boolean not null,
        stealth boolean not null,
        viewport jsonb,
        start_url text,
        browser_restarts integer not null default 0,
        ended_at timestamptz(3),
        ended_reason text,
        constraint sessions_ended_with_reason check ((ended_at is null) = (ended_reason is null))
      )`.execute(query);
    await sql`create unique index sessions_active_name on sessions (project_id, name) where ended_at is null`.execute(query);
    await sql`create index sessions_by_age on sessions (project_id, created_at desc, id)`.execute(query);
    await sql`create index sessions_active_by_age on sessions (project_id, created_at desc, id) where ended_at is null`.execute(query);
    await sql`create index sessions_active_by_server on sessions (server_id) where ended_at is null`.execute(query);
    await sql`create index sessions_by_tags on sessions using gin (tags jsonb_path_ops)`.execute(query);

    await sql`
      create table idempotency_keys (
        scope text collate "C" not null,
        key text collate "C" not null,
        fingerprint text not null,
        status integer not null default 0,
        response bytea,
        created_at timestamptz(3) not null default now(),
        primary key (scope, key)
      )`.execute(query);
    await sql`create index idempotency_keys_by_age on idempotency_keys (created_at)`.execute(query);

    await sql`
      create table servers (
        id text collate "C" primary key,
        started_at timestamptz(3) not null default now(),
        heartbeat_at timestamptz(3) not null default now()
      )`.execute(query);

    await sql`
      create function shoal_notify() returns trigger language plpgsql as $$
      begin
        perform pg_notify('shoal_changes', tg_table_name || ':' || coalesce(new.id, old.id));
        return null;
      end $$`.execute(query);
    for (const table of ["projects", "api_keys", "profiles"]) {
      const name = sql.ref(table);
      await sql`create trigger shoal_changes after insert or delete on ${name} for each row execute function shoal_notify()`.execute(query);
      await sql`
        create trigger shoal_updates after update on ${name} for each row
        when (old.* is distinct from new.*) execute function shoal_notify()`.execute(query);
    }
  },
};
