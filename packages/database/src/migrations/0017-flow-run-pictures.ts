import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Pictures of pages that differed from a flow. They are deleted with the run. */
export const flowRunPictures: Migration = {
  async up(query: Kysely<unknown>) {
    await sql`create table flow_run_pictures (
      run_id text collate "C" not null references flow_runs on delete cascade,
      index integer not null,
      step integer not null,
      jpeg bytea not null,
      primary key (run_id, index, step)
    )`.execute(query);
  },
};
