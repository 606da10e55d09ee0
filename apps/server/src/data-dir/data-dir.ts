import { lockFile } from "@shoal/database";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createId, isId } from "../ids.ts";
import { StartError } from "../start-error.ts";

/** Writes a file that only this user can read, whole or not at all. */
export function writePrivateFile(path: string, content: string): void {
  const temporary = join(dirname(path), `.${createId()}.tmp`);
  try {
    writeFileSync(temporary, content, { mode: 0o600, flag: "wx" });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/** The file's content, or `undefined` when there is no such file. */
export function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** A file's content, made at the first use and kept: the same in every later start. */
function kept(path: string, isValid: (content: string) => boolean, create: () => string): string {
  const present = readIfPresent(path)?.trim();
  if (present !== undefined && isValid(present)) return present;
  if (present !== undefined)
    throw new StartError(`${path} is damaged.`, {
      hint: "Restore it from a backup, or remove it: it is then made anew, and what depended on it is lost.",
    });
  const made = create();
  writePrivateFile(path, `${made}\n`);
  return made;
}

/** What a server keeps in its data folder. */
export interface DataDir {
  readonly path: string;
  /** The same at every start: tells which sessions were this server's. */
  readonly serverId: string;
  readonly sessionsDir: string;
  /** Gives the folder free for another server. */
  release(): void;
}

/** Locks the folder for this process. The kernel releases the lock when the process dies. */
async function lock(folder: string): Promise<() => void> {
  const held = await lockFile(join(folder, "server.lock"));
  // The lock's own file must not be opened a second time, so the holder says in another one who it is.
  const pidFile = join(folder, "server.pid");
  if (held === undefined) {
    const pid = readIfPresent(pidFile)?.trim() ?? "";
    throw new StartError(`The data folder ${folder} is in use by the Shoal server${/^\d+$/.test(pid) ? ` with process id ${pid}` : ""}.`, {
      hint: "Stop that server, or start this one with another folder (--data-dir).",
    });
  }
  const release = (): void => {
    rmSync(pidFile, { force: true });
    held.release();
  };
  try {
    writePrivateFile(pidFile, `${String(process.pid)}\n`);
    return release;
  } catch (error) {
    release();
    throw error;
  }
}

/** `mkdir -p`. Node's own goes round for ever where a file system refuses new folders with ENOENT, as /proc does. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (hasCode(error, "EEXIST") && statSync(path).isDirectory()) return;
    if (!hasCode(error, "ENOENT") || existsSync(dirname(path))) throw error;
    makeFolder(dirname(path));
    mkdirSync(path, { mode: 0o700 });
  }
}

/**
 * Makes the data folder, readable by this user alone, and claims it for this process.
 *
 * @throws {StartError} when it cannot be written to, or another server uses it.
 */
export async function openDataDir(path: string): Promise<DataDir> {
  try {
    const sessionsDir = join(path, "sessions");
    makeFolder(path);
    const release = await lock(path);
    try {
      mkdirSync(sessionsDir, { recursive: true, mode: 0o700 });
      const serverId = kept(join(path, "server-id"), isId, createId);
      return { path, serverId, sessionsDir, release };
    } catch (error) {
      release();
      throw error;
    }
  } catch (error) {
    if (StartError.isInstance(error)) throw error;
    throw new StartError(`The data folder ${path} cannot be used: ${error instanceof Error ? error.message : String(error)}.`, {
      hint: "Make it writable for this user, or choose another with --data-dir or SHOAL_DATA_DIR.",
      cause: error,
    });
  }
}

/** A file that lies in a data folder as long as a restore fills it. */
export function restoringMarker(path: string): string {
  return join(path, "restoring");
}

/** @throws {StartError} on a data folder that a restore has not filled to the end. */
export function refuseUnfinishedRestore(path: string): void {
  if (!existsSync(restoringMarker(path))) return;
  throw new StartError(`A restore into ${path} has not come to its end.`, { hint: "Run `shoal-server restore` again: it begins anew." });
}

/** The secret behind session tokens and stored answers: from the settings, or made once in `secret.key` (mode 0600). */
export function readServerSecret(dataDir: string, configured: string | undefined): string {
  return (
    configured ??
    kept(
      join(dataDir, "secret.key"),
      (content) => content.length >= 32,
      () => randomBytes(32).toString("base64url"),
    )
  );
}
