import type { Database } from "@shoal/database";
import { sql } from "kysely";

/** Counts the statements of this database that wait for a lock. Other tests have databases in the same PostgreSQL. */
export async function blockedStatements({ query }: Pick<Database, "query">, like = "%"): Promise<number> {
  const { rows } = await sql<{
    count: number;
  }>`select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like ${like}`.execute(
    query,
  );
  return rows[0]?.count ?? 0;
}
