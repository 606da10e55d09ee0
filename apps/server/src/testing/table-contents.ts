import type { Database } from "@shoal/database";
import { sql } from "kysely";

/** Tables that tell of requests rather than of what they did. */
const ofRequests = /^(?:audit_|servers|api_key_uses|idempotency|shoal_|rate_)/;

/** Every row of every table but those that tell of requests, and but for the moments of a last use: the same text as long as nothing was made or changed. */
export async function tableContents({ query }: Database): Promise<string> {
  const { rows } = await sql<{
    name: string;
  }>`select tablename as name from pg_tables where schemaname = current_schema() order by tablename`.execute(query);
  const names = rows.map(({ name }) => name).filter((name) => !ofRequests.test(name));
  for (const known of ["api_keys", "browser_pools", "extensions", "profiles", "projects", "proxies", "sessions", "telemetry_destinations"]) {
    if (!names.includes(known)) throw new Error(`There is no table ${known} any more: say in table-contents.ts what took its place.`);
  }
  const tables = await Promise.all(
    names.map(async (name) => [
      name,
      (await sql`select to_jsonb(t) - 'last_used_at' as row from ${sql.table(name)} t order by t::text`.execute(query)).rows,
    ]),
  );
  return JSON.stringify(tables);
}
