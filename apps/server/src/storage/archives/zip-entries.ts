import { messageOf } from "@shoal/primitives";
import { posix } from "node:path";
import { isUtf8 } from "node:buffer";
import { type Entry, getFileNameLowLevel, openPromise, type ZipFile } from "yauzl";

/** The archive breaks a rule. The message follows the name of the archive: "is not a readable ZIP archive: …". */
export class ArchiveProblem extends Error {
  override readonly name = "ArchiveProblem";
  /** `unsafe`: it tries to reach outside, or contradicts itself. `too_large`: above a limit. */
  readonly kind: "unsafe" | "unusable" | "too_large";
  readonly limit: number | undefined;

  constructor(
    kind: ArchiveProblem["kind"],
    message: string,
    { limit, cause }: { readonly limit?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.kind = kind;
    this.limit = limit;
  }
}

export interface ZipLimits {
  readonly entries: number;
  readonly unpackedBytes: number;
  readonly links: "allowed" | "refused";
}

export interface SafeEntry {
  readonly entry: Entry;
  /** Relative, without `.`, `..` and a final slash. Unique in the archive. */
  readonly path: string;
  readonly kind: "file" | "folder" | "link";
  readonly isExecutable: boolean;
}

const typeMask = 0o170000;
const linkType = 0o120000;
const folderType = 0o040000;
/** 0 = the archive does not state the type. */
const plainTypes: readonly number[] = [0, folderType, 0o100000];
const unix = 3;
const macOs = 19;
const descriptorFlag = 0x8;
const utf8Flag = 0x800;
/** The size is in the ZIP64 extra field. */
const wideSize = 0xffff_ffff;

export function unsafeEntry(name: string, problem: string): ArchiveProblem {
  return new ArchiveProblem("unsafe", `the entry ${JSON.stringify(name.slice(0, 200))} ${problem}`);
}

function unusableEntry(name: string, problem: string): ArchiveProblem {
  return new ArchiveProblem("unusable", `the entry ${JSON.stringify(name.slice(0, 200))} ${problem}`);
}

/** Opens an archive for `use`. @throws {ArchiveProblem} also for what yauzl refuses; system errors unchanged. */
export async function withZip<Result>(path: string, use: (zip: ZipFile) => Promise<Result>): Promise<Result> {
  let zip: ZipFile;
  try {
    zip = await openPromise(path, {
      autoClose: false,
      decodeStrings: true,
      validateEntrySizes: true,
      strictFileNames: false,
    });
  } catch (error) {
    throw new ArchiveProblem("unusable", `is not a readable ZIP archive: ${messageOf(error)}`, { cause: error });
  }
  try {
    return await use(zip);
  } catch (error) {
    if (error instanceof ArchiveProblem || !(error instanceof Error) || "syscall" in error || "status" in error)
      throw error;
    // yauzl rejects absolute paths, ".." and drive letters.
    if (/absolute path|relative path|invalid characters in fileName/.test(error.message))
      throw new ArchiveProblem("unsafe", error.message, { cause: error });
    throw new ArchiveProblem("unusable", `is a damaged ZIP archive: ${error.message}`, { cause: error });
  } finally {
    zip.close();
  }
}

/** Lists the entries without unpacking. @throws {ArchiveProblem} at the first entry that breaks a rule. */
export async function* safeEntries(zip: ZipFile, limits: ZipLimits): AsyncGenerator<SafeEntry, void, undefined> {
  if (zip.entryCount > limits.entries)
    throw new ArchiveProblem(
      "too_large",
      `has ${String(zip.entryCount)} entries; the limit is ${String(limits.entries)}.`,
      { limit: limits.entries },
    );
  const seen = new Set<string>();
  let unpackedBytes = 0;
  for await (const entry of zip.eachEntry()) {
    const name = nameOf(entry);
    entry.fileName = name;
    if (name.includes("\0")) throw unsafeEntry(name, "has a NUL character in its name");
    const path = posix.normalize(name).replace(/\/$/, "");
    if (seen.has(path)) throw unsafeEntry(name, "is duplicated");
    seen.add(path);
    const mode = isFromUnix(entry) ? entry.externalFileAttributes >>> 16 : 0;
    const kind = kindOf(name, mode, limits);
    checkEncoding(entry);
    await checkLocalHeader(zip, entry);
    unpackedBytes += entry.uncompressedSize;
    if (unpackedBytes > limits.unpackedBytes)
      throw new ArchiveProblem("too_large", `unpacks to more than ${String(limits.unpackedBytes / 2 ** 20)} MiB.`);
    yield { entry, path, kind, isExecutable: (mode & 0o111) !== 0 };
  }
}

/** macOS writes UTF-8 without the flag, and other encodings are rarely valid UTF-8. */
function nameOf(entry: Entry): string {
  const { extraFields, fileName, fileNameRaw, generalPurposeBitFlag: flags } = entry;
  const isUnmarked = (flags & utf8Flag) === 0 && isFromUnix(entry) && isUtf8(fileNameRaw);
  return isUnmarked ? getFileNameLowLevel(flags | utf8Flag, fileNameRaw, extraFields, false) : fileName;
}

function isFromUnix({ versionMadeBy }: Entry): boolean {
  return [unix, macOs].includes(versionMadeBy >> 8);
}

function kindOf(name: string, mode: number, { links }: ZipLimits): SafeEntry["kind"] {
  const type = mode & typeMask;
  if (type === linkType) {
    if (links === "refused") throw unsafeEntry(name, "is a symbolic link, which is not allowed");
    return "link";
  }
  if (!plainTypes.includes(type)) throw unsafeEntry(name, "is a device, named pipe or socket, which is not allowed");
  return name.endsWith("/") || type === folderType ? "folder" : "file";
}

function checkEncoding(entry: Entry): void {
  const { compressionMethod, fileName } = entry;
  if (entry.isEncrypted()) throw unusableEntry(fileName, "is encrypted. Zip the folder without a password");
  if (compressionMethod !== 0 && compressionMethod !== 8)
    throw unusableEntry(
      fileName,
      `uses an unknown compression method (${String(compressionMethod)}). Zip with deflate`,
    );
}

/** Other programs might follow the header in front of the content. */
async function checkLocalHeader(zip: ZipFile, entry: Entry): Promise<void> {
  const local = await zip.readLocalFileHeaderPromise(entry);
  // Zero = the sizes follow the content.
  const unknown = (local.generalPurposeBitFlag & descriptorFlag) === 0 ? [] : [0];
  const isSame =
    local.fileName.equals(entry.fileNameRaw) &&
    local.compressionMethod === entry.compressionMethod &&
    [entry.crc32, ...unknown].includes(local.crc32) &&
    [entry.compressedSize, wideSize, ...unknown].includes(local.compressedSize) &&
    [entry.uncompressedSize, wideSize, ...unknown].includes(local.uncompressedSize);
  if (!isSame) throw unsafeEntry(entry.fileName, "has a local header that contradicts the central directory");
}
