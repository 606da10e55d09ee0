import { sql } from "kysely";
import type { PoolClient } from "pg";
import { connectFirst, createPool } from "../connect.ts";
import { reachEmbedded } from "../embedded/reach.ts";
import type { DatabaseLog } from "../log.ts";
import type { Database } from "../open-database.ts";

export interface TableChunk {
  readonly table: string;
  /** One JSON object per row, without generated columns. */
  readonly rows: readonly string[];
}

export interface BackupSource {
  readonly migrations: readonly string[];
  chunks(): AsyncIterable<TableChunk>;
  close(): Promise<void>;
}

const passing: ReadonlySet<string> = new Set([
  "app_log_chunks",
  "app_log_totals",
  "browser_pool_waiters",
  "console_links",
  "console_sessions",
  "rate_limit_uses",
  "servers",
  "session_count_changes",
  "session_counts",
  "shoal_migrations",
  "shoal_migrations_lock",
  "usage_sessions",
  "usage_storage",
]);
const rowsAtOnce = 200;
/** Approximate; a single row may be larger. */
const chunkCharacters = 2 * 1024 * 1024;
/** Of an advisory lock that each backup shares until its end. */
const backupLock = [1936223073, 27670] as const;
const noTimeLimit = "set statement_timeout = 0; set idle_in_transaction_session_timeout = 0";

export async function writtenColumns(client: PoolClient, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select quote_ident(attname) as name from pg_attribute where attrelid = to_regclass(quote_ident($1)) and attnum > 0 and not attisdropped and attgenerated = '' order by attnum",
    [table],
  );
  return rows.map(({ name }) => name);
}

export async function lastingTables(client: PoolClient): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relpersistence = 'p' order by relname",
  );
  return rows.map(({ name }) => name).filter((name) => !passing.has(name));
}

/** Opens the embedded database in a directory for reading: its running server, or a new one. @throws {DatabaseError} */
export async function openBackupSource({
  dataDir,
  log,
}: {
  readonly dataDir: string;
  readonly log: DatabaseLog;
}): Promise<BackupSource> {
  const { target, stop } = await reachEmbedded(dataDir, log);
  const { pool, close } = createPool(target, log);
  let inUse: PoolClient | undefined;
  async function end(): Promise<void> {
    // The pool would wait for a connection in use.
    inUse?.release(true);
    inUse = undefined;
    await close();
    await stop();
  }
  try {
    await connectFirst(pool, target);
    const client = await pool.connect();
    inUse = client;
    await client.query(noTimeLimit);
    // Before the snapshot: a row that is deleted later keeps its file.
    await client.query(`select pg_advisory_lock_shared(${backupLock.join(", ")})`);
    // Later queries read this snapshot.
    await client.query("begin isolation level repeatable read, read only");
    const migrations = await client.query<{ name: string }>(
      'select name from shoal_migrations order by name collate "C"',
    );
    return {
      migrations: migrations.rows.map(({ name }) => name),
      async *chunks() {
        for (const table of await lastingTables(client)) {
          const columns = await writtenColumns(client, table);
          await client.query(
            `declare rows_of_table no scroll cursor for select row_to_json(t)::text as row from (select ${columns.join(", ")} from ${client.escapeIdentifier(table)}) t`,
          );
          yield* chunksOf(client, table);
          await client.query("close rows_of_table");
        }
      },
      close: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** True while a backup reads the database: files that a row of its snapshot names must stay. */
export async function isBackedUp({ query }: Pick<Database, "query">): Promise<boolean> {
  const [key, part] = backupLock;
  const { rows } = await sql<{ found: boolean }>`select exists (
    select from pg_locks
    where locktype = 'advisory' and classid = ${key}::oid and objid = ${part}::oid and objsubid = 2 and granted
      and database = (select oid from pg_database where datname = current_database())
  ) as found`.execute(query);
  return rows[0]?.found === true;
}

/** Yields at least one chunk, so that the backup names empty tables too. */
async function* chunksOf(client: PoolClient, table: string): AsyncGenerator<TableChunk> {
  let rows: string[] = [];
  let characters = 0;
  for (let isFirst = true; ; isFirst = false) {
    const fetched = await client.query<{ row: string }>(`fetch ${rowsAtOnce} from rows_of_table`);
    for (const { row } of fetched.rows) {
      rows.push(row);
      characters += row.length;
      if (characters < chunkCharacters) continue;
      yield { table, rows };
      rows = [];
      characters = 0;
    }
    if (fetched.rows.length > 0) continue;
    if (rows.length > 0 || isFirst) yield { table, rows };
    return;
  }
}
