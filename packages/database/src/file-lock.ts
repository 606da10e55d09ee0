import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseError } from "./database-error.ts";

/** An exclusive lock on a file. The kernel releases it when the process dies, however it dies. */
export interface FileLock {
  release(): void;
}

/** Two processes that ask in the same millisecond can both be refused, and the holder may be closing, so a refusal is final only after this. */
const patienceMs = 600;

/** Uses SQLite only for its file locks, which Node offers nowhere else: held by the kernel, on all systems, without a server. */
function tryLock(path: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    database.exec("pragma journal_mode = memory; begin exclusive");
    return database;
  } catch (error) {
    database?.close();
    const sqliteBusy = 5;
    if (error instanceof Error && "errcode" in error && error.errcode === sqliteBusy) return undefined;
    throw new DatabaseError(`The file ${path} cannot be locked: ${error instanceof Error ? error.message : String(error)}.`, {
      code: "data_dir_unwritable",
      hint: "Correct the owner of the data directory and of all in it, or choose one on a local file system.",
      cause: error,
    });
  }
}

/**
 * Locks a file for this process, and creates it if it does not exist. The file stays after the release: removing it would let two processes lock two files of
 * the same name. Nothing else in this process may open it, because closing it would release the lock (POSIX record locks).
 *
 * @returns `undefined`, in less than a second, when another process, or this one, holds the lock.
 * @throws {DatabaseError} `data_dir_unwritable`.
 */
export async function lockFile(path: string): Promise<FileLock | undefined> {
  const deadline = performance.now() + patienceMs;
  let database = tryLock(path);
  while (database === undefined) {
    if (performance.now() > deadline) return undefined;
    await sleep(10 + Math.random() * 30);
    database = tryLock(path);
  }
  const held = database;
  return {
    release() {
      held.close();
    },
  };
}
