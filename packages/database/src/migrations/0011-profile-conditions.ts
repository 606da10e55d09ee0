import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Permissions, position and preferences of pages in sessions of a profile; null = no choice. */
export const profileConditions: Migration = {
  async up(query: Kysely<unknown>) {
    await sql`alter table profiles add column conditions jsonb`.execute(query);
  },
};
