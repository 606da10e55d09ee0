import type { Database } from "@shoal/database";
import { sql } from "kysely";

/** These tables record requests and regular work, not their effects. */
const ofRequests = /^(?:audit_|servers|api_key_uses|idempotency|shoal_|rate_|usage_|jobs)/;

/** Serializes every row, except request logs and times of last use. The text is equal until data changes. */
export async function tableContents({ query }: Database): Promise<string> {
  const { rows } = await sql<{
    name: string;
  }>`select tablename as name from pg_tables where schemaname = current_schema() order by tablename`.execute(query);
  const names = rows.map(({ name }) => name).filter((name) => !ofRequests.test(name));
  for (const known of [
    "api_keys",
    "browser_pools",
    "credentials",
    "extensions",
    "profiles",
    "projects",
    "proxies",
    "sessions",
    "telemetry_destinations",
  ]) {
    if (!names.includes(known)) throw new Error(`Table ${known} was removed: update table-contents.ts.`);
  }
  const tables = await Promise.all(
    names.map(async (name) => [
      name,
      (await sql`select to_jsonb(t) - 'last_used_at' as row from ${sql.table(name)} t order by t::text`.execute(query))
        .rows,
    ]),
  );
  return JSON.stringify(tables);
}
