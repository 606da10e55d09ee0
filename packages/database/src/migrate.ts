import { type Kysely, sql } from "kysely";
import { DatabaseError } from "./database-error.ts";
import type { DatabaseLog } from "./log.ts";

/** One step of the schema, run once for each database, in a transaction of its own. */
export interface Migration {
  /** Unique for ever; four digits and a word or two. */
  readonly id: string;
  /** Makes the change through `query`, which is the transaction. */
  up(query: Kysely<unknown>): Promise<void>;
}

/** Key of the advisory lock that lets one replica migrate at a time: "shoa", "l" and 1. */
const lock = sql`1936223073, 27649`;

const waitNoticeMs = 3000;

async function appliedIds(query: Kysely<unknown>): Promise<Set<string> | undefined> {
  const { rows } = await sql<{ exists: boolean }>`select to_regclass('shoal_migrations') is not null as exists`.execute(query);
  if (rows[0]?.exists !== true) return undefined;
  const applied = await sql<{ id: string }>`select id from shoal_migrations`.execute(query);
  return new Set(applied.rows.map((row) => row.id));
}

function pendingOf(migrations: readonly Migration[], applied: ReadonlySet<string>): Migration[] {
  const known = new Set(migrations.map((migration) => migration.id));
  const unknown = [...applied].filter((id) => !known.has(id)).sort();
  if (unknown.length > 0) {
    throw new DatabaseError(
      `The database was migrated by a newer Shoal: it has ${unknown.join(", ")}, and this program knows migrations up to ${migrations.at(-1)?.id ?? "none"}.`,
      { code: "schema_newer", hint: "Update this program to the version that migrated the database, or give it another database." },
    );
  }
  return migrations.filter((migration) => !applied.has(migration.id));
}

function describe(error: unknown, migration: Migration): DatabaseError {
  const message = error instanceof Error ? error.message : String(error);
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  if (code === "42501") {
    return new DatabaseError(`Migration ${migration.id} was refused: ${message}.`, {
      code: "permission_denied",
      hint: "Give the role the right to create tables: grant create, usage on schema public to the role (or make it the owner of the database).",
      cause: error,
    });
  }
  if (code === "25006") {
    return new DatabaseError("The PostgreSQL server only allows reading, so the tables cannot be brought up to date.", {
      code: "server_read_only",
      hint: "Give the URL of the primary server.",
      cause: error,
    });
  }
  return new DatabaseError(`Migration ${migration.id} failed, and nothing of it was kept: ${message}.`, {
    code: "migration_failed",
    hint: "The database is as it was before; correct the cause and start again.",
    cause: error,
  });
}

async function runOne(query: Kysely<unknown>, migration: Migration): Promise<void> {
  try {
    await query.transaction().execute(async (transaction) => {
      await sql`set local statement_timeout = 0`.execute(transaction);
      await sql`create table if not exists shoal_migrations (id text collate "C" primary key, applied_at timestamptz(3) not null default now())`.execute(
        transaction,
      );
      await migration.up(transaction);
      await sql`insert into shoal_migrations (id) values (${migration.id})`.execute(transaction);
    });
  } catch (error) {
    throw describe(error, migration);
  }
}

/**
 * Brings the schema up to date. Replicas that start at once wait for each other (without limit of time; a notice is logged after 3 s).
 *
 * @returns ids of the migrations that this call ran, in order.
 * @throws {DatabaseError} `schema_newer`, `migration_failed`, `permission_denied` or `server_read_only`.
 */
export async function migrate(query: Kysely<unknown>, migrations: readonly Migration[], log: DatabaseLog): Promise<string[]> {
  const before = await appliedIds(query);
  if (before !== undefined && pendingOf(migrations, before).length === 0) return [];
  return await query.connection().execute(async (connection) => {
    const notice = setTimeout(() => {
      log.info({}, "waiting for another replica to finish its migrations");
    }, waitNoticeMs);
    try {
      // The wait for the lock is a statement too, and must not run into the time limit of queries.
      await sql`set statement_timeout = 0`.execute(connection);
      await sql`select pg_advisory_lock(${lock})`.execute(connection);
    } finally {
      clearTimeout(notice);
    }
    try {
      const pending = pendingOf(migrations, (await appliedIds(connection)) ?? new Set());
      const startedAt = performance.now();
      for (const migration of pending) await runOne(connection, migration);
      const durationMs = Math.round(performance.now() - startedAt);
      const last = pending.at(-1);
      // One line: an operator reads what changed, and the first start shows its key near the top.
      if (last !== undefined) log.info({ migrations: pending.length, up_to: last.id, duration_ms: durationMs }, "migrated the database");
      return pending.map((migration) => migration.id);
    } finally {
      // A broken connection has lost the lock already, and its error is the one to report.
      await sql`select pg_advisory_unlock(${lock})`.execute(connection).catch(() => undefined);
      await sql`reset statement_timeout`.execute(connection).catch(() => undefined);
    }
  });
}
