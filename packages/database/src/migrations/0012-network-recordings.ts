import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { requireOpenProject } from "./foundation/functions.ts";

/** Recorded answers of the network. Their content is a sealed blob. */
export const networkRecordings: Migration = {
  async up(query: Kysely<unknown>) {
    await sql`create table network_recordings (
      id text collate "C" primary key,
      project_id text collate "C" not null references projects,
      session_id text collate "C" not null unique,
      server_id text collate "C" not null,
      blob text,
      size_bytes bigint not null default 0,
      requests integer not null default 0,
      left_out integer not null default 0,
      truncated boolean not null default false,
      created_at timestamptz(3) not null default now(),
      finished_at timestamptz(3),
      expires_at timestamptz(3)
    )`.execute(query);
    await sql`create index network_recordings_by_age on network_recordings (project_id, created_at desc, id desc)`.execute(
      query,
    );
    await sql`create index network_recordings_running on network_recordings (server_id) where finished_at is null`.execute(
      query,
    );
    await sql`create index network_recordings_expiring on network_recordings (expires_at) where expires_at is not null`.execute(
      query,
    );
    await sql`create index network_recordings_by_blob on network_recordings (blob) where blob is not null`.execute(
      query,
    );
    await sql.raw(requireOpenProject("network_recordings")).execute(query);
  },
};
