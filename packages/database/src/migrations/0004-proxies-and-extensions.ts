import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** Proxies, what sessions leave by, and extensions. */
export const proxiesAndExtensions: Migration = {
  id: "0004_proxies_and_extensions",
  async up(query) {
    await sql`
      create table proxies (
        id text collate "C" primary key,
        project_id text collate "C" not null references projects,
        name text collate "C",
        name_folded text collate "C" generated always as (shoal_fold(name)) stored,
        type text not null,
        protocol text not null,
        bypass_hosts jsonb not null default '[]',
        config jsonb not null,
        password bytea,
        status text,
        last_checked timestamptz(3),
        ip_address text,
        created_at timestamptz(3) not null default now()
      )`.execute(query);
    await sql`create index proxies_by_age on proxies (project_id, created_at desc, id)`.execute(query);
    await sql`create index proxies_by_name on proxies (project_id, name_folded)`.execute(query);
    // No reference: a session goes on using a proxy that was deleted, and says so.
    await sql`alter table sessions add column proxy jsonb`.execute(query);

    await sql`
      create table extensions (
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
      )`.execute(query);
    await sql`create index extensions_by_age on extensions (project_id, created_at desc, id)`.execute(query);
    await sql`create index extensions_by_name on extensions (project_id, name_folded)`.execute(query);
    for (const table of ["proxies", "extensions"]) {
      await sql`create trigger shoal_project_open before insert on ${sql.ref(table)} for each row execute function shoal_project_open()`.execute(
        query,
      );
    }
  },
};
