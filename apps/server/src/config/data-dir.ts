import { lockFile } from "@shoal/database";
import { hasCode, messageOf } from "@shoal/primitives";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createId, isId } from "@shoal/primitives";
import { StartError } from "./start-error.ts";

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

export function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

function kept(path: string, isValid: (content: string) => boolean, create: () => string): string {
  const present = readIfPresent(path)?.trim();
  if (present !== undefined && isValid(present)) return present;
  if (present !== undefined)
    throw new StartError(`${path} is damaged.`, {
      hint: "Restore it from a backup. If you remove it, the next start creates another, and everything that depends on it is lost.",
    });
  const made = create();
  writePrivateFile(path, `${made}\n`);
  return made;
}

export interface DataDir {
  readonly path: string;
  /** Stable across starts, so that a server finds the sessions of its earlier runs. */
  readonly serverId: string;
  readonly sessionsDir: string;
  release(): void;
}

/** The kernel releases the lock when the process dies. */
async function lock(folder: string): Promise<() => void> {
  const held = await lockFile(join(folder, "server.lock"));
  // Closing a second handle would release the lock, so the holder's process id is in a separate file.
  const pidFile = join(folder, "server.pid");
  if (held === undefined) {
    const pid = readIfPresent(pidFile)?.trim() ?? "";
    throw new StartError(
      `The data folder ${folder} is in use by the Shoal server${/^\d+$/.test(pid) ? ` with process id ${pid}` : ""}.`,
      {
        hint: "Stop that server, or start this one with another folder (--data-dir).",
      },
    );
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

/** `mkdir -p`. Node's version loops forever on a file system such as /proc that refuses new folders with ENOENT. */
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

/** Creates and locks the data folder. @throws {StartError} when it is not writable, or another server uses it. */
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
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const [problem, step] = problems[code] ?? [`cannot be used: ${messageOf(error)}`, "Make it writable"];
    throw new StartError(`The data folder ${path} ${problem}.`, {
      hint: `${step}, or choose another with --data-dir or SHOAL_DATA_DIR.`,
      cause: error,
    });
  }
}

const isFile = ["is a file, or below one", "Move the file away"] as const;
const isForbidden = ["is not writable for this user", "Change its owner or its permissions"] as const;
const isFull = ["has no room on its disk", "Free disk space"] as const;

const problems: Readonly<Partial<Record<string, readonly [problem: string, step: string]>>> = {
  EACCES: isForbidden,
  EDQUOT: isFull,
  EEXIST: isFile,
  ENOSPC: isFull,
  ENOTDIR: isFile,
  EPERM: isForbidden,
  EROFS: ["is on a read-only file system", "Mount it writable"],
};

/** Of the embedded database. */
export function databaseDirectory(dataDir: string): string {
  return join(dataDir, "database");
}

/** Present while a restore is writing the data folder. */
export function restoringMarker(path: string): string {
  return join(path, "restoring");
}

export function refuseUnfinishedRestore(path: string): void {
  if (!existsSync(restoringMarker(path))) return;
  throw new StartError(`A restore into ${path} did not finish.`, {
    hint: "Run `shoal-server restore` again; it starts over.",
  });
}

const secretFile = (dataDir: string) => join(dataDir, "secret.key");

/** The setting, or the content of `secret.key`. @throws {StartError} when the file is damaged. */
export function findServerSecret(dataDir: string, configured: string | undefined): string | undefined {
  if (configured !== undefined) return configured;
  const secret = readIfPresent(secretFile(dataDir))?.trim();
  if (secret === undefined || secret.length >= 32) return secret;
  throw new StartError(`${secretFile(dataDir)} is damaged.`, {
    hint: "Restore it from a backup. Without it, the encrypted data of this service cannot be read.",
  });
}

/** Returns the secret of an existing data folder. @throws {StartError} when it has none. */
export function presentServerSecret(dataDir: string, configured: string | undefined): string {
  const secret = findServerSecret(dataDir, configured);
  if (secret !== undefined) return secret;
  throw new StartError(`${secretFile(dataDir)} does not exist.`, {
    hint: "Name the data folder of the service with --data-dir, or set secret_key.",
    exitCode: 2,
  });
}

/** Creates `secret.key`, which signs session tokens and encrypts stored data. */
export function createServerSecret(dataDir: string): string {
  const secret = randomBytes(32).toString("base64url");
  writePrivateFile(secretFile(dataDir), `${secret}\n`);
  return secret;
}

export function lostServerSecret(dataDir: string): StartError {
  return new StartError(`${secretFile(dataDir)} is missing, and the database has data of an earlier secret.`, {
    hint: "Restore that file from a backup, or set secret_key as before. If the secret is lost, set secret_key to a new one of 32 characters or more: saved profiles, credentials and other encrypted data then stay unreadable.",
  });
}
