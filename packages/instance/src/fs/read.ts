import type { FileInfo } from "@shoal/schemas";
import type { BytesReply } from "@shoal/router";
import { constants, type Stats } from "node:fs";
import { lstat, open, stat, type FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { notAFile, orServiceError } from "./errors.ts";
import { describeFile, fileKind } from "./file-info.ts";
import { baseName, hostPath, type SessionRoot } from "./paths.ts";

/** Files up to this size are read at once; what the system makes up while it is read (`/proc`, `/sys`) states no true size. */
const smallBytes = 64 * 1024;
const chunkBytes = 256 * 1024;

/**
 * Opens a regular file for reading; a link is followed.
 *
 * @param path - normalised API path.
 * @returns the content as it is when it is read, and its size wherever the file has one.
 * @throws {ServiceError} 400 `not_a_file` for anything that is not a regular file, at once: a named pipe is not waited for.
 */
export async function readFile(root: SessionRoot, path: string): Promise<BytesReply> {
  const action = "read";
  return orServiceError(action, path, async () => {
    const place = await hostPath(root, path, { follow: true, action });
    // Looked at before it is opened: opening a device or a pipe may already do something.
    refuseOthers(path, await stat(place));
    // Windows has no such flag; an undefined one counts as 0.
    const handle = await open(place, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      refuseOthers(path, stats);
      const fileName = baseName(path);
      if (stats.size > smallBytes)
        return { stream: handle.createReadStream({ start: 0, end: stats.size - 1, highWaterMark: chunkBytes }), sizeBytes: stats.size, fileName };
      const content = await readUpTo(handle, smallBytes + 1);
      if (content.length > smallBytes) return { stream: handle.createReadStream({ start: 0, highWaterMark: chunkBytes }), fileName };
      await handle.close();
      return { stream: Readable.from(content.length === 0 ? [] : [content], { objectMode: false }), sizeBytes: content.length, fileName };
    } catch (error) {
      await handle.close().catch(() => undefined);
      throw error;
    }
  });
}

function refuseOthers(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  throw notAFile(
    "read",
    path,
    fileKind(stats),
    stats.isDirectory() ? "Use list_files, or download_dir_zip for its content." : "Only regular files can be read.",
  );
}

async function readUpTo(handle: FileHandle, bytes: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(bytes);
  let filled = 0;
  while (filled < bytes) {
    const { bytesRead } = await handle.read(buffer, filled, bytes - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** Describes a file, a directory or a link (the link itself). */
export async function fileInfo(root: SessionRoot, path: string): Promise<FileInfo> {
  const action = "describe";
  return orServiceError(action, path, async () =>
    describeFile(path, baseName(path), await lstat(await hostPath(root, path, { follow: false, action }))),
  );
}
