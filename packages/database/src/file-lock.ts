import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@shoal/primitives";
import { DatabaseError } from "./database-error.ts";

export interface FileLock {
  release(): void;
}

/** Node closes a database that nothing refers to, which would release its lock. */
const locked = new Set<DatabaseSync>();

/** Milliseconds: simultaneous attempts can refuse each other, and the holder may be closing. */
const patienceMs = 600;

/** Uses SQLite for its kernel file locks, which Node does not offer. */
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
    throw new DatabaseError(`Cannot lock the file ${path}: ${messageOf(error)}.`, {
      code: "data_dir_unwritable",
      hint: "Fix the owner of the data directory and its contents, or choose a directory on a local file system.",
      cause: error,
    });
  }
}

/**
 * Never removes the file, so that two processes lock the same one. Closing another handle of it releases the lock
 * (POSIX).
 * The lock lasts until its release or the end of the process, also if nothing refers to the result.
 * @returns `undefined`, within a second, if a process, including this one, holds the lock.
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
  locked.add(held);
  return {
    release() {
      locked.delete(held);
      held.close();
    },
  };
}
