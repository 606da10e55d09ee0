import { sql } from "kysely";
import { expect, it } from "vitest";
import { openBackupSource, openDatabase, openRestoreTarget } from "../index.ts";
import { useScratch } from "../testing/data-directories.ts";
import { recordingLog } from "../testing/logs.ts";

const scratch = useScratch();
const log = recordingLog();

const invoke = (id: string) => sql<{ place: number }>`
  insert into invocations (id, project_id, deployment_id, app_name, version, action_name, is_async, timeout_seconds)
  values (${id}, 'p', 'd', 'app', 'latest', 'act', true, 60) returning place`;
const logChunk = sql<{ sequence: number }>`
  insert into app_log_chunks (id, deployment_id, last_at, lines) values (gen_random_uuid()::text, 'd', now(), '')
  returning sequence`;

it("numbers new rows above all rows of the time before the backup", async () => {
  const before = await openDatabase({ dataDir: scratch.path("before"), log });
  await sql`insert into projects (id, name) values ('p', 'p')`.execute(before.query);
  await sql`insert into deployments (id, project_id, status, version, force, region, entrypoint, source_type, env_names, env)
    values ('d', 'p', 'queued', 'latest', false, 'r', 'index.ts', 'file', '[]', '')`.execute(before.query);
  const places: number[] = [];
  for (const id of ["a", "b", "c"]) places.push((await invoke(id).execute(before.query)).rows[0]?.place ?? 0);
  for (let index = 0; index < 3; index += 1) await logChunk.execute(before.query);
  const last = (await logChunk.execute(before.query)).rows[0]?.sequence ?? 0;

  const source = await openBackupSource({ dataDir: scratch.path("before"), log });
  const target = await openRestoreTarget({ dataDir: scratch.path("after"), log, migrations: source.migrations });
  const rows: Record<string, number> = {};
  for await (const chunk of source.chunks()) {
    await target.write(chunk);
    rows[chunk.table] = (rows[chunk.table] ?? 0) + chunk.rows.length;
  }
  await target.finish(rows);
  await target.close();
  await source.close();
  await before.close();

  const after = await openDatabase({ dataDir: scratch.path("after"), log });
  const place = (await invoke("d").execute(after.query)).rows[0]?.place;
  expect(place).toBeGreaterThan(Math.max(...places));
  expect((await logChunk.execute(after.query)).rows[0]?.sequence).toBeGreaterThan(last);
  await after.close();
});
