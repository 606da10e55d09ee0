import { hasCode } from "@shoal/primitives";
import { notADirectory } from "@shoal/contract/refusals";
import { ServiceError, type BytesReply } from "@shoal/router";
import { constants, type Stats } from "node:fs";
import { lstat, open, readdir, readlink, stat, type FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { orServiceError } from "../errors.ts";
import { fileKind } from "../file-info.ts";
import { baseName, hostPath, type SessionRoot } from "../paths.ts";
import { temporaryNamePattern } from "../temporary.ts";
import type { ZipEntry } from "./zip-writer.ts";

/** Files up to this size are read at once, which is faster and needs no open descriptor. */
const smallBytes = 256 * 1024;
const separator = Buffer.from("/");

/** Omits special, unfinished and vanished files. The archive's comment lists unreadable files. */
export async function downloadDirZip(root: SessionRoot, path: string): Promise<BytesReply> {
  const action = "pack";
  return orServiceError(action, path, async () => {
    const place = await hostPath(root, path, { follow: true, action });
    const stats = await stat(place);
    if (!stats.isDirectory()) throw ServiceError.of(notADirectory(action, path, fileKind(stats)));
    const top = Buffer.from(place);
    const first = await sorted(top, undefined);
    const leftOut: string[] = [];
    // Loaded on first use, to keep the start fast.
    const { zipArchive } = await import("./zip-writer.ts");
    const archive = zipArchive(walk(top, first, leftOut), () =>
      leftOut.length === 0 ? "" : `Not permitted to read, left out:\n${leftOut.join("\n")}`,
    );
    return {
      stream: Readable.from(archive, { objectMode: false }),
      fileName: `${path === "/" ? "root" : baseName(path)}.zip`,
    };
  });
}

interface Found {
  readonly name: Buffer;
  readonly isFile: boolean;
}

async function sorted(top: Buffer, below: Buffer | undefined): Promise<Found[]> {
  const directory = below === undefined ? top : Buffer.concat([top, separator, below]);
  const entries = await readdir(directory, { encoding: "buffer", withFileTypes: true });
  return entries
    .filter(({ name }) => !temporaryNamePattern.test(name.toString("latin1")))
    .sort((a, b) => a.name.compare(b.name))
    .map((entry) => ({
      name: below === undefined ? entry.name : Buffer.concat([below, separator, entry.name]),
      isFile: entry.isFile(),
    }));
}

/** Yields directories before their content. The file of an entry is open only until the next entry. */
async function* walk(top: Buffer, first: readonly Found[], leftOut: string[]): AsyncGenerator<ZipEntry> {
  const pending = first.toReversed();
  for (let found = pending.pop(); found !== undefined; found = pending.pop()) {
    const { isFile, name } = found;
    const place = Buffer.concat([top, separator, name]);
    try {
      if (isFile) {
        yield* fileEntry(name, place);
        continue;
      }
      const stats = await lstat(place);
      if (stats.isSymbolicLink()) yield entryOf(name, stats, await readlink(place, "buffer"));
      if (!stats.isDirectory()) continue;
      yield entryOf(name, stats, undefined);
      for (const inner of (await sorted(top, name)).reverse()) pending.push(inner);
    } catch (error) {
      // The file has vanished or changed its type.
      if (hasCode(error, "ENOENT", "ENOTDIR", "ELOOP", "EINVAL", "ENXIO")) continue;
      if (!hasCode(error, "EACCES", "EPERM")) throw error;
      leftOut.push(name.toString("utf8"));
    }
  }
}

async function* fileEntry(name: Buffer, place: Buffer): AsyncGenerator<ZipEntry> {
  // Undefined on Windows, which counts as 0.
  const handle = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  let closed = false;
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return;
    if (stats.size <= smallBytes) {
      const content = await readWhole(handle, stats.size);
      closed = true;
      await handle.close();
      yield entryOf(name, stats, content);
    } else
      yield entryOf(name, stats, {
        stream: handle.createReadStream({ start: 0, end: stats.size - 1, highWaterMark: smallBytes, autoClose: false }),
        sizeBytes: stats.size,
      });
  } finally {
    if (!closed) await handle.close();
  }
}

async function readWhole(handle: FileHandle, size: number): Promise<Buffer> {
  // Most files are read in one step to the announced end.
  const buffer = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await handle.read(buffer, filled, size - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function entryOf(name: Buffer, stats: Stats, content: ZipEntry["content"]): ZipEntry {
  return { name, mode: stats.mode, modified: stats.mtime, content };
}
