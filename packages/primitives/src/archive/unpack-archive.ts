import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { chmod, mkdir, symlink } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { extract } from "tar-stream";

const gzipMagic = 0x1f8b;

/** What an archive may have. */
export interface ArchiveLimits {
  /** All files together, unpacked. */
  readonly maxBytes: number;
  readonly maxFiles: number;
}

/** For {@link unpackArchive}. */
export interface UnpackOptions extends ArchiveLimits {
  /** With gzip or zstd. */
  readonly isCompressed: boolean;
}

/** The archive is too large, or has a path outside of its folder. */
export class ArchiveError extends Error {
  override readonly name = "ArchiveError";
}

/**
 * Unpacks a tar archive. Links are made last, so that no file is written through one. They can lead outside of the folder,
 * so do not unpack archives of strangers outside of a box.
 */
export async function unpackArchive(
  source: Readable,
  to: string,
  { isCompressed, maxBytes, maxFiles }: UnpackOptions,
): Promise<void> {
  const links: { readonly at: string; readonly target: string }[] = [];
  const made = new Set<string>();
  let bytes = 0;
  let files = 0;
  const parse = extract();
  const fed = isCompressed ? pipeline(source, await decompressorOf(source), parse) : pipeline(source, parse);
  const read = (async () => {
    for await (const entry of parse) {
      const { name, type, size, mode, linkname } = entry.header;
      files += 1;
      bytes += size;
      if (files > maxFiles) throw new ArchiveError(`The archive has more than ${String(maxFiles)} files.`);
      if (bytes > maxBytes) throw new ArchiveError(`The archive has more than ${String(maxBytes)} bytes.`);
      const at = resolve(to, name);
      if (at !== to && !at.startsWith(to + sep))
        throw new ArchiveError(`The archive has a path outside of it: ${name}`);
      if (type === "directory") await makeFolder(at, made);
      else if (type === "file") {
        await makeFolder(dirname(at), made);
        await pipeline(entry, createWriteStream(at, { mode: mode & 0o111 ? 0o755 : 0o644 }));
      } else if (type === "symlink" && typeof linkname === "string") links.push({ at, target: linkname });
      entry.resume();
    }
  })();
  await Promise.all([fed, read]);
  for (const { at, target } of links) {
    await makeFolder(dirname(at), made);
    await symlink(target, at);
  }
}

async function makeFolder(path: string, made: Set<string>): Promise<void> {
  if (made.has(path)) return;
  await mkdir(path, { recursive: true });
  await chmod(path, 0o755).catch(() => undefined);
  made.add(path);
}

async function decompressorOf(source: Readable): Promise<NodeJS.ReadWriteStream> {
  const start = await firstBytes(source, 2);
  return start.length === 2 && start.readUInt16BE() === gzipMagic ? createGunzip() : createZstdDecompress();
}

/** Leaves them in the stream. Fewer if the stream ends before. */
async function firstBytes(source: Readable, count: number): Promise<Buffer> {
  for (;;) {
    const start = source.read(count) as Buffer | null;
    if (start !== null) {
      source.unshift(start);
      return start;
    }
    if (source.readableEnded || source.destroyed) return Buffer.alloc(0);
    await Promise.race([once(source, "readable"), once(source, "end"), once(source, "close")]);
  }
}
