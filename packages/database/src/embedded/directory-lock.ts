import { chown, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseError } from "../database-error.ts";
import { lockFile } from "../file-lock.ts";

export interface Owner {
  readonly pid: number;
  readonly started_at: string;
  readonly socket_dir?: string;
  readonly port?: number;
}

/** Exclusive use of a data directory. The operating system releases it when the process ends, even by SIGKILL. */
export interface DirectoryLock {
  /** The previous holder, if it did not end regularly. */
  readonly previous: Owner | undefined;
  describe(owner: Owner): Promise<void>;
  forget(): Promise<void>;
  release(): void;
}

const ownerFile = (directory: string): string => join(directory, "owner.json");

export async function readOwner(directory: string): Promise<Owner | undefined> {
  try {
    const owner: unknown = JSON.parse(await readFile(ownerFile(directory), "utf8"));
    if (typeof owner !== "object" || owner === null || !("pid" in owner) || typeof owner.pid !== "number")
      return undefined;
    const startedAt = "started_at" in owner && typeof owner.started_at === "string" ? owner.started_at : "";
    const socketDir =
      "socket_dir" in owner && typeof owner.socket_dir === "string" ? { socket_dir: owner.socket_dir } : {};
    const port = "port" in owner && typeof owner.port === "number" ? { port: owner.port } : {};
    return { pid: owner.pid, started_at: startedAt, ...socketDir, ...port };
  } catch {
    return undefined;
  }
}

/** @throws {DatabaseError} `data_dir_locked` within a second, with the holder's process id; `data_dir_unwritable`. */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const file = join(directory, "lock");
  const lock = await lockFile(file);
  if (lock === undefined) {
    const owner = await readOwner(directory);
    const holder = owner === undefined ? "another process" : `process ${owner.pid}`;
    throw new DatabaseError(`The data directory ${directory} is in use by ${holder}.`, {
      code: "data_dir_locked",
      hint: "Stop that process, or choose another data directory. To run several servers, set the URL of a shared PostgreSQL.",
    });
  }
  const { uid, gid } = await stat(directory);
  // A lock file of root would lock the directory's owner out.
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
