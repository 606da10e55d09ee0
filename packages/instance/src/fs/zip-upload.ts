import type { MultipartPart } from "@shoal/router";
import { isUtf8 } from "node:buffer";
import { chmod, lstat, mkdir, open, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry, ZipFile } from "yauzl";
import { invalidInput, notADirectory, orServiceError, tooLarge } from "./errors.ts";
import { fileKind } from "./file-info.ts";
import type { FileSystemLimits } from "./limits.ts";
import { mergeTree } from "./merge-tree.ts";
import { locate, normalisePath, type SessionRoot } from "./paths.ts";
import { removeTree } from "./remove-tree.ts";
import { makeDirectories, stageFile, temporaryPath } from "./temporary.ts";
import { contentOf, readingArchive, type Archive, type ReadableEntry } from "./zip-content.ts";
import { ArchivePlan, checkLinkTarget, type PlannedEntry } from "./zip-plan.ts";

type ZipLibrary = typeof import("yauzl");
type Planned = PlannedEntry<ReadableEntry>;

/** As many files as are unpacked at once. */
const concurrency = 8;

/**
 * Unpacks an archive into a directory, which is made when missing. Every entry is checked first, then all is unpacked to a hidden directory and moved into
 * place: a refused or broken archive leaves nothing. Existing directories are kept, existing files replaced. Set-uid, set-gid and sticky bits are dropped.
 *
 * @param parts - `zip_file` and `dest_path`, in any order.
 * @param signal - ends the work between two entries.
 * @throws {ServiceError} 400 `unsafe_archive` (see {@link ArchivePlan}), 400 `bad_request` for what is no archive or is damaged, 413 above a limit.
 */
export async function uploadZip(
  root: SessionRoot,
  parts: AsyncIterable<MultipartPart>,
  options: { readonly limits: FileSystemLimits; readonly signal: AbortSignal },
): Promise<void> {
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
        archive = await orServiceError(
          "take in",
          "the archive",
          async () => (await stageFile(root.spoolDirectory ?? tmpdir(), stream, { what: "The archive", bytes: options.limits.archiveBytes })).path,
        );
      } else throw invalidInput(name, "unknown part; known are zip_file and dest_path");
    }
    if (path === undefined) throw invalidInput("body.dest_path", "required (expected the absolute path of a directory)");
    if (archive === undefined) throw invalidInput("body.zip_file", "required (expected a file)");
    await unpackArchive(root, { archive, path }, options);
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

/**
 * Unpacks an archive that lies on the disk, as {@link uploadZip} does.
 *
 * @param upload.path - API path of the directory that it is unpacked into.
 * @throws {ServiceError} as {@link uploadZip}.
 */
export async function unpackArchive(
  root: SessionRoot,
  upload: { readonly archive: string; readonly path: string },
  options: { readonly limits: FileSystemLimits; readonly signal: AbortSignal },
): Promise<void> {
  const { path } = upload;
  // Loaded by the first upload of an archive: the program that starts does not wait for it.
  const library = await import("yauzl");
  const zip = await readingArchive(() => library.openPromise(upload.archive, { autoClose: false, decodeStrings: false, validateEntrySizes: false }));
  const archive: Archive = { zip, bytes: await open(upload.archive, "r") };
  try {
    const planned = await planArchive(library, zip, options);
    const links = new Map<Planned, string>();
    for (const entry of planned) if (entry.kind === "link") links.set(entry, await readLink(archive, entry));
    await orServiceError("unpack into", path, async () => {
      const { base, names } = await findDirectory(root, path);
      const staging = temporaryPath(base);
      await mkdir(staging, { mode: 0o700 });
      try {
        await extract(archive, { planned, links, staging }, options.signal);
        await mergeTree(staging, { make: () => makeDirectories(base, names), existing: names.length === 0 ? base : undefined, path });
      } finally {
        await removeTree(staging, 0);
      }
    });
  } finally {
    zip.close();
    await archive.bytes.close();
  }
}

async function planArchive(
  library: ZipLibrary,
  zip: ZipFile,
  options: { readonly limits: FileSystemLimits; readonly signal: AbortSignal },
): Promise<readonly Planned[]> {
  const { archiveEntries } = options.limits;
  if (zip.entryCount > archiveEntries) throw tooLarge("The number of entries in the archive", String(archiveEntries));
  const plan = new ArchivePlan<ReadableEntry>(options.limits);
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

async function readLink(archive: Archive, planned: Planned): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of contentOf(archive, planned.entry)) chunks.push(chunk);
  const target = Buffer.concat(chunks).toString("utf8");
  checkLinkTarget(planned.entry.name, planned.names, target);
  return target;
}

async function extract(
  archive: Archive,
  what: { readonly planned: readonly Planned[]; readonly links: ReadonlyMap<Planned, string>; readonly staging: string },
  signal: AbortSignal,
): Promise<void> {
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
  for (const entry of planned) if (entry.kind === "directory") await directory(entry.names);
  const files = planned.filter(({ kind }) => kind === "file");
  let next = 0;
  const extractRest = async (): Promise<void> => {
    try {
      for (let entry = files[next++]; entry !== undefined; entry = files[next++]) {
        signal.throwIfAborted();
        await extractFile(archive, entry, join(await directory(entry.names.slice(0, -1)), entry.names.at(-1) ?? ""));
      }
    } catch (error) {
      next = files.length;
      throw error;
    }
  };
  // All have ended before the first failure is thrown: nobody writes any more when the tree is removed.
  for (const result of await Promise.allSettled(Array.from({ length: concurrency }, extractRest)))
    if (result.status === "rejected") throw result.reason;
  // Last, so that no file is ever written through one.
  for (const [entry, target] of links) await symlink(target, join(await directory(entry.names.slice(0, -1)), entry.names.at(-1) ?? ""));
  for (const { kind, mode, names } of planned) if (kind === "directory") await chmod(join(staging, ...names), mode);
}

async function extractFile(archive: Archive, entry: Planned, path: string): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    for await (const chunk of contentOf(archive, entry.entry)) {
      for (let offset = 0; offset < chunk.length;) offset += (await handle.write(chunk, offset)).bytesWritten;
    }
    await handle.chmod(entry.mode);
    const modified = entry.entry.raw.getLastModDate();
    if (!Number.isNaN(modified.getTime())) await handle.utimes(modified, modified);
  } finally {
    await handle.close();
  }
}
