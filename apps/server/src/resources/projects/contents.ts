import type { Tables } from "@shoal/database";
import { type Kysely, sql } from "kysely";

/** Tables whose rows outlive what they stand for, with the rows that prevent the deletion of a project. */
export const partlyContents: Readonly<Record<string, { readonly what: string; readonly where: string }>> = {
  sessions: { what: "running sessions", where: "ended_at is null" },
  invocations: { what: "running invocations", where: "finished_at is null" },
  deployments: { what: "deployments", where: "deleted_at is null" },
};

/**
 * Tables that may refer to a deleted project: its keys, signing keys, searches, snapshots and network recordings are deleted with it, app versions and schedules with their
 * deployment, runs with their flow, handoffs and links with their session, stored files of sessions after their retention, changes of counts with the next
 * session of any project, and the audit log and usage stay.
 */
export const notContents: readonly string[] = [
  "api_keys",
  "app_versions",
  "audit_logs",
  "bot_keys",
  "flow_runs",
  "handoffs",
  "live_view_links",
  "network_recordings",
  "schedules",
  "searches",
  "session_count_changes",
  "session_files",
  "snapshots",
  "usage_days",
  "usage_sessions",
  "usage_storage",
];

/** The tables with a `project_id`, except {@link notContents}. Running work comes first. */
async function tablesOfProjects(query: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where column_name = 'project_id' and table_schema = current_schema() order by 1`.execute(query);
  const names = rows.map(({ name }) => name).filter((name) => !notContents.includes(name));
  return [...Object.keys(partlyContents), ...names.filter((name) => partlyContents[name] === undefined)];
}

/** Describes the rows that prevent the deletion of a project. */
export async function contentsOf(query: Kysely<Tables>, projectId: string): Promise<string[]> {
  const found: string[] = [];
  for (const table of await tablesOfProjects(query)) {
    const { what = table.replaceAll("_", " "), where = "true" } = partlyContents[table] ?? {};
    const { rows } =
      await sql`select 1 from ${sql.table(table)} where project_id = ${projectId} and ${sql.raw(where)} limit 1`.execute(
        query,
      );
    if (rows.length > 0) found.push(what);
  }
  return found;
}
