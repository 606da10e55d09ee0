import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Seeds of `Math.random` in recorded sessions; null = none. */
export const recordingSeeds: Migration = {
  async up(query: Kysely<unknown>) {
    await sql`alter table network_recordings add column seed integer`.execute(query);
  },
};
