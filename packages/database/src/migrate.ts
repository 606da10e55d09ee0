import { messageOf } from "@shoal/primitives";
import { type Kysely, sql } from "kysely";
import { type Migration, type MigrationResultSet, Migrator } from "kysely/migration";
import { DatabaseError } from "./database-error.ts";
import type { DatabaseLog } from "./log.ts";

const waitNoticeMs = 3000;

async function appliedMigrations(query: Kysely<unknown>): Promise<string[]> {
  const { rows } = await sql<{ exists: boolean }>`select to_regclass('shoal_migrations') is not null as exists`.execute(
    query,
  );
  if (rows[0]?.exists !== true) return [];
  const applied = await sql<{ name: string }>`select name from shoal_migrations order by name collate "C"`.execute(
    query,
  );
  return applied.rows.map(({ name }) => name);
}

function refuseNewer(applied: readonly string[], known: Readonly<Record<string, Migration>>): void {
  const unknown = applied.filter((name) => !(name in known));
  if (unknown.length === 0) return;
  throw new DatabaseError(
    `A newer Shoal migrated this database: it has ${unknown.join(", ")}, but this version only includes migrations up to ${Object.keys(known).sort().at(-1) ?? "none"}.`,
    {
      code: "schema_newer",
      hint: "Update Shoal to the version that migrated the database, or use another database.",
    },
  );
}

function explain(error: unknown, name: string | undefined): DatabaseError {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  const what = name === undefined ? "The migration of the database" : `Migration ${name}`;
  if (code === "42501") {
    return new DatabaseError(`${what} was refused: ${messageOf(error)}.`, {
      code: "permission_denied",
      hint: "Allow the role to create tables: grant create, usage on schema public to the role (or make it the owner of the database).",
      cause: error,
    });
  }
  if (code === "25006") {
    return new DatabaseError("The PostgreSQL server is read-only, so its tables cannot be migrated.", {
      code: "server_read_only",
      hint: "Use the URL of the primary server.",
      cause: error,
    });
  }
  return new DatabaseError(`${what} failed and was rolled back: ${messageOf(error)}.`, {
    code: "migration_failed",
    hint: "The database is unchanged; fix the cause and start again.",
    cause: error,
  });
}

/**
 * Runs missing migrations in one transaction, and returns their names. Waits up to an hour for other servers.
 * @throws {DatabaseError} `schema_newer`, `migration_failed`, `permission_denied` or `server_read_only`.
 */
export async function migrate(
  query: Kysely<unknown>,
  migrations: Readonly<Record<string, Migration>>,
  log: DatabaseLog,
): Promise<string[]> {
  const before = await appliedMigrations(query);
  refuseNewer(before, migrations);
  if (before.length === Object.keys(migrations).length) return [];
  return await query.connection().execute(async (connection) => {
    // Neither the wait for the lock nor a migration is subject to the time limit of queries.
    await sql`set statement_timeout = 0`.execute(connection);
    try {
      const startedAt = performance.now();
      const { error, results = [] } = await runMigrator(connection, migrations, log);
      if (error !== undefined) {
        // A server with a newer version may have migrated the database during the wait.
        refuseNewer(await appliedMigrations(connection), migrations);
        throw explain(error, results.find(({ status }) => status === "Error")?.migrationName);
      }
      const names = results.map(({ migrationName }) => migrationName);
      const last = names.at(-1);
      // One line, so that the API key of the first start stays near the top of the output.
      if (last !== undefined)
        log.info(
          { migrations: names.length, up_to: last, duration_ms: Math.round(performance.now() - startedAt) },
          "migrated the database",
        );
      return names;
    } finally {
      // Fails on a broken connection; the first error is the one to report.
      await sql`reset statement_timeout`.execute(connection).catch(() => undefined);
    }
  });
}

async function runMigrator(
  connection: Kysely<unknown>,
  migrations: Readonly<Record<string, Migration>>,
  log: DatabaseLog,
): Promise<MigrationResultSet> {
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(connection);
  const schema = rows[0]?.name;
  const notice = setTimeout(() => {
    log.info({}, "waiting for another server to finish its migrations");
  }, waitNoticeMs);
  try {
    return await new Migrator({
      db: connection,
      migrationTableName: "shoal_migrations",
      migrationLockTableName: "shoal_migrations_lock",
      // Without it, Migrator mistakes a table of another schema for its own.
      ...(schema != null && { migrationTableSchema: schema }),
      provider: {
        getMigrations: () => {
          clearTimeout(notice);
          return Promise.resolve(migrations);
        },
      },
    }).migrateToLatest();
  } finally {
    clearTimeout(notice);
  }
}
