import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Where pages see the sessions of a profile; null = no choice. */
export const profileLocation: Migration = {
  async up(query: Kysely<unknown>) {
    await sql`alter table profiles add column location jsonb`.execute(query);
  },
};
