import type { MultipartPart } from "@shoal/router";
import { ServiceError } from "@shoal/router";
import { isUtf8 } from "node:buffer";
import { chmod, lstat, mkdir, open, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Entry, ZipFile } from "yauzl";
import { invalidInput, notADirectory, orServiceError, tooLarge } from "./errors.ts";
import { fileKind } from "./file-info.ts";
import type { FileSystemLimits } from "./limits.ts";
import { mergeTree } from "./merge-tree.ts";
import { locate, normalisePath, type SessionRoot } from "./paths.ts";
import { removeTree } from "./remove-tree.ts";
import { makeDirectories, stageFile, temporaryPath } from "./temporary.ts";
import { ArchivePlan, checkLinkTarget, unsafe, type DeclaredEntry, type PlannedEntry } from "./zip-plan.ts";

type ZipLibrary = typeof import("yauzl");
type Planned = PlannedEntry<DeclaredEntry & { readonly raw: Entry }>;

/**
 * Unpacks an archive into a directory, which is made when missing. Every entry is checked first, then all is unpacked to a hidden directory and moved into
 * place: a refused or broken archive leaves nothing. Existing directories are kept, existing files replaced. Set-uid, set-gid and sticky bits are dropped.
 *
 * @param parts - `zip_file` and `dest_path`, in any order.
 * @param signal - ends the work between two entries.
 * @throws {ServiceError} 400 `unsafe_archive` (see {@link ArchivePlan}), 400 `bad_request` for what is no archive or is damaged, 413 above a limit.
 */
export async function uploadZip(root: SessionRoot, parts: AsyncIterable<MultipartPart>, options: { readonly limits: FileSystemLimits; readonly signal: AbortSignal }): Promise<void> {
  let path: string | undefined;
  let archive: string | undefined;
  try {
    for await (const part of parts) {
      const name = `body.${part.name}`;
      if (part.name === "dest_path") {
        if (part.kind === "file") throw invalidInput(name, "must be a text field: send the part without a filename");
        if (path !== undefined) throw invalidInput(name, "is there twice");
        path = normalisePath(part.value, name);
        // Told before an archive of gigabytes is taken in.
        await findDirectory(root, path);
      } else if (part.name === "zip_file") {
        if (part.kind === "field") throw invalidInput(name, "must be a file: send the part with a filename");
        if (archive !== undefined) throw invalidInput(name, "is there twice");
        const { stream } = part;
        archive = await orServiceError("take in", "the archive", async () => (await stageFile(root.spoolDirectory ?? tmpdir(), stream, { what: "The archive", bytes: options.limits.archiveBytes })).path);
      } else throw invalidInput(name, "unknown part; known are zip_file and dest_path");
    }
    if (path === undefined) throw invalidInput("body.dest_path", "required (expected the absolute path of a directory)");
    if (archive === undefined) throw invalidInput("body.zip_file", "required (expected a file)");
    await unpack(root, { archive, path }, options);
  } finally {
    if (archive !== undefined) await rm(archive, { force: true });
  }
}

async function findDirectory(root: SessionRoot, path: string): Promise<{ base: string; names: readonly string[] }> {
  const action = "unpack into";
  const { existing, missing } = await locate(root, path, { follow: true, action });
  return orServiceError(action, path, async () => {
    const stats = await lstat(existing);
    if (!stats.isDirectory()) throw notADirectory(action, path, fileKind(stats), "Name a directory, or a path that does not exist yet.");
    return { base: existing, names: missing };
  });
}

async function unpack(root: SessionRoot, upload: { readonly archive: string; readonly path: string }, options: { readonly limits: FileSystemLimits; readonly signal: AbortSignal }): Promise<void> {
  const { archive, path } = upload;
  // Loaded by the first upload of an archive: the program that starts does not wait for it.
  const library = await import("yauzl");
  const zip = await readingArchive(() => library.openPromise(archive, { autoClose: false, decodeStrings: false, validateEntrySizes: false }));
  try {
    const planned = await planArchive(library, zip, options);
    const links = new Map<Planned, string>();
    for (const entry of planned) if (entry.kind === "link") links.set(entry, await readLink(zip, entry));
    await orServiceError("unpack into", path, async () => {
      const { base, names } = await findDirectory(root, path);
      const staging = temporaryPath(base);
      await mkdir(staging, { mode: 0o700 });
      try {
        await extract(zip, { planned, links, staging }, options.signal);
        await mergeTree(staging, { make: () => makeDirectories(base, names), existing: names.length === 0 ? base : undefined, path });
      } finally {
        await removeTree(staging, 0);
      }
    });
  } finally {
    zip.close();
  }
}

async function planArchive(library: ZipLibrary, zip: ZipFile, options: { readonly limits: FileSystemLimits; readonly signal: AbortSignal }): Promise<readonly Planned[]> {
  const { archiveEntries } = options.limits;
  if (zip.entryCount > archiveEntries) throw tooLarge("The number of entries in the archive", String(archiveEntries));
  const plan = new ArchivePlan<Planned["entry"]>(options.limits);
  const entries = zip.eachEntry();
  for (;;) {
    options.signal.throwIfAborted();
    const next = await readingArchive(() => entries.next());
    if (next.done === true) return plan.finish();
    const raw: Entry = next.value;
    const madeOn = raw.versionMadeBy >> 8;
    plan.add({
      name: nameOf(library, raw, madeOn),
      unixMode: madeOn === 3 || madeOn === 19 ? raw.externalFileAttributes >>> 16 : undefined,
      encrypted: raw.isEncrypted(),
      method: raw.compressionMethod,
      sizeBytes: raw.uncompressedSize,
      packedBytes: raw.compressedSize,
      offset: raw.relativeOffsetOfLocalHeader,
      raw,
    });
  }
}

function nameOf(library: ZipLibrary, raw: Entry, madeOn: number): string {
  // macOS writes UTF-8 without saying so; what is valid UTF-8 beyond ASCII is hardly ever anything else.
  const unmarked = (raw.generalPurposeBitFlag & 0x800) === 0 && (madeOn === 3 || madeOn === 19) && isUtf8(raw.fileNameRaw);
  return library.getFileNameLowLevel(unmarked ? 0x800 : raw.generalPurposeBitFlag, raw.fileNameRaw, raw.extraFields, true);
}

async function readLink(zip: ZipFile, planned: Planned): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of contentOf(zip, planned)) chunks.push(chunk);
  const target = Buffer.concat(chunks).toString("utf8");
  checkLinkTarget(planned.entry.name, planned.names, target);
  return target;
}

/** Content of an entry, checked: neither more nor less than it declares, and with the right checksum. */
async function* contentOf(zip: ZipFile, { entry }: Planned): AsyncGenerator<Buffer> {
  const stream = await readingArchive(() => zip.openReadStreamPromise(entry.raw));
  let size = 0;
  let checksum = 0;
  const chunks = (stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await readingArchive(() => chunks.next(), entry.name);
      if (next.done === true) break;
      const chunk = next.value;
      size += chunk.length;
      if (size > entry.sizeBytes) throw unsafe(entry.name, `it holds more than the ${entry.sizeBytes} bytes that it declares`);
      checksum = crc32(chunk, checksum);
      yield chunk;
    }
  } finally {
    stream.destroy();
  }
  if (size < entry.sizeBytes) throw damaged(`its entry ${JSON.stringify(entry.name.slice(0, 200))} holds ${size} bytes and declares ${entry.sizeBytes}`);
  if (checksum !== entry.raw.crc32) throw damaged(`the checksum of its entry ${JSON.stringify(entry.name.slice(0, 200))} is wrong`);
}

async function extract(zip: ZipFile, what: { readonly planned: readonly Planned[]; readonly links: ReadonlyMap<Planned, string>; readonly staging: string }, signal: AbortSignal): Promise<void> {
  const { links, planned, staging } = what;
  const made = new Set<string>([staging]);
  const directory = async (names: readonly string[]): Promise<string> => {
    const path = join(staging, ...names);
    if (!made.has(path)) {
      await makeDirectories(staging, names);
      made.add(path);
    }
    return path;
  };
  for (const entry of planned) {
    signal.throwIfAborted();
    if (entry.kind === "directory") await directory(entry.names);
    else if (entry.kind === "file") await extractFile(zip, entry, join(await directory(entry.names.slice(0, -1)), entry.names.at(-1) ?? ""));
  }
  // Last, so that no file is ever written through one.
  for (const [entry, target] of links) await symlink(target, join(await directory(entry.names.slice(0, -1)), entry.names.at(-1) ?? ""));
  for (const { kind, mode, names } of planned) if (kind === "directory") await chmod(join(staging, ...names), mode);
}

async function extractFile(zip: ZipFile, entry: Planned, path: string): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    for await (const chunk of contentOf(zip, entry)) {
      for (let offset = 0; offset < chunk.length; ) offset += (await handle.write(chunk, offset)).bytesWritten;
    }
    await handle.chmod(entry.mode);
    const modified = entry.entry.raw.getLastModDate();
    if (!Number.isNaN(modified.getTime())) await handle.utimes(modified, modified);
  } finally {
    await handle.close();
  }
}

/** Runs a step of the archive library, whose errors say what is wrong with the archive. */
async function readingArchive<T>(work: () => Promise<T>, name?: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error) || ServiceError.isInstance(error) || "syscall" in error) throw error;
    throw damaged(`${name === undefined ? "" : `its entry ${JSON.stringify(name.slice(0, 200))}: `}${error.message}`, error);
  }
}

function damaged(reason: string, cause?: Error): ServiceError {
  return new ServiceError(400, "bad_request", `body.zip_file: not a ZIP archive that can be read, or not all of it: ${reason}. Nothing was unpacked.`, { cause });
}
