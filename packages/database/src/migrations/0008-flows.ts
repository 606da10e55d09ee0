import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { requireOpenProject } from "./foundation/functions.ts";

/** Flows of projects, with their versions. */
export const flows: Migration = {
  async up(query: Kysely<unknown>) {
    await sql`create table flows (
      id text collate "C" primary key,
      project_id text collate "C" not null references projects,
      name text collate "C" not null,
      version integer not null default 1,
      start_url text not null,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      unique (project_id, name)
    )`.execute(query);
    await sql`create index flows_by_age on flows (project_id, created_at desc, id desc)`.execute(query);
    await sql`create table flow_versions (
      flow_id text collate "C" not null references flows on delete cascade,
      version integer not null,
      content json not null,
      created_at timestamptz(3) not null default now(),
      primary key (flow_id, version)
    )`.execute(query);
    await sql.raw(requireOpenProject("flows")).execute(query);
  },
};
