import { type Database, openDatabase } from "@shoal/database";
import { sql } from "kysely";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const silent = () => undefined;
export const quietLog = { debug: silent, info: silent, warn: silent, error: silent };

export interface BenchDatabase extends AsyncDisposable {
  readonly database: Database;
  readonly url: string;
  /** For files of servers; removed at the end. */
  readonly folder: string;
}

/** Starts the embedded PostgreSQL with room for many servers, next to the servers under test. */
export async function startBenchDatabase(maxConnections: number): Promise<BenchDatabase> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const dataDir = join(folder, "database");
  const open = () => openDatabase({ dataDir, log: quietLog });
  const first = await open();
  await sql`alter system set max_connections = ${sql.lit(maxConnections)}`.execute(first.query);
  await first.close();
  const database = await open();
  return {
    database,
    folder,
    url: `postgres:///postgres?host=${encodeURIComponent(join(dataDir, "run"))}&user=shoal`,
    async [Symbol.asyncDispose]() {
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
