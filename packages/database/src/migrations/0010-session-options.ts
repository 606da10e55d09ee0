import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** How a session's browser is started, where that is more than a column's worth. */
export const sessionOptions: Migration = {
  id: "0010_session_options",
  async up(query) {
    await sql`alter table sessions add column options jsonb not null default '{}'`.execute(query);
  },
};
