import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** The only rights of a key. Existing keys have every right in their project. An app has the policy of its deployer. */
export const keyPolicies: Migration = {
  async up(query: Kysely<unknown>) {
    await sql`alter table api_keys add column policy jsonb`.execute(query);
    await sql`alter table deployments add column policy jsonb`.execute(query);
  },
};
