import { access, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Target } from "../connect.ts";
import { DatabaseError } from "../database-error.ts";
import type { DatabaseLog } from "../log.ts";
import { clusterIn, embeddedUser, readPassword } from "./cluster.ts";
import { readOwner } from "./directory-lock.ts";
import { startEmbedded } from "./embedded-postgres.ts";

/** @returns `undefined` if no server owns the directory. */
export async function runningTarget(directory: string): Promise<Target | undefined> {
  const owner = await readOwner(directory);
  if (owner?.socket_dir !== undefined)
    return { host: owner.socket_dir, port: 5432, user: embeddedUser, database: "postgres" };
  if (owner?.port === undefined) return undefined;
  return {
    host: "127.0.0.1",
    port: owner.port,
    user: embeddedUser,
    database: "postgres",
    password: await readPassword(directory),
  };
}

/**
 * Returns the running server of the embedded database in a directory, or starts one until `stop`.
 * @throws {DatabaseError} `database_missing`.
 */
export async function reachEmbedded(
  dataDir: string,
  log: DatabaseLog,
): Promise<{ readonly target: Target; readonly stop: () => Promise<void> }> {
  const directory = await realpath(dataDir).catch(() => dataDir);
  await access(join(clusterIn(directory), "PG_VERSION")).catch(() => {
    throw new DatabaseError(`${dataDir} does not contain an embedded database.`, {
      code: "database_missing",
      hint: "Give the data folder of the service. Back up an external database with pg_dump.",
    });
  });
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
