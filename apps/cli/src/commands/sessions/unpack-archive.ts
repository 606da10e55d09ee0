import { messageOf } from "@shoal/primitives";
import { isUtf8 } from "node:buffer";
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { ExitError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import { printable } from "../../output/format.ts";
import { formatBytes } from "../../output/progress.ts";

export interface UnpackLimits {
  readonly entries: number;
  readonly bytes: number;
}

export interface Unpacked {
  readonly files: number;
  readonly bytes: number;
  /** Links, devices and names that this system cannot have. */
  readonly skipped: number;
}

/** An archive of a session: a small one could fill the disk of this machine. */
const defaultLimits: UnpackLimits = { entries: 200_000, bytes: 20_000_000_000 };
const maxDepth = 200;
const typeMask = 0o170000;
const folderType = 0o040000;
const fileTypes: readonly number[] = [0, 0o100000];

/**
 * Unpacks a ZIP archive of untrusted content into a new folder. Creates folders and regular files only, so that no
 * entry can leave the folder through a link. @throws {ExitError} for unsafe and damaged archives.
 */
export async function unpackArchive(
  archive: string,
  folder: string,
  signal: AbortSignal,
  limits: UnpackLimits = defaultLimits,
): Promise<Unpacked> {
  await mkdir(folder);
  const zip = await openPromise(archive, { autoClose: false, decodeStrings: false, validateEntrySizes: true }).catch(
    (error: unknown) => {
      throw refused(messageOf(error));
    },
  );
  try {
    if (zip.entryCount > limits.entries) throw refused(`it has more than ${String(limits.entries)} entries`);
    return await unpackEntries(zip, folder, limits.bytes, signal);
  } catch (error) {
    if (error instanceof ExitError || signal.aborted || (error instanceof Error && "syscall" in error)) throw error;
    throw refused(messageOf(error));
  } finally {
    zip.close();
  }
}

async function unpackEntries(zip: ZipFile, folder: string, maxBytes: number, signal: AbortSignal): Promise<Unpacked> {
  const made = new Set<string>([folder]);
  const makeFolder = async (path: string) => {
    if (!made.has(path)) await mkdir(path, { recursive: true });
    made.add(path);
  };
  let files = 0;
  let bytes = 0;
  let skipped = 0;
  for await (const entry of zip.eachEntry()) {
    signal.throwIfAborted();
    const { names, isFolder } = stepsOf(entry);
    const type = (entry.externalFileAttributes >>> 16) & typeMask;
    const path = join(folder, ...names);
    if (isFolder || type === folderType) await makeFolder(path);
    else if (!fileTypes.includes(type)) skipped++;
    else {
      await makeFolder(dirname(path));
      bytes += await unpackFile(zip, entry, { path, maxBytes: maxBytes - bytes }, signal);
      files++;
    }
  }
  return { files, bytes, skipped };
}

async function unpackFile(
  zip: ZipFile,
  entry: Entry,
  { path, maxBytes }: { readonly path: string; readonly maxBytes: number },
  signal: AbortSignal,
): Promise<number> {
  if (entry.uncompressedSize > maxBytes) throw tooLarge(maxBytes);
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, next) {
      bytes += chunk.length;
      if (bytes > maxBytes) next(tooLarge(maxBytes));
      else next(null, chunk);
    },
  });
  const isExecutable = ((entry.externalFileAttributes >>> 16) & 0o111) !== 0;
  const input = await zip.openReadStreamPromise(entry);
  // `wx`: a second entry with the same name is an error. Created last: an output that fails before `pipeline` listens ends the program.
  const out = createWriteStream(path, { flags: "wx", mode: isExecutable ? 0o755 : 0o644 });
  await pipeline(input, counted, out, { signal });
  return bytes;
}

/** @throws {ExitError} for a name that is absolute, leaves the folder, or is impossible on this system. */
function stepsOf(entry: Entry): { readonly names: readonly string[]; readonly isFolder: boolean } {
  const raw: unknown = entry.fileName;
  const bytes = Buffer.isBuffer(raw) ? raw : Buffer.from(String(raw));
  const name = bytes.toString("utf8");
  const names = name.replace(/\/$/, "").split("/");
  const isUnsafe =
    !isUtf8(bytes) ||
    names.length > maxDepth ||
    names.some((step) => ["", ".", ".."].includes(step) || !isPossible(step));
  if (isUnsafe) throw refused(`the name ${JSON.stringify(name.slice(0, 200))} is not allowed`);
  return { names, isFolder: name.endsWith("/") };
}

/** Windows reserves them with any ending. */
const devices = /^(?:con|prn|aux|nul|(?:com|lpt)[\d¹²³])(?=\.|$)/i;

function isPossible(step: string): boolean {
  // Names that show another name than they have: control characters and marks of text direction.
  if (printable(step) !== step || step.endsWith(".")) return false;
  return process.platform !== "win32" || (!/[<>:"|?*\\]| $/.test(step) && !devices.test(step));
}

function tooLarge(bytes: number): ExitError {
  return refused(`it unpacks to more than ${formatBytes(bytes)}`);
}

function refused(problem: string): ExitError {
  return new ExitError(
    exitCodes.error.status,
    `Cannot unpack the archive of the session: ${problem}.`,
    "Nothing was copied. Copy other directories, or single files.",
  );
}
