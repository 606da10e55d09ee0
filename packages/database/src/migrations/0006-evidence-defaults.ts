import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** What new sessions of a project capture and record; null = as the service. */
export const evidenceDefaults: Migration = {
  async up(query: Kysely<unknown>) {
    await sql`
      alter table projects
        add column default_telemetry text[],
        add column default_recording boolean`.execute(query);
  },
};
