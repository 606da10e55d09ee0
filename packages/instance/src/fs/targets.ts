import { constants, type Stats } from "node:fs";
import { chmod, chown, lstat, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { hasCode, notAFile } from "./errors.ts";
import { fileKind } from "./file-info.ts";
import { locate, type SessionRoot } from "./paths.ts";
import { makeDirectories } from "./temporary.ts";

/** A place that a new file goes to. */
export interface FileTarget {
  /** The API path. */
  readonly path: string;
  /** A directory that exists, on the filesystem of the file to be: unfinished content is kept there. */
  readonly stagingDirectory: string;
  /** Deepest existing directory, and the names below it that lead to the file. */
  readonly base: string;
  readonly names: readonly string[];
  /** The file that is replaced. */
  readonly replaced: Stats | undefined;
}

/**
 * Finds out where a file is to be written, and that it may be. A link is followed: the file that it names is replaced (or made), the link stays.
 *
 * @param path - normalised API path.
 * @throws {ServiceError} 400 `not_a_file` when something else than a regular file is there, 403 when that file is read-only.
 */
export async function findTarget(root: SessionRoot, path: string): Promise<FileTarget> {
  const action = "write";
  const { existing, missing } = await locate(root, path, { follow: true, action });
  if (missing.length > 0) return { path, stagingDirectory: existing, base: existing, names: missing, replaced: undefined };
  const stats = await lstat(existing);
  if (!stats.isFile())
    throw notAFile(action, path, fileKind(stats), stats.isDirectory() ? "Name a file in it." : "Delete it first, or use another path.");
  await refuseReadOnly(existing);
  const base = dirname(existing);
  return { path, stagingDirectory: base, base, names: [existing.slice(join(base, "/").length)], replaced: stats };
}

/** A rename would replace even a file that may not be written. (A program that is running may not be written, yet may be replaced.) */
async function refuseReadOnly(path: string): Promise<void> {
  try {
    await (await open(path, constants.O_WRONLY | constants.O_NONBLOCK)).close();
  } catch (error) {
    if (!hasCode(error, "ETXTBSY")) throw error;
  }
}

/**
 * Moves a finished temporary file to its target, in one step; missing directories are made with mode 0755.
 *
 * @param mode - permissions; when absent those of the replaced file, or 0644.
 */
export async function placeFile(target: FileTarget, temporary: string, mode: number | undefined): Promise<void> {
  const { replaced } = target;
  if (replaced !== undefined && process.geteuid?.() === 0 && replaced.uid !== 0) await chown(temporary, replaced.uid, replaced.gid);
  await chmod(temporary, mode ?? (replaced === undefined ? 0o644 : replaced.mode & 0o7777));
  const directory = await makeDirectories(target.base, target.names.slice(0, -1));
  const place = join(directory, target.names.at(-1) ?? "");
  try {
    await rename(temporary, place);
  } catch (error) {
    // What the system says of a directory that appeared meanwhile differs.
    if (hasCode(error, "EISDIR", "ENOTEMPTY", "EEXIST")) throw notAFile("write", target.path, "a directory", "Name a file in it.");
    throw error;
  }
}
