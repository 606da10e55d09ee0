import { Kysely, PostgresDialect } from "kysely";
import { type ChangeListener, openChangeFeed } from "./change-feed.ts";
import { connectFirst, connectTimeoutMs, createPool, explainConnectionError, queryTimeoutMs, type Target } from "./connect.ts";
import { startEmbedded } from "./embedded/embedded-postgres.ts";
import type { DatabaseLog } from "./log.ts";
import { migrate } from "./migrate.ts";
import { migrations } from "./migrations/all.ts";
import { joining, type OneTransaction } from "./one-transaction.ts";
import { preparing } from "./prepared-statements.ts";
import type { Tables } from "./tables.ts";

/** What {@link openDatabase} takes. */
export interface DatabaseOptions {
  /** Of a PostgreSQL 14 or newer, `postgres://user:password@host:5432/database`; without it an embedded one is started. */
  readonly url?: string | undefined;
  /** Where the embedded PostgreSQL keeps everything; made (mode 0700) when missing. One process at a time. Unused with `url`. */
  readonly dataDir: string;
  readonly log: DatabaseLog;
}

/** Shoal's database, its tables up to date. */
export interface Database extends OneTransaction {
  /** At most 10 connections; a statement may take 30 s. Moments come as ISO strings, see {@link Tables}. */
  readonly query: Kysely<Tables>;
  /** One connection more, for the short statements that must not wait behind those of {@link query}: a server that is busy still lives. */
  readonly pulse: Kysely<Tables>;
  readonly embedded: boolean;
  /**
   * Hears of rows of `projects`, `api_keys`, `profiles` and `browser_pools` that any replica changed, this one included, after the change was
   * committed; of a pool also when one of its browsers has gone. `undefined` = changes may have been missed: forget everything cached.
   *
   * @returns a function that ends it.
   */
  onChange(listener: ChangeListener): () => void;
  /** Whether {@link onChange} hears changes now. While it does not, what was read may change unnoticed, so do not cache it. */
  isListening(): boolean;
  /** Connections now, those of {@link onChange} aside, and queries that wait for one. */
  connections(): { readonly open: number; readonly idle: number; readonly waiting: number };
  /** Ends every connection (after 5 s also those in use) and the embedded PostgreSQL. Resolves when nothing is left; may be called again. */
  close(): Promise<void>;
}

async function connect(target: Target, log: DatabaseLog): Promise<Omit<Database, "embedded">> {
  const { pool, close: closePool } = createPool(target, log);
  const apart = createPool(target, log, 1);
  const close = () => Promise.all([closePool(), apart.close()]);
  try {
    await connectFirst(pool, target);
    // A migration takes as long as it takes.
    let isMigrated = false;
    const { pool: joined, ...oneTransaction } = joining(
      preparing(pool, () => (isMigrated ? queryTimeoutMs : undefined)),
      connectTimeoutMs,
    );
    const dialect = new PostgresDialect({ pool: joined });
    await migrate(new Kysely<unknown>({ dialect }), migrations, log);
    isMigrated = true;
    const query = new Kysely<Tables>({ dialect });
    const feed = await openChangeFeed(target, log).catch((error: unknown) => {
      throw explainConnectionError(error, target);
    });
    let closing: Promise<void> | undefined;
    return {
      ...oneTransaction,
      query,
      pulse: new Kysely<Tables>({ dialect: new PostgresDialect({ pool: preparing(apart.pool, () => queryTimeoutMs) }) }),
      onChange: (listener) => feed.listen(listener),
      isListening: () => feed.isListening(),
      connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
      close: () => (closing ??= Promise.all([feed.close(), close()]).then(() => undefined)),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Opens the database: starts the embedded PostgreSQL when there is no `url`, connects, runs the migrations that are missing
 * (one replica at a time) and begins to hear changes.
 *
 * @throws {DatabaseError} with a code, and a hint what to do. Nothing is left running then, and no message holds a password.
 */
export async function openDatabase({ url, dataDir, log }: DatabaseOptions): Promise<Database> {
  if (url !== undefined) return { ...(await connect({ url }, log)), embedded: false };
  const { platform, arch } = process;
  const postgres = await startEmbedded({ directory: dataDir, log, platform, arch, tcp: platform === "win32" });
  try {
    const database = await connect(postgres.target, log);
    let closing: Promise<void> | undefined;
    return { ...database, embedded: true, close: () => (closing ??= database.close().finally(() => postgres.stop())) };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}
