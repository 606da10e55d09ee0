import { duplicatePart, fileExpected, notADirectory, partRequired, textExpected } from "@shoal/contract/refusals";
import { ServiceError, type MultipartPart } from "@shoal/router";
import { isUtf8 } from "node:buffer";
import { chmod, lstat, mkdir, open, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry, ZipFile } from "yauzl";
import { orServiceError, tooLarge } from "../errors.ts";
import { fileKind } from "../file-info.ts";
import type { FileSystemLimits } from "../limits.ts";
import { mergeTree } from "./merge-tree.ts";
import { locate, normalisePath, type SessionRoot } from "../paths.ts";
import { removeTree } from "../remove-tree.ts";
import { makeDirectories, stageFile, temporaryPath } from "../temporary.ts";
import { contentOf, readingArchive, type Archive, type ReadableEntry } from "./zip-content.ts";
import { ArchivePlan, checkLinkTarget, type PlannedEntry } from "./zip-plan.ts";

type ZipLibrary = typeof import("yauzl");
type Planned = PlannedEntry<ReadableEntry>;

const concurrency = 8;

/** Checks all entries, unpacks to a hidden directory, then moves the files: a rejected archive leaves no files. */
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
        if (part.kind === "file") throw ServiceError.of(textExpected(name));
        if (path !== undefined) throw ServiceError.of(duplicatePart(name));
        path = normalisePath(part.value, name);
        // Checked before gigabytes are received.
        await findDirectory(root, path);
      } else if (part.name === "zip_file") {
        if (part.kind === "field") throw ServiceError.of(fileExpected(name));
        if (archive !== undefined) throw ServiceError.of(duplicatePart(name));
        const { stream } = part;
        archive = await orServiceError(
          "take in",
          "the archive",
          async () =>
            (
              await stageFile(root.spoolDirectory ?? tmpdir(), stream, {
                what: "The archive",
                bytes: options.limits.archiveBytes,
              })
            ).path,
        );
      } else throw new TypeError(`The form of archives has no part ${part.name}.`);
    }
    if (path === undefined) throw ServiceError.of(partRequired("body.dest_path", "the absolute path of a directory"));
    if (archive === undefined) throw ServiceError.of(partRequired("body.zip_file", "a file"));
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
    if (!stats.isDirectory()) throw ServiceError.of(notADirectory(action, path, fileKind(stats)));
    return { base: existing, names: missing };
  });
}

export async function unpackArchive(
  root: SessionRoot,
  upload: { readonly archive: string; readonly path: string },
  options: { readonly limits: FileSystemLimits; readonly signal: AbortSignal },
): Promise<void> {
  const { path } = upload;
  // Loaded on first use, to keep the start fast.
  const library = await import("yauzl");
  const zip = await readingArchive(() =>
    library.openPromise(upload.archive, { autoClose: false, decodeStrings: false, validateEntrySizes: false }),
  );
  const archive: Archive = { zip, bytes: await open(upload.archive, "r") };
  try {
    const planned = await planArchive(library, zip, options);
    const links = new Map<Planned, string>();
    for (const entry of planned) if (entry.kind === "link") links.set(entry, await readLink(archive, entry));
    if (root.refusesLinks === true && links.size > 0) throw linksRefused();
    await orServiceError("unpack into", path, async () => {
      const { base, names } = await findDirectory(root, path);
      const staging = temporaryPath(base);
      await mkdir(staging, { mode: 0o700 });
      try {
        await extract(archive, { planned, links, staging }, options.signal);
        await mergeTree(staging, {
          make: () => makeDirectories(base, names),
          existing: names.length === 0 ? base : undefined,
          path,
        });
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
  if (zip.entryCount > archiveEntries) throw tooLarge("The number of entries in the archive", archiveEntries);
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
  // macOS writes UTF-8 without the flag, and other encodings are rarely valid UTF-8.
  const unmarked =
    (raw.generalPurposeBitFlag & 0x800) === 0 && (madeOn === 3 || madeOn === 19) && isUtf8(raw.fileNameRaw);
  return library.getFileNameLowLevel(
    unmarked ? 0x800 : raw.generalPurposeBitFlag,
    raw.fileNameRaw,
    raw.extraFields,
    true,
  );
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
  what: {
    readonly planned: readonly Planned[];
    readonly links: ReadonlyMap<Planned, string>;
    readonly staging: string;
  },
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
  // Wait for all before throwing, so that no write continues while the tree is removed.
  for (const result of await Promise.allSettled(Array.from({ length: concurrency }, extractRest)))
    if (result.status === "rejected") throw result.reason;
  // Links last, so that no file is written through a link.
  for (const [entry, target] of links)
    await symlink(target, join(await directory(entry.names.slice(0, -1)), entry.names.at(-1) ?? ""));
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

function linksRefused(): ServiceError {
  return new ServiceError(400, "bad_request", 'contains symbolic links, which isolation: "context" does not allow', {
    field: "body.zip_file",
    hint: "Pack the archive without them.",
  });
}
