import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Further sites on which the values of a credential may be typed. Existing credentials have none. */
export const credentialSites: Migration = {
  async up(query: Kysely<unknown>) {
    await sql`alter table credentials add column sites jsonb not null default '[]'`.execute(query);
  },
};
