import type { Tables } from "@shoal/database";
import { type Kysely, sql } from "kysely";

/** What keeps a project from being deleted: a table whose rows have a `project_id`, and which of them count. Whoever adds such a table adds a line here or to {@link notContents}. */
const contents: readonly { readonly table: keyof Tables; readonly what: string; readonly where?: string }[] = [
  { table: "sessions", what: "running sessions", where: "ended_at is null" },
  { table: "profiles", what: "profiles" },
  { table: "browser_pools", what: "browser pools" },
  { table: "proxies", what: "proxies" },
  { table: "extensions", what: "extensions" },
  { table: "telemetry_destinations", what: "telemetry destinations" },
];

/** Tables with a `project_id` that may refer to a deleted project: keys are deleted along with it, the audit log stays. */
export const notContents: readonly string[] = ["api_keys", "audit_logs"];

/** Every table that is looked at. */
export const contentTables: readonly string[] = contents.map(({ table }) => table);

/** What is in a project, in words: `["running sessions", "profiles"]`. */
export async function contentsOf(query: Kysely<Tables>, projectId: string): Promise<string[]> {
  const found: string[] = [];
  for (const { table, what, where } of contents) {
    const { rows } = await sql`select 1 from ${sql.table(table)} where project_id = ${projectId} and ${sql.raw(where ?? "true")} limit 1`.execute(
      query,
    );
    if (rows.length > 0) found.push(what);
  }
  return found;
}
