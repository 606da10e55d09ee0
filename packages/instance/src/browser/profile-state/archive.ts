import { errorOf, messageOf } from "@shoal/primitives";
import { mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { constants, createZstdCompress, createZstdDecompress, type ZstdDecompress } from "node:zlib";
import { type KeptFile, keptFiles } from "./kept-files.ts";
import { ReusedBuffers } from "./reused-buffers.ts";
import { maxSavedStateBytes, readSavedState, type SavedState, savedStateName } from "./saved-state.ts";
import { BadTar, readTar, tarEnd, tarHeader, tarPadding, type TarEntry } from "./tar.ts";

/** A hostile archive could fill the disk. In bytes, and files with folders. */
const maxUnpackedProfileBytes = 8 * 2 ** 30;
const maxEntries = 200_000;
const maxTarBytes = maxUnpackedProfileBytes + maxEntries * 4096;
/** Four times the compressor's window (a power of two), to bound memory. */
const maxWindowLog = 23;
const readBytes = 256 * 1024;

export class BadProfileArchive extends Error {
  override readonly name = "BadProfileArchive";
}

/** Packs a profile: its state, then its kept files, as a tar archive compressed with Zstandard. */
export function packProfile(folder: string | undefined, state: SavedState): Readable {
  const compressed = createZstdCompress({ chunkSize: readBytes });
  void writeTar(new ReusedBuffers(compressed), folder, state).catch((error: unknown) =>
    compressed.destroy(errorOf(error)),
  );
  return compressed;
}

async function writeTar(tar: ReusedBuffers, folder: string | undefined, state: SavedState): Promise<void> {
  const text = Buffer.from(JSON.stringify(state));
  await tar.add(tarHeader({ name: savedStateName, sizeBytes: text.length, modifiedAtSeconds: Date.now() / 1000 }));
  await tar.add(text);
  await tar.add(tarPadding(text.length));
  if (folder !== undefined) for await (const file of keptFiles(folder)) await writeFile(tar, file);
  await tar.add(tarEnd);
  await tar.end();
}

async function writeFile(tar: ReusedBuffers, { name, path, sizeBytes, modifiedAt }: KeptFile): Promise<void> {
  await tar.add(tarHeader({ name, sizeBytes, modifiedAtSeconds: modifiedAt.getTime() / 1000 }));
  if (sizeBytes === 0) return;
  const file = await open(path);
  try {
    // Read exactly the announced size, although the file may grow or shrink meanwhile.
    const lackingBytes = await tar.addFile(file, sizeBytes);
    if (lackingBytes > 0) throw new Error(`${name} became shorter while it was packed.`);
  } finally {
    await file.close();
  }
  await tar.add(tarPadding(sizeBytes));
}

export function createProfileDecompressor(): ZstdDecompress {
  return createZstdDecompress({ chunkSize: readBytes, params: { [constants.ZSTD_d_windowLogMax]: maxWindowLog } });
}

async function* upTo(source: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  for await (const piece of source) {
    bytes += piece.length;
    if (bytes > maxBytes) throw new BadProfileArchive("The archive is larger than a profile may be.");
    yield piece;
  }
}

async function* unpacked(archive: Readable): AsyncGenerator<TarEntry, void, undefined> {
  const tar = createProfileDecompressor();
  const fail = (error?: Error): void => {
    tar.destroy(error ?? new Error("it was cut off"));
  };
  const closed = (): void => {
    if (!archive.readableEnded) fail();
  };
  archive.on("error", fail);
  archive.on("close", closed);
  try {
    archive.pipe(tar);
    yield* readTar(upTo(tar, maxTarBytes));
  } finally {
    archive.off("error", fail);
    archive.off("close", closed);
    archive.unpipe(tar);
    tar.destroy();
  }
}

function explain(error: unknown): unknown {
  if (error instanceof BadProfileArchive) return error;
  const known =
    error instanceof BadTar ||
    (error instanceof Error &&
      "code" in error &&
      typeof error.code === "string" &&
      /^(?:ZSTD|Z_|EEXIST|ENOTDIR|ENAMETOOLONG)/.test(error.code));
  return known ? new BadProfileArchive(`The archive cannot be unpacked: ${messageOf(error)}`, { cause: error }) : error;
}

function placeOf(name: string): readonly string[] {
  const parts = name.replace(/^(?:\.\/)+/, "").split("/");
  if (
    /[\0\\]/.test(name) ||
    (process.platform === "win32" && name.includes(":")) ||
    parts.some((part) => part === "" || part === "." || part === "..")
  )
    throw new BadProfileArchive(
      `The archive holds ${JSON.stringify(name.slice(0, 200))}, which is not a path in a profile.`,
    );
  return parts;
}

/** Regular files only, so no entry can lead out of the folder. @throws {BadProfileArchive} */
export async function unpackProfile(archive: Readable, folder: string): Promise<SavedState | undefined> {
  let state: SavedState | undefined;
  let bytes = 0;
  let entries = 0;
  const made = new Set<string>();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    for await (const entry of unpacked(archive)) {
      const { name, kind, sizeBytes } = entry;
      entries += 1;
      if (entries > maxEntries)
        throw new BadProfileArchive(`The archive holds more than ${String(maxEntries)} files and folders.`);
      if (kind === "directory") continue;
      if (kind === "other")
        throw new BadProfileArchive(`The archive holds ${JSON.stringify(name.slice(0, 200))}, which is not a file.`);
      bytes += sizeBytes;
      if (bytes > maxUnpackedProfileBytes) throw new BadProfileArchive("The archive is larger than a profile may be.");
      if (name === savedStateName) {
        state = await readState(entry);
        continue;
      }
      const target = join(folder, ...placeOf(name));
      const parent = dirname(target);
      if (!made.has(parent)) await mkdir(parent, { recursive: true, mode: 0o700 });
      made.add(parent);
      // `wx`: the existing file may have a name that differs only in case.
      const file = await open(target, "wx", 0o600);
      try {
        for await (const piece of entry.content) await file.writeFile(piece);
      } finally {
        await file.close();
      }
    }
  } catch (error) {
    throw explain(error);
  }
  return state;
}

async function readState({ content, sizeBytes }: TarEntry): Promise<SavedState> {
  if (sizeBytes > maxSavedStateBytes) throw new BadProfileArchive(`${savedStateName} is larger than it may be.`);
  const pieces: Buffer[] = [];
  for await (const piece of content) pieces.push(piece);
  try {
    return readSavedState(Buffer.concat(pieces));
  } catch (error) {
    throw new BadProfileArchive(`${savedStateName} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/** Reads only the saved state, if any. Destroys the stream. @throws {BadProfileArchive} */
export async function readStateOf(archive: Readable): Promise<SavedState | undefined> {
  try {
    for await (const entry of unpacked(archive)) {
      // The state is always the first entry.
      return entry.name === savedStateName ? await readState(entry) : undefined;
    }
    return undefined;
  } catch (error) {
    throw explain(error);
  } finally {
    archive.destroy();
  }
}
