import { realpath } from "node:fs/promises";
import { Kysely, PostgresDialect } from "kysely";
import { connectFirst, createPool, type Target } from "./connect.ts";
import { reachEmbedded, runningTarget } from "./embedded/reach.ts";
import type { DatabaseOptions } from "./open-database.ts";
import type { Tables } from "./tables.ts";

/** Connections of a second program, next to a service that may run. */
export interface SecondDatabase {
  readonly query: Kysely<Tables>;
  close(): Promise<void>;
}

/** Connects to the database of a service, which may run, without migrating it. @throws {DatabaseError} */
export async function openSecondDatabase({ url, dataDir, log }: DatabaseOptions): Promise<SecondDatabase> {
  const { target, stop } =
    url === undefined ? await reachEmbedded(dataDir, log) : { target: { url }, stop: () => Promise.resolve() };
  return connectSecond(target, log, stop);
}

/** As {@link openSecondDatabase}, but starts nothing. @returns `undefined` if the embedded database does not run. */
export async function openRunningDatabase({ url, dataDir, log }: DatabaseOptions): Promise<SecondDatabase | undefined> {
  if (url !== undefined) return connectSecond({ url }, log);
  const target = await realpath(dataDir)
    .then(runningTarget)
    .catch(() => undefined);
  // The file of its owner remains after a crash.
  return target && (await connectSecond(target, log).catch(() => undefined));
}

async function connectSecond(
  target: Target,
  log: DatabaseOptions["log"],
  stop?: () => Promise<void>,
): Promise<SecondDatabase> {
  const { pool, close } = createPool(target, log, 4);
  const end = async (): Promise<void> => {
    await close();
    await stop?.();
  };
  try {
    await connectFirst(pool, target);
  } catch (error) {
    await end();
    throw error;
  }
  return { query: new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }), close: end };
}
