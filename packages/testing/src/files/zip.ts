import {
  contentTooLarge,
  notADirectory,
  notAFile,
  unreadableArchive,
  unsafeEntry,
  unsafeReasons,
  type UnsafeReason,
} from "@shoal/contract/refusals";
import { messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { strToU8, Zip, ZipDeflate } from "fflate";
import { fromBufferPromise, getFileNameLowLevel, type Entry, type ZipFile } from "yauzl";
import { directory, kindOf, type DirectoryNode, type TreeNode } from "./file-tree.ts";
import { below } from "./paths.ts";

const typeMask = 0o170000;
const types = { file: 0o100000, directory: 0o040000, link: 0o120000 } as const;
/** Of one archive. */
const maxUnpackedBytes = 256 * 1024 ** 2;
/** Maximum compression ratio of an entry, from 64 MiB on. */
const maxRatio = 250;
const ratioFromBytes = 64 * 1024 ** 2;
const maxEntries = 20_000;

function unsafe(name: string, reason: UnsafeReason): ServiceError {
  return ServiceError.of(unsafeEntry(name, reason));
}

/** Packs a directory's content: sorted relative names, an entry for every directory, links as links. */
export function packZip(top: DirectoryNode): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error !== null) throw error;
    chunks.push(chunk);
  });
  const walk = (node: DirectoryNode, path: string): void => {
    const children = [...node.children].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    for (const [name, child] of children) {
      add(`${path}${name}${child.kind === "directory" ? "/" : ""}`, child);
      if (child.kind === "directory") walk(child, `${path}${name}/`);
    }
  };
  const add = (name: string, node: TreeNode): void => {
    const entry = new ZipDeflate(name, { level: 6 });
    entry.os = 3;
    entry.attrs = ((types[node.kind] | node.mode) << 16) >>> 0;
    entry.mtime = node.modified;
    zip.add(entry);
    entry.push(
      node.kind === "file" ? node.content : node.kind === "link" ? strToU8(node.target) : new Uint8Array(),
      true,
    );
  };
  walk(top, "");
  zip.end();
  return chunks;
}

/**
 * @throws {ServiceError} 400 `unsafe_archive` for absolute names, `..`, names that collide, links that leave, devices
 * and encryption; 400 `bad_request` for a damaged or other file; 413 above a limit.
 */
export async function unpackZip(archive: Buffer): Promise<DirectoryNode> {
  const zip = await reading(() =>
    fromBufferPromise(archive, { autoClose: false, decodeStrings: false, validateEntrySizes: true }),
  );
  if (zip.entryCount > maxEntries)
    throw ServiceError.of(contentTooLarge("The number of entries in the archive", maxEntries));
  const top = directory();
  let bytes = 0;
  const entries = zip.eachEntry();
  for (;;) {
    const next = await reading(() => entries.next());
    if (next.done === true) return top;
    const entry: Entry = next.value;
    bytes += entry.uncompressedSize;
    if (bytes > maxUnpackedBytes)
      throw ServiceError.of(
        contentTooLarge("The unpacked content of the archive", maxUnpackedBytes, `${maxUnpackedBytes} bytes`),
      );
    await place(top, zip, entry);
  }
}

async function place(top: DirectoryNode, zip: ZipFile, entry: Entry): Promise<void> {
  const name = getFileNameLowLevel(entry.generalPurposeBitFlag | 0x800, entry.fileNameRaw, entry.extraFields, true);
  const madeOn = entry.versionMadeBy >> 8;
  const unixMode = madeOn === 3 || madeOn === 19 ? entry.externalFileAttributes >>> 16 : 0;
  const kind = kindOfEntry(name, unixMode);
  const names = namesOf(name);
  const { compressedSize, uncompressedSize } = entry;
  if (uncompressedSize > ratioFromBytes && uncompressedSize > maxRatio * compressedSize)
    throw unsafe(name, unsafeReasons.ratio(maxRatio, "64 MiB"));
  if (entry.isEncrypted()) throw unsafe(name, unsafeReasons.encrypted);
  const last = names.pop();
  if (last === undefined) {
    if (kind !== "directory") throw unsafe(name, unsafeReasons.nameless);
    return;
  }
  let parent = top;
  for (const part of names) {
    const known = parent.children.get(part) ?? directory();
    if (known.kind !== "directory") throw unsafe(name, unsafeReasons.belowOther(known.kind));
    parent.children.set(part, known);
    parent = known;
  }
  const known = parent.children.get(last);
  if (known !== undefined && known.kind !== kind) throw unsafe(name, unsafeReasons.otherKind(kind, known.kind));
  const bits = unixMode & 0o777;
  if (kind === "directory") {
    const made = known?.kind === "directory" ? known : directory();
    made.mode = (bits === 0 ? 0o755 : bits) | 0o700;
    parent.children.set(last, made);
    return;
  }
  if (known !== undefined) throw unsafe(name, unsafeReasons.duplicate);
  const content = await contentOf(zip, entry);
  const common = { mode: bits === 0 ? 0o644 : bits, modified: entry.getLastModDate() };
  if (kind === "file") parent.children.set(last, { kind, content, ...common });
  else
    parent.children.set(last, {
      kind,
      target: checkTarget(name, names.length, content.toString("utf8")),
      ...common,
      mode: 0o777,
    });
}

function kindOfEntry(name: string, unixMode: number): TreeNode["kind"] {
  switch (unixMode & typeMask) {
    case 0:
    case types.file:
      return /(?:^|\/)\.?$/.test(name) ? "directory" : "file";
    case types.directory:
      return "directory";
    case types.link:
      return "link";
    default:
      throw unsafe(name, unsafeReasons.device);
  }
}

function namesOf(name: string): string[] {
  if (name === "") throw unsafe(name, unsafeReasons.nameless);
  if (name.includes("\0")) throw unsafe(name, unsafeReasons.nul);
  if (name.includes("\\")) throw unsafe(name, unsafeReasons.backslash);
  if (name.startsWith("/")) throw unsafe(name, unsafeReasons.absolute);
  if (/^[A-Za-z]:/.test(name)) throw unsafe(name, unsafeReasons.drive);
  const names = name.split("/").filter((part) => part !== "" && part !== ".");
  if (names.includes("..")) throw unsafe(name, unsafeReasons.parent);
  return names;
}

/** @param depth - directory depth of the link. */
function checkTarget(name: string, depth: number, target: string): string {
  if (target === "" || target.includes("\0")) throw unsafe(name, unsafeReasons.targetless);
  if (/^(?:[/\\]|[A-Za-z]:)/.test(target)) throw unsafe(name, unsafeReasons.absoluteLink);
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  const leading = parts.findIndex((part) => part !== "..");
  if ((leading === -1 ? parts.length : leading) > depth) throw unsafe(name, unsafeReasons.leavingLink);
  if (leading !== -1 && parts.includes("..", leading)) throw unsafe(name, unsafeReasons.climbingLink);
  return target;
}

async function contentOf(zip: ZipFile, entry: Entry): Promise<Buffer> {
  return reading(async () => Buffer.concat((await (await zip.openReadStreamPromise(entry)).toArray()) as Buffer[]));
}

async function reading<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (ServiceError.isInstance(error)) throw error;
    throw ServiceError.of(unreadableArchive(messageOf(error)), { cause: error });
  }
}

/** Refuses a tree that would replace a directory with a file or link, or vice versa. */
export function refuseConflicts(into: TreeNode, tree: DirectoryNode, path: string): void {
  if (into.kind !== "directory") return;
  for (const [name, node] of tree.children) {
    const known = into.children.get(name);
    if (known === undefined) continue;
    const at = below(path, name);
    if (node.kind === "directory" && known.kind !== "directory")
      throw ServiceError.of(notADirectory("unpack a directory to", at, kindOf(known)));
    if (node.kind !== "directory" && known.kind === "directory")
      throw ServiceError.of(notAFile("unpack a file to", at, kindOf(known)));
    if (node.kind === "directory") refuseConflicts(known, node, at);
  }
}
