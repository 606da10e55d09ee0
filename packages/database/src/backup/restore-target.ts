import { Kysely, PostgresDialect } from "kysely";
import type { PoolClient } from "pg";
import { connectFirst, createPool } from "../connect.ts";
import { DatabaseError } from "../database-error.ts";
import { startEmbedded } from "../embedded/embedded-postgres.ts";
import type { DatabaseLog } from "../log.ts";
import { migrate } from "../migrate.ts";
import { migrations as known } from "../migrations/all.ts";
import { lastingTables, type TableChunk, writtenColumns } from "./backup-source.ts";

/** A new embedded database that is filled from a backup. */
export interface RestoreTarget {
  /** @throws {DatabaseError} `restore_failed` for a table that the backup's own migrations do not make, and for rows that do not fit. */
  write(chunk: TableChunk): Promise<void>;
  /**
   * Ends the sessions that ran when the backup was made, keeps everything, and brings the tables up to date.
   *
   * @param rows - how many each table must have.
   * @throws {DatabaseError} `restore_failed` when a table has another number.
   */
  finish(rows: Readonly<Record<string, number>>): Promise<void>;
  /** Stops the database, which holds nothing unless it was finished. */
  close(): Promise<void>;
}

function failed(message: string, cause?: unknown): DatabaseError {
  return new DatabaseError(message, {
    code: "restore_failed",
    hint: "Nothing was kept of it. Take another backup, or the version of Shoal that made this one.",
    cause,
  });
}

/**
 * Makes a new embedded database with the tables that a backup was made of.
 *
 * @param options.migrations - of the backup.
 * @throws {DatabaseError} `schema_newer` when it was made by a newer Shoal.
 */
export async function openRestoreTarget({
  dataDir,
  log,
  migrations,
}: {
  readonly dataDir: string;
  readonly log: DatabaseLog;
  readonly migrations: readonly string[];
}): Promise<RestoreTarget> {
  const ids = new Set(known.map(({ id }) => id));
  const unknown = migrations.filter((id) => !ids.has(id));
  if (unknown.length > 0) {
    throw new DatabaseError(
      `The backup was made by a newer Shoal: it has the migrations ${unknown.join(", ")}, and this program knows them up to ${known.at(-1)?.id ?? "none"}.`,
      { code: "schema_newer", hint: "Update this program to the version that made the backup." },
    );
  }
  const { platform, arch } = process;
  const postgres = await startEmbedded({ directory: dataDir, log, platform, arch, tcp: platform === "win32" });
  const { pool, close } = createPool(postgres.target, log);
  let inUse: PoolClient | undefined;
  async function stop(): Promise<void> {
    // A pool waits for those that are in use.
    inUse?.release(true);
    inUse = undefined;
    await close();
    await postgres.stop();
  }
  try {
    await connectFirst(pool, postgres.target);
    const query = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
    const wanted = new Set(migrations);
    await migrate(
      query,
      known.filter(({ id }) => wanted.has(id)),
      log,
    );
    const client = await pool.connect();
    inUse = client;
    // Triggers have done their work when the rows were first written; foreign keys held then.
    await client.query("set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set session_replication_role = replica");
    await client.query("begin");
    const columnsOf = new Map<string, string[]>();
    for (const table of await lastingTables(client)) columnsOf.set(table, await writtenColumns(client, table));
    // Migrations make rows of their own.
    await client.query(`truncate ${[...columnsOf.keys()].map((table) => client.escapeIdentifier(table)).join(", ")} cascade`);

    return {
      async write({ table, rows }) {
        const columns = columnsOf.get(table)?.join(", ");
        if (columns === undefined) throw failed(`The backup has a table ${table}, which its version of Shoal does not have.`);
        if (rows.length === 0) return;
        const name = client.escapeIdentifier(table);
        await client
          .query(`insert into ${name} (${columns}) overriding system value select ${columns} from json_populate_recordset(null::${name}, $1::json)`, [
            `[${rows.join(",")}]`,
          ])
          .catch((error: unknown) => {
            throw failed(`Rows of the table ${table} do not fit: ${error instanceof Error ? error.message : String(error)}.`, error);
          });
      },
      async finish(expected) {
        for (const table of columnsOf.keys()) {
          const { rows } = await client.query<{ count: number }>(`select count(*)::int as count from ${client.escapeIdentifier(table)}`);
          if (rows[0]?.count !== (expected[table] ?? 0))
            throw failed(`The backup is damaged: ${table} has ${rows[0]?.count ?? 0} rows in it, and should have ${expected[table] ?? 0}.`);
        }
        // What ran then runs no more, nor does anybody wait for an answer.
        await client.query("update sessions set ended_at = greatest(now(), created_at), ended_reason = 'instance_lost' where ended_at is null");
        await client.query("delete from idempotency_keys where status = 0");
        await client.query("commit");
        await client.query("reset all");
        client.release();
        inUse = undefined;
        await migrate(query, known, log);
      },
      close: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
