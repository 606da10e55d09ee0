import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** Where servers are, and so where sessions and pools run; and the memory that a session may take. */
export const regions: Migration = {
  id: "0013_regions",
  async up(query) {
    // Of a server of an earlier version nothing is known: it takes no request for a region.
    await sql`alter table servers add column region text collate "C"`.execute(query);
    // What was there before is where nobody had named a region. Of memory nothing was written down then.
    await sql`alter table sessions add column region text collate "C" not null default 'default', add column memory text`.execute(query);
    await sql`alter table browser_pools add column region text collate "C" not null default 'default'`.execute(query);
  },
};
