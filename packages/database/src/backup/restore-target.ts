import { messageOf } from "@shoal/primitives";
import { Kysely, PostgresDialect } from "kysely";
import type { PoolClient } from "pg";
import { connectFirst, createPool } from "../connect.ts";
import { DatabaseError } from "../database-error.ts";
import { startEmbedded } from "../embedded/embedded-postgres.ts";
import type { DatabaseLog } from "../log.ts";
import { migrate } from "../migrate.ts";
import { outageOf } from "../outage.ts";
import { migrations as known } from "../migrations/all.ts";
import { lastingTables, type TableChunk, writtenColumns } from "./backup-source.ts";

export interface RestoreTarget {
  /** @throws {DatabaseError} `restore_failed` for an unknown table or incompatible rows. */
  write(chunk: TableChunk): Promise<void>;
  /** Ends running sessions and invocations, commits and migrates. @throws {DatabaseError} `restore_failed` for missing rows. */
  finish(rows: Readonly<Record<string, number>>): Promise<void>;
  close(): Promise<void>;
}

function failed(message: string, cause?: unknown): DatabaseError {
  return new DatabaseError(message, {
    code: "restore_failed",
    hint: "Nothing was restored. Use another backup, or the version of Shoal that made this one.",
    cause,
  });
}

/** Creates an embedded database with the schema of a backup. @throws {DatabaseError} `schema_newer`. */
export async function openRestoreTarget({
  dataDir,
  log,
  migrations,
}: {
  readonly dataDir: string;
  readonly log: DatabaseLog;
  readonly migrations: readonly string[];
}): Promise<RestoreTarget> {
  const unknown = migrations.filter((name) => !(name in known));
  if (unknown.length > 0) {
    throw new DatabaseError(
      `A newer Shoal made this backup: it has the migrations ${unknown.join(", ")}, but this version only includes them up to ${Object.keys(known).sort().at(-1) ?? "none"}.`,
      { code: "schema_newer", hint: "Update this program to the version that made the backup." },
    );
  }
  const { platform, arch } = process;
  const postgres = await startEmbedded({ directory: dataDir, log, platform, arch, tcp: platform === "win32" });
  const { pool, close } = createPool(postgres.target, log);
  let inUse: PoolClient | undefined;
  async function stop(): Promise<void> {
    inUse?.release(true);
    inUse = undefined;
    await close();
    await postgres.stop();
  }
  try {
    await connectFirst(pool, postgres.target);
    const query = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
    const wanted = new Set(migrations);
    await migrate(query, Object.fromEntries(Object.entries(known).filter(([name]) => wanted.has(name))), log);
    const client = await pool.connect();
    inUse = client;
    const restore = await Restore.begin(client);
    return {
      write: (chunk) => restore.write(chunk),
      async finish(rows) {
        await restore.finish(rows);
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

class Restore {
  readonly #client: PoolClient;
  readonly #columnsOf: ReadonlyMap<string, readonly string[]>;

  private constructor(client: PoolClient, columnsOf: ReadonlyMap<string, readonly string[]>) {
    this.#client = client;
    this.#columnsOf = columnsOf;
  }

  static async begin(client: PoolClient): Promise<Restore> {
    // Disables triggers and foreign keys, which already applied when the rows were first written.
    await client.query(
      "set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set session_replication_role = replica",
    );
    await client.query("begin");
    const columnsOf = new Map<string, string[]>();
    for (const table of await lastingTables(client)) columnsOf.set(table, await writtenColumns(client, table));
    // Removes the rows that migrations insert.
    await client.query(
      `truncate ${[...columnsOf.keys()].map((table) => client.escapeIdentifier(table)).join(", ")} cascade`,
    );
    return new Restore(client, columnsOf);
  }

  async write({ table, rows }: TableChunk): Promise<void> {
    const columns = this.#columnsOf.get(table)?.join(", ");
    if (columns === undefined) throw failed(`The backup has an unknown table ${table}.`);
    if (rows.length === 0) return;
    const name = this.#client.escapeIdentifier(table);
    try {
      await this.#client.query(
        `insert into ${name} (${columns}) overriding system value select ${columns} from json_populate_recordset(null::${name}, $1::json)`,
        [`[${rows.join(",")}]`],
      );
    } catch (error) {
      // A full disk says nothing about the rows.
      if (outageOf(error) !== undefined) throw error;
      throw failed(`Rows of the table ${table} do not fit: ${messageOf(error)}.`, error);
    }
  }

  async finish(expected: Readonly<Record<string, number>>): Promise<void> {
    for (const table of this.#columnsOf.keys()) {
      const { rows } = await this.#client.query<{ count: number }>(
        `select count(*)::int as count from ${this.#client.escapeIdentifier(table)}`,
      );
      const count = rows[0]?.count ?? 0;
      if (count !== (expected[table] ?? 0))
        throw failed(
          `The backup is damaged: table ${table} has ${count} rows, but ${expected[table] ?? 0} were saved.`,
        );
    }
    await this.#client.query(
      "update sessions set ended_at = greatest(now(), created_at), ended_reason = 'instance_lost' where ended_at is null",
    );
    await this.#client.query(
      "select shoal_lose_invocations(server_id) from (select distinct server_id from invocations where finished_at is null and server_id is not null) as lost",
    );
    await this.#client.query(
      "select shoal_lose_flow_runs(server_id) from (select distinct server_id from flow_runs where status = 'running') as lost",
    );
    await this.#client.query("delete from idempotency_keys where status = 0");
    await this.#advanceSequences();
    await this.#client.query("commit");
    await this.#client.query("reset all");
  }

  /** Above the restored rows, and above the rows that backups omit: clients may hold their positions. */
  async #advanceSequences(): Promise<void> {
    const { rows } = await this.#client.query<{ table: string; column: string; sequence: string }>(
      `select quote_ident(relname) as table, quote_ident(attname) as column,
          pg_get_serial_sequence(quote_ident(relname), attname) as sequence
        from pg_attribute join pg_class on pg_class.oid = attrelid
        where attidentity <> '' and not attisdropped and relkind = 'r' and relnamespace = 'public'::regnamespace`,
    );
    for (const { column, sequence, table } of rows)
      await this.#client.query(
        `select setval($1, greatest((select max(${column}) + 1 from ${table}), (extract(epoch from clock_timestamp()) * 1000)::bigint), false)`,
        [sequence],
      );
  }
}
