import { ServiceError } from "@shoal/router";
import type { Stats } from "node:fs";
import { cp, lstat, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileSystemError, hasCode, notADirectory, notFound, orServiceError } from "./errors.ts";
import { fileKind } from "./file-info.ts";
import { locate, parentPath, type SessionRoot } from "./paths.ts";
import { isWithin, refuseProtected } from "./protected.ts";
import { removeTree } from "./remove-tree.ts";
import { temporaryPath } from "./temporary.ts";

/**
 * Moves a file, a link (itself) or a directory. An existing file at the destination is replaced in one step.
 * Between filesystems it is copied beside the destination, moved into place when the copy is whole, and then deleted at the source.
 *
 * @throws {ServiceError} 404 when the source or the destination's parent does not exist, 409 when the destination is a directory, 400 for a move
 *   into itself, 403 `protected_path` as for deletion.
 */
export async function movePath(root: SessionRoot, sourcePath: string, destinationPath: string): Promise<void> {
  const action = "move";
  const source = await locate(root, sourcePath, { follow: false, action });
  if (source.missing.length > 0) throw notFound(action, sourcePath);
  const destination = await locate(root, destinationPath, { follow: false, action: "move to" });
  if (destination.missing.length > 1) throw notFound("move to", `${destinationPath}, because ${parentPath(destinationPath)}`);
  const from = source.existing;
  const to = join(destination.existing, ...destination.missing);
  await orServiceError(action, sourcePath, async () => {
    const stats = await lstat(from);
    await refuseProtected(root, { path: sourcePath, place: from, action });
    if (from === to) return;
    if (stats.isDirectory() && isWithin(from, to))
      throw new ServiceError(
        400,
        "bad_request",
        `Cannot move ${sourcePath} to ${destinationPath}: a directory cannot be moved into itself. Choose a destination outside of it.`,
      );
    const replaced = destination.missing.length === 0 ? await lstat(to) : undefined;
    if (replaced !== undefined) refuseReplacing(stats, replaced, { sourcePath, destinationPath });
    try {
      await renameOrCopy(from, to, { stats, replaced });
    } catch (error) {
      // The source is there and may be read: what is refused is refused at the destination.
      throw hasCode(error, "ENOSPC", "EDQUOT", "EACCES", "EPERM", "EROFS", "EBUSY")
        ? fileSystemError(error, `move ${sourcePath} to`, destinationPath)
        : error;
    }
  });
}

function refuseReplacing(source: Stats, replaced: Stats, paths: { readonly sourcePath: string; readonly destinationPath: string }): void {
  // Renaming a to A where names have no case: the destination is the source.
  if (isSame(source, replaced)) return;
  const { destinationPath, sourcePath } = paths;
  if (replaced.isDirectory())
    throw new ServiceError(
      409,
      "conflict",
      `Cannot move ${sourcePath} to ${destinationPath}: it is an existing directory. Name the new path inside it, or delete it first.`,
    );
  if (source.isDirectory())
    throw new ServiceError(
      409,
      "conflict",
      `Cannot move ${sourcePath} to ${destinationPath}: a directory does not replace ${fileKind(replaced)}. Delete it first, or choose another destination.`,
    );
  if (!replaced.isFile() && !replaced.isSymbolicLink())
    throw notADirectory("move to", destinationPath, fileKind(replaced), "Delete it first, or choose another destination.");
}

async function renameOrCopy(from: string, to: string, found: { readonly stats: Stats; readonly replaced: Stats | undefined }): Promise<void> {
  const { replaced, stats } = found;
  try {
    await rename(from, to);
    // Of two hard links to one file POSIX leaves both.
    if (replaced !== undefined && isSame(stats, replaced) && !stats.isDirectory() && from.toLowerCase() !== to.toLowerCase())
      await unlink(from).catch(ignoreMissing);
  } catch (error) {
    if (!hasCode(error, "EXDEV")) throw error;
    await copyAcross(from, to);
  }
}

async function copyAcross(from: string, to: string): Promise<void> {
  const temporary = temporaryPath(dirname(to));
  try {
    await cp(from, temporary, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, errorOnExist: true, force: false });
    await rename(temporary, to);
  } catch (error) {
    await removeTree(temporary, 0).catch(() => undefined);
    if (hasCode(error, "ERR_FS_CP_FIFO_PIPE", "ERR_FS_CP_SOCKET", "ERR_FS_CP_UNKNOWN")) {
      throw new ServiceError(
        400,
        "not_a_file",
        "Cannot move it to another filesystem: a named pipe, a socket or a device is in it. Delete that first.",
        { cause: error },
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
