import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { requireOpenProject } from "./foundation/functions.ts";

/** Stored states of sessions. Their content is a sealed blob. */
export const snapshots: Migration = {
  async up(query: Kysely<unknown>) {
    await sql`create table snapshots (
      id text collate "C" primary key,
      project_id text collate "C" not null references projects,
      session_id text collate "C" not null,
      name text,
      engine text not null,
      not_exact_because text,
      blob text not null,
      size_bytes bigint not null,
      unpacked_bytes bigint not null,
      paused_ms integer not null,
      compatibility jsonb,
      settings jsonb not null,
      created_at timestamptz(3) not null default now(),
      expires_at timestamptz(3) not null
    )`.execute(query);
    await sql`create index snapshots_by_age on snapshots (project_id, created_at desc, id desc)`.execute(query);
    await sql`create index snapshots_expiring on snapshots (expires_at)`.execute(query);
    await sql`create index snapshots_by_blob on snapshots (blob)`.execute(query);
    await sql.raw(requireOpenProject("snapshots")).execute(query);
  },
};
