import { chown, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseError } from "../database-error.ts";
import { lockFile } from "../file-lock.ts";

/** What the holder of a directory tells others about itself. */
export interface Owner {
  readonly pid: number;
  readonly started_at: string;
  /** Where its PostgreSQL's socket is, when that is outside of the directory. */
  readonly socket_dir?: string;
  /** Where it takes connections over loopback instead. */
  readonly port?: number;
}

/** The right to use a data directory. The operating system takes it back when the process dies, however it dies. */
export interface DirectoryLock {
  /** What the holder before us left, if it did not end in order. */
  readonly previous: Owner | undefined;
  describe(owner: Owner): Promise<void>;
  /** Takes the description away, in an ending in order. */
  forget(): Promise<void>;
  release(): void;
}

const ownerFile = (directory: string): string => join(directory, "owner.json");

/** What the holder of a directory wrote of itself. */
export async function readOwner(directory: string): Promise<Owner | undefined> {
  try {
    const owner: unknown = JSON.parse(await readFile(ownerFile(directory), "utf8"));
    if (typeof owner !== "object" || owner === null || !("pid" in owner) || typeof owner.pid !== "number") return undefined;
    const startedAt = "started_at" in owner && typeof owner.started_at === "string" ? owner.started_at : "";
    const socketDir = "socket_dir" in owner && typeof owner.socket_dir === "string" ? { socket_dir: owner.socket_dir } : {};
    const port = "port" in owner && typeof owner.port === "number" ? { port: owner.port } : {};
    return { pid: owner.pid, started_at: startedAt, ...socketDir, ...port };
  } catch {
    return undefined;
  }
}

/**
 * Takes the directory for this process.
 *
 * @throws {DatabaseError} `data_dir_locked`, in less than a second, naming the directory and the holder's process id; `data_dir_unwritable`.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const file = join(directory, "lock");
  const lock = await lockFile(file);
  if (lock === undefined) {
    const owner = await readOwner(directory);
    const holder = owner === undefined ? "another process" : `process ${owner.pid}`;
    throw new DatabaseError(`The data directory ${directory} is in use by ${holder}.`, {
      code: "data_dir_locked",
      hint: "Stop that process, or start this one with another data directory; many servers at once share a PostgreSQL given by its URL.",
    });
  }
  const { uid, gid } = await stat(directory);
  // Root on a user's directory must not lock that user out afterwards.
  if (process.geteuid?.() === 0) await chown(file, uid, gid);
  return {
    previous: await readOwner(directory),
    async describe(owner) {
      const draft = `${ownerFile(directory)}.new`;
      await rm(draft, { force: true });
      await writeFile(draft, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
      await rename(draft, ownerFile(directory));
    },
    forget: () => rm(ownerFile(directory), { force: true }),
    release() {
      lock.release();
    },
  };
}
