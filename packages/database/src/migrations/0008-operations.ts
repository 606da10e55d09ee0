import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** What servers over one database let through, for rate limits that hold for all of them together. */
export const operations: Migration = {
  id: "0008_operations",
  async up(query) {
    // Unlogged: after a crash of the database, counting begins anew.
    await sql`
      create unlogged table rate_limit_uses (
        server_id text collate "C" not null,
        subject text collate "C" not null,
        used bigint not null,
        began_at timestamptz(3) not null default now(),
        changed_at timestamptz(3) not null default now(),
        primary key (server_id, subject)
      )`.execute(query);
    await sql`create index rate_limit_uses_changed on rate_limit_uses (changed_at)`.execute(query);
  },
};
