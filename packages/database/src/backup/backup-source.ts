import { access, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { PoolClient } from "pg";
import { connectFirst, createPool, type Target } from "../connect.ts";
import { DatabaseError } from "../database-error.ts";
import { clusterIn, embeddedUser, readPassword } from "../embedded/cluster.ts";
import { readOwner } from "../embedded/directory-lock.ts";
import { startEmbedded } from "../embedded/embedded-postgres.ts";
import type { DatabaseLog } from "../log.ts";

/** Some rows of a table. */
export interface TableChunk {
  readonly table: string;
  /** JSON objects, one a row; columns that PostgreSQL computes are not among them. */
  readonly rows: readonly string[];
}

/** An embedded database as it was at one moment, read while its server may go on. */
export interface BackupSource {
  /** Those that have been run, in order. */
  readonly migrations: readonly string[];
  /** Every row of every table, but of those that only say what is going on just now. */
  chunks(): AsyncIterable<TableChunk>;
  close(): Promise<void>;
}

/** What lasts no longer than the servers that wrote it. */
const passing: ReadonlySet<string> = new Set(["browser_pool_waiters", "rate_limit_uses", "servers", "shoal_migrations"]);
const rowsAtOnce = 200;
/** One row may be larger. */
const chunkCharacters = 2 * 1024 * 1024;
const noTimeLimit = "set statement_timeout = 0; set idle_in_transaction_session_timeout = 0";

/** The columns of a table that have to be written, quoted. */
export async function writtenColumns(client: PoolClient, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select quote_ident(attname) as name from pg_attribute where attrelid = to_regclass(quote_ident($1)) and attnum > 0 and not attisdropped and attgenerated = '' order by attnum",
    [table],
  );
  return rows.map(({ name }) => name);
}

/** Tables whose rows last, by name. */
export async function lastingTables(client: PoolClient): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relpersistence = 'p' order by relname",
  );
  return rows.map(({ name }) => name).filter((name) => !passing.has(name));
}

/** Where the PostgreSQL of a directory that another process runs on takes connections. */
async function runningTarget(directory: string): Promise<Target | undefined> {
  const owner = await readOwner(directory);
  if (owner?.socket_dir !== undefined) return { host: owner.socket_dir, port: 5432, user: embeddedUser, database: "postgres" };
  if (owner?.port === undefined) return undefined;
  return { host: "127.0.0.1", port: owner.port, user: embeddedUser, database: "postgres", password: await readPassword(directory) };
}

async function reach(directory: string, log: DatabaseLog): Promise<{ readonly target: Target; readonly stop: () => Promise<void> }> {
  const { platform, arch } = process;
  try {
    const postgres = await startEmbedded({ directory, log, platform, arch, tcp: platform === "win32" });
    return { target: postgres.target, stop: () => postgres.stop() };
  } catch (error) {
    if (!DatabaseError.isInstance(error) || error.code !== "data_dir_locked") throw error;
    const target = await runningTarget(directory);
    if (target === undefined) throw error;
    return { target, stop: () => Promise.resolve() };
  }
}

/**
 * Opens the embedded database in a directory to be read, beside the server that runs on it or, when none does, by itself.
 *
 * @throws {DatabaseError} `database_missing` when there is none, and whatever keeps it from being reached.
 */
export async function openBackupSource({ dataDir, log }: { readonly dataDir: string; readonly log: DatabaseLog }): Promise<BackupSource> {
  const directory = await realpath(dataDir).catch(() => dataDir);
  await access(join(clusterIn(directory), "PG_VERSION")).catch(() => {
    throw new DatabaseError(`There is no embedded database in ${dataDir}.`, {
      code: "database_missing",
      hint: "Name the data folder of the service, or back up an external database with pg_dump.",
    });
  });
  const { target, stop } = await reach(directory, log);
  const { pool, close } = createPool(target, log);
  let inUse: PoolClient | undefined;
  async function end(): Promise<void> {
    // A pool waits for those that are in use.
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
    // All that follows sees the rows of this moment.
    await client.query("begin isolation level repeatable read, read only");
    const migrations = await client.query<{ id: string }>("select id from shoal_migrations order by id");
    return {
      migrations: migrations.rows.map(({ id }) => id),
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

/** At least one, so that a table without rows is named too. */
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
