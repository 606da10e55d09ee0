import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { requireOpenProject } from "./foundation/functions.ts";

/** Answers of searches, which are kept for a day. */
export const searches: Migration = {
  async up(query: Kysely<unknown>) {
    await sql`create table searches (
      id text collate "C" primary key,
      project_id text collate "C" not null references projects,
      answer jsonb not null,
      created_at timestamptz(3) not null default now(),
      expires_at timestamptz(3) not null
    )`.execute(query);
    await sql`create index searches_expiring on searches (expires_at)`.execute(query);
    await sql`create index searches_of_project on searches (project_id, created_at)`.execute(query);
    await sql.raw(requireOpenProject("searches")).execute(query);
  },
};
