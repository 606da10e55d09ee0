import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** What is saved in profiles, and which sessions start from them and write to them. */
export const profileStates: Migration = {
  id: "0006_profile_states",
  async up(query) {
    await sql`
      alter table profiles
        add column version integer,
        add column last_version integer not null default 0,
        add column saved_at timestamptz(3),
        add column size_bytes bigint,
        add column last_save_error text`.execute(query);

    await sql`
      create table profile_versions (
        profile_id text collate "C" not null references profiles on delete cascade,
        version integer not null check (version > 0),
        blob text collate "C" not null,
        size_bytes bigint not null,
        checksum text collate "C" not null,
        source text not null,
        session_id text collate "C",
        created_at timestamptz(3) not null default now(),
        primary key (profile_id, version)
      )`.execute(query);
    // A copied profile, and one that was rolled back, have the blob of another version.
    await sql`create index profile_versions_by_blob on profile_versions (blob)`.execute(query);

    // A profile is only deleted while no session runs with it; those that have ended forget it.
    await sql`
      alter table sessions
        add column profile_id text collate "C" references profiles on delete set null,
        add column profile_version integer,
        add column profile_save_changes boolean not null default false`.execute(query);
    await sql`create index sessions_by_profile on sessions (profile_id) where profile_id is not null`.execute(query);
    // One writer at a time, on whichever server: the lock goes with the session, also when its server died.
    await sql`create unique index sessions_profile_writer on sessions (profile_id) where profile_save_changes and ended_at is null`.execute(query);
  },
};
