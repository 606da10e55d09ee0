import { hasCode } from "@shoal/primitives";
import {
  destinationIsDirectory,
  directoryReplaces,
  movedIntoItself,
  notADirectory,
  pathMissing,
} from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { Stats } from "node:fs";
import { cp, lstat, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileSystemError, orServiceError } from "./errors.ts";
import { fileKind } from "./file-info.ts";
import { locate, parentPath, type SessionRoot } from "./paths.ts";
import { isWithin, refuseProtected } from "./protected.ts";
import { removeTree } from "./remove-tree.ts";
import { temporaryPath } from "./temporary.ts";

/** Moves in one step. Between filesystems: copies next to the destination, renames the copy, deletes the source. */
export async function movePath(root: SessionRoot, sourcePath: string, destinationPath: string): Promise<void> {
  const action = "move" as const;
  const source = await locate(root, sourcePath, { follow: false, action });
  if (source.missing.length > 0) throw ServiceError.of(pathMissing(action, sourcePath));
  const destination = await locate(root, destinationPath, { follow: false, action: "move to" });
  if (destination.missing.length > 1)
    throw ServiceError.of(pathMissing("move to", `${destinationPath}, because ${parentPath(destinationPath)}`));
  const from = source.existing;
  const to = join(destination.existing, ...destination.missing);
  await orServiceError(action, sourcePath, async () => {
    const stats = await lstat(from);
    await refuseProtected(root, { path: sourcePath, place: from, action });
    if (from === to) return;
    if (stats.isDirectory() && isWithin(from, to)) throw ServiceError.of(movedIntoItself(sourcePath, destinationPath));
    const replaced = destination.missing.length === 0 ? await lstat(to) : undefined;
    if (replaced !== undefined) refuseReplacing(stats, replaced, { sourcePath, destinationPath });
    try {
      await renameOrCopy(from, to, { stats, replaced });
    } catch (error) {
      // The source exists and is readable, so the error is about the destination.
      throw hasCode(error, "ENOSPC", "EDQUOT", "EACCES", "EPERM", "EROFS", "EBUSY")
        ? fileSystemError(error, `move ${sourcePath} to`, destinationPath)
        : error;
    }
  });
}

function refuseReplacing(
  source: Stats,
  replaced: Stats,
  paths: { readonly sourcePath: string; readonly destinationPath: string },
): void {
  // Renaming a to A on a case-insensitive filesystem: the destination is the source.
  if (isSame(source, replaced)) return;
  const { destinationPath, sourcePath } = paths;
  if (replaced.isDirectory()) throw ServiceError.of(destinationIsDirectory(sourcePath, destinationPath));
  if (source.isDirectory()) throw ServiceError.of(directoryReplaces(sourcePath, destinationPath, fileKind(replaced)));
  if (!replaced.isFile() && !replaced.isSymbolicLink())
    throw ServiceError.of(notADirectory("move to", destinationPath, fileKind(replaced)));
}

async function renameOrCopy(
  from: string,
  to: string,
  found: { readonly stats: Stats; readonly replaced: Stats | undefined },
): Promise<void> {
  const { replaced, stats } = found;
  try {
    await rename(from, to);
    // POSIX keeps both names of hard links to one file.
    if (
      replaced !== undefined &&
      isSame(stats, replaced) &&
      !stats.isDirectory() &&
      from.toLowerCase() !== to.toLowerCase()
    )
      await unlink(from).catch(ignoreMissing);
  } catch (error) {
    if (!hasCode(error, "EXDEV")) throw error;
    await copyAcross(from, to);
  }
}

async function copyAcross(from: string, to: string): Promise<void> {
  const temporary = temporaryPath(dirname(to));
  try {
    await cp(from, temporary, {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
      errorOnExist: true,
      force: false,
    });
    await rename(temporary, to);
  } catch (error) {
    await removeTree(temporary, 0).catch(() => undefined);
    if (hasCode(error, "ERR_FS_CP_FIFO_PIPE", "ERR_FS_CP_SOCKET", "ERR_FS_CP_UNKNOWN")) {
      throw new ServiceError(
        400,
        "not_a_file",
        "Cannot move it to another filesystem: it contains a named pipe, a socket or a device.",
        { cause: error, hint: "Delete that first." },
      );
    }
    throw error;
  }
  await removeTree(from, 0);
}

function isSame(a: Stats, b: Stats): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.ino !== 0;
}

function ignoreMissing(error: unknown): void {
  if (!hasCode(error, "ENOENT")) throw error;
}
