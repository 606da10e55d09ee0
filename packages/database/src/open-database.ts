import { Kysely, PostgresDialect } from "kysely";
import { ChangeFeed, type ChangeListener } from "./change-feed.ts";
import {
  connectFirst,
  connectTimeoutMs,
  createPool,
  explainConnectionError,
  queryTimeoutMs,
  type Target,
} from "./connect.ts";
import { startEmbedded } from "./embedded/embedded-postgres.ts";
import type { DatabaseLog } from "./log.ts";
import { migrate } from "./migrate.ts";
import { migrations } from "./migrations/all.ts";
import { joining, type OneTransaction } from "./one-transaction.ts";
import { preparing } from "./prepared-statements.ts";
import type { Tables } from "./tables.ts";

export interface DatabaseOptions {
  /** PostgreSQL 14 or newer, `postgres://user:password@host:5432/database`. Without it, an embedded one starts. */
  readonly url?: string | undefined;
  /** Of the embedded PostgreSQL; created with mode 0700 if missing. For one process at a time. */
  readonly dataDir: string;
  readonly log: DatabaseLog;
}

export interface Database extends OneTransaction {
  /** At most 10 connections; 30 s per statement. */
  readonly query: Kysely<Tables>;
  /** A separate connection for short statements that must not wait, such as heartbeats. */
  readonly pulse: Kysely<Tables>;
  readonly embedded: boolean;
  /**
   * Reports each committed change, by any server, of the tables that are cached; for a pool also the end of a browser.
   * `undefined` = changes may have been missed, so evict everything. @returns a function that removes the listener.
   */
  onChange(listener: ChangeListener): () => void;
  /** While false, do not cache rows. */
  isListening(): boolean;
  connections(): { readonly open: number; readonly idle: number; readonly waiting: number };
  /** Closes all connections (busy ones after 5 s) and the embedded PostgreSQL. May be called again. */
  close(): Promise<void>;
}

async function connect(target: Target, log: DatabaseLog): Promise<Omit<Database, "embedded">> {
  const { pool, close: closePool } = createPool(target, log);
  const apart = createPool(target, log, 1);
  const close = () => Promise.all([closePool(), apart.close()]);
  try {
    await connectFirst(pool, target);
    let isMigrated = false;
    const { pool: joined, ...oneTransaction } = joining(
      preparing(pool, () => (isMigrated ? queryTimeoutMs : undefined)),
      connectTimeoutMs,
    );
    const dialect = new PostgresDialect({ pool: joined });
    await migrate(new Kysely<unknown>({ dialect }), migrations, log);
    isMigrated = true;
    const query = new Kysely<Tables>({ dialect });
    const feed = await ChangeFeed.open(target, log).catch((error: unknown) => {
      throw explainConnectionError(error, target);
    });
    let closing: Promise<void> | undefined;
    return {
      ...oneTransaction,
      query,
      pulse: new Kysely<Tables>({
        dialect: new PostgresDialect({ pool: preparing(apart.pool, () => queryTimeoutMs) }),
      }),
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

/** Starts the embedded PostgreSQL without `url`, and migrates. @throws {DatabaseError} Nothing is left running. */
export async function openDatabase({ url, dataDir, log }: DatabaseOptions): Promise<Database> {
  if (url !== undefined) return { ...(await connect({ url }, log)), embedded: false };
  const { platform, arch } = process;
  const postgres = await startEmbedded({ directory: dataDir, log, platform, arch, tcp: platform === "win32" });
  try {
    const database = await connect(postgres.target, log);
    const close = async () => {
      try {
        await database.close();
      } finally {
        await postgres.stop();
      }
    };
    let closing: Promise<void> | undefined;
    return { ...database, embedded: true, close: () => (closing ??= close()) };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}
