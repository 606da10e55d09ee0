import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** The limited key that deployed an app: the key of the app ends with it. Apps of unlimited keys have none. */
export const appKeyIssuers: Migration = {
  async up(query: Kysely<unknown>) {
    await sql`alter table deployments add column issuer_key_id text collate "C"`.execute(query);
    await sql`alter table api_keys add column issuer_key_id text collate "C"`.execute(query);
    await sql`create index api_keys_by_issuer on api_keys (issuer_key_id) where issuer_key_id is not null`.execute(
      query,
    );
    await sql`create index deployments_by_issuer on deployments (issuer_key_id) where issuer_key_id is not null`.execute(
      query,
    );
  },
};
