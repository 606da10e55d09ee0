import { notAFile } from "@shoal/contract/refusals";
import type { FileInfo } from "@shoal/schemas";
import { ServiceError, type BytesReply } from "@shoal/router";
import { constants, type Stats } from "node:fs";
import { lstat, open, stat, type FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { orServiceError } from "../errors.ts";
import { describeFile, fileKind } from "../file-info.ts";
import { baseName, hostPath, type SessionRoot } from "../paths.ts";

/** Files up to this size are read at once: generated files (`/proc`, `/sys`) do not report their size. */
const smallBytes = 64 * 1024;
const chunkBytes = 256 * 1024;

/** @throws {ServiceError} 400 `not_a_file` for other kinds of files, without waiting for pipes. */
export async function readFile(root: SessionRoot, path: string): Promise<BytesReply> {
  const action = "read";
  return orServiceError(action, path, async () => {
    const place = await hostPath(root, path, { follow: true, action });
    // Checked before opening, because opening a device or a pipe may have effects.
    refuseOthers(path, await stat(place));
    // Undefined on Windows, which counts as 0.
    const handle = await open(place, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      refuseOthers(path, stats);
      const fileName = baseName(path);
      if (stats.size > smallBytes)
        return {
          stream: handle.createReadStream({ start: 0, end: stats.size - 1, highWaterMark: chunkBytes }),
          sizeBytes: stats.size,
          fileName,
        };
      const content = await readUpTo(handle, smallBytes + 1);
      if (content.length > smallBytes)
        return { stream: handle.createReadStream({ start: 0, highWaterMark: chunkBytes }), fileName };
      await handle.close();
      return {
        stream: Readable.from(content.length === 0 ? [] : [content], { objectMode: false }),
        sizeBytes: content.length,
        fileName,
      };
    } catch (error) {
      await handle.close().catch(() => undefined);
      throw error;
    }
  });
}

function refuseOthers(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  throw ServiceError.of(notAFile("read", path, fileKind(stats)));
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

export async function fileInfo(root: SessionRoot, path: string): Promise<FileInfo> {
  const action = "describe";
  return orServiceError(action, path, async () =>
    describeFile(path, baseName(path), await lstat(await hostPath(root, path, { follow: false, action }))),
  );
}
