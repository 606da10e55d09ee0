import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** When a session ends, whether it is used or not. */
export const sessionLimits: Migration = {
  id: "0009_session_limits",
  async up(query) {
    await sql`alter table sessions add column max_duration_seconds integer, add column ends_at timestamptz(3)`.execute(query);
  },
};
