import type { Database } from "@shoal/database";
import { sql } from "kysely";

/** Bytes by project. */
export type StoredFiles = () => ReadonlyMap<string, number> | Promise<ReadonlyMap<string, number>>;

/** Replaces the sizes of files that this server keeps for projects. */
export async function writeStoredFiles(
  { query }: Database,
  serverId: string,
  sources: readonly StoredFiles[],
): Promise<void> {
  const bytes = new Map<string, number>();
  for (const source of sources)
    for (const [project, size] of await source()) bytes.set(project, (bytes.get(project) ?? 0) + size);
  await query.transaction().execute(async (transaction) => {
    await sql`delete from usage_storage where server_id = ${serverId}`.execute(transaction);
    await sql`
      insert into usage_storage (server_id, project_id, bytes)
      select ${serverId}::text, project_id, bytes
        from unnest(${[...bytes.keys()]}::text[], ${[...bytes.values()]}::bigint[]) as stored (project_id, bytes)
        where bytes > 0`.execute(transaction);
  });
}
