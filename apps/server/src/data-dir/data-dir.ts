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

/** When the process with this id began, to tell it from a later one with the same id; empty where the system does not say. */
function processStart(pid: number): string {
  // Field 22, counted behind the program's name, which may hold spaces and parentheses.
  return (
    readIfPresent(`/proc/${String(pid)}/stat`)
      ?.replace(/^.*\) /s, "")
      .split(" ")[19] ?? ""
  );
}

function isRunning(pid: number, started: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!hasCode(error, "EPERM")) return false;
  }
  return started === "" || processStart(pid) === started;
}

function lock(path: string): () => void {
  const mine = `${String(process.pid)} ${processStart(process.pid)} ${createId()}`;
  for (let attempt = 0; attempt < 5; attempt += 1) {
    try {
      writeFileSync(path, mine, { mode: 0o600, flag: "wx" });
      return () => {
        if (readIfPresent(path) === mine) rmSync(path, { force: true });
      };
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
    const [pid = "", started = ""] = (readIfPresent(path) ?? "").split(" ");
    if (/^\d+$/.test(pid) && isRunning(Number(pid), started)) {
      throw new StartError(`The data folder ${dirname(path)} is in use by the Shoal server with process id ${pid}.`, {
        hint: "Stop that server, or give this one a folder of its own with --data-dir.",
      });
    }
    rmSync(path, { force: true });
  }
  throw new StartError(`The data folder ${dirname(path)} cannot be locked: other servers start at the same moment.`, { hint: "Start again." });
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
export function openDataDir(path: string): DataDir {
  try {
    const sessionsDir = join(path, "sessions");
    makeFolder(path);
    const release = lock(join(path, "server.lock"));
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
