import { ServiceError } from "@shoal/router";
import { strToU8, Zip, ZipDeflate } from "fflate";
import { fromBufferPromise, getFileNameLowLevel, type Entry, type ZipFile } from "yauzl";
import { tooLarge, unsafe } from "./errors.ts";
import { directory, type DirectoryNode, type TreeNode } from "./file-tree.ts";
import { below } from "./paths.ts";

const typeMask = 0o170000;
const types = { file: 0o100000, directory: 0o040000, link: 0o120000 } as const;
/** Bytes that an archive may unpack to. */
const maxUnpackedBytes = 256 * 1024 ** 2;
/** How many times larger than its packed form an entry may be, from 64 MiB on. */
const maxRatio = 250;
const ratioFromBytes = 64 * 1024 ** 2;
/** Entries of an archive. */
const maxEntries = 20_000;

/** Packs a directory's content: names relative to it and sorted, every directory with an entry of its own, links as links. */
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
    entry.push(node.kind === "file" ? node.content : node.kind === "link" ? strToU8(node.target) : new Uint8Array(), true);
  };
  walk(top, "");
  zip.end();
  return chunks;
}

/**
 * Reads an archive into a tree of its own.
 *
 * @throws {ServiceError} 400 `unsafe_archive` for absolute names, `..`, names that collide, links that leave, devices and encryption; 400 `bad_request` for what is no
 *   archive or is damaged; 413 above a limit.
 */
export async function unpackZip(archive: Buffer): Promise<DirectoryNode> {
  const zip = await reading(() => fromBufferPromise(archive, { autoClose: false, decodeStrings: false, validateEntrySizes: true }));
  if (zip.entryCount > maxEntries) throw tooLarge("The number of entries in the archive", String(maxEntries));
  const top = directory();
  let bytes = 0;
  const entries = zip.eachEntry();
  for (;;) {
    const next = await reading(() => entries.next());
    if (next.done === true) return top;
    const entry: Entry = next.value;
    bytes += entry.uncompressedSize;
    if (bytes > maxUnpackedBytes) throw tooLarge("What the archive unpacks to", `${maxUnpackedBytes} bytes`);
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
    throw unsafe(
      name,
      `it unpacks to more than ${maxRatio} times its packed size, the most that is taken from 64 MiB on. Send such a file with upload`,
    );
  if (entry.isEncrypted()) throw unsafe(name, "it is encrypted. Make the archive without a password");
  const last = names.pop();
  if (last === undefined) {
    if (kind !== "directory") throw unsafe(name, "it has no name");
    return;
  }
  let parent = top;
  for (const part of names) {
    const known = parent.children.get(part) ?? directory();
    if (known.kind !== "directory") throw unsafe(name, `it lies below another entry that is a ${known.kind}`);
    parent.children.set(part, known);
    parent = known;
  }
  const known = parent.children.get(last);
  if (known !== undefined && known.kind !== kind) throw unsafe(name, `it is a ${kind}, and another entry makes a ${known.kind} of the same name`);
  const bits = unixMode & 0o777;
  if (kind === "directory") {
    const made = known?.kind === "directory" ? known : directory();
    made.mode = (bits === 0 ? 0o755 : bits) | 0o700;
    parent.children.set(last, made);
    return;
  }
  if (known !== undefined) throw unsafe(name, "it is there twice");
  const content = await contentOf(zip, entry);
  const common = { mode: bits === 0 ? 0o644 : bits, modified: entry.getLastModDate() };
  if (kind === "file") parent.children.set(last, { kind, content, ...common });
  else parent.children.set(last, { kind, target: checkTarget(name, names.length, content.toString("utf8")), ...common, mode: 0o777 });
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
      throw unsafe(name, "it is a device, a named pipe or a socket");
  }
}

function namesOf(name: string): string[] {
  if (name === "" || name.includes("\0")) throw unsafe(name, "it has no name, or a NUL character in it");
  if (name.includes("\\")) throw unsafe(name, "its name holds a backslash. Separate directories with /");
  if (name.startsWith("/")) throw unsafe(name, "its name is absolute. Make the archive with relative names");
  if (/^[A-Za-z]:/.test(name)) throw unsafe(name, "its name begins with a drive letter. Make the archive with relative names");
  const names = name.split("/").filter((part) => part !== "" && part !== ".");
  if (names.includes("..")) throw unsafe(name, 'its name holds "..", which leads out of the directory');
  return names;
}

/** @param depth - directories that the link lies in. */
function checkTarget(name: string, depth: number, target: string): string {
  if (target === "" || target.includes("\0")) throw unsafe(name, "it is a symbolic link without a proper target");
  if (/^(?:[/\\]|[A-Za-z]:)/.test(target)) throw unsafe(name, "it is a symbolic link with an absolute target. Make it relative");
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  const leading = parts.findIndex((part) => part !== "..");
  if ((leading === -1 ? parts.length : leading) > depth) throw unsafe(name, "it is a symbolic link that leads out of the directory");
  if (leading !== -1 && parts.includes("..", leading))
    throw unsafe(name, 'it is a symbolic link with ".." after a name, which may lead anywhere. Write its target without');
  return target;
}

async function contentOf(zip: ZipFile, entry: Entry): Promise<Buffer> {
  return reading(async () => Buffer.concat((await (await zip.openReadStreamPromise(entry)).toArray()) as Buffer[]));
}

/** Runs a step of the archive library, whose errors say what is wrong with the archive. */
async function reading<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (ServiceError.isInstance(error)) throw error;
    throw new ServiceError(
      400,
      "bad_request",
      `body.zip_file: not a ZIP archive that can be read, or not all of it: ${error instanceof Error ? error.message : String(error)}. Nothing was unpacked.`,
      { cause: error },
    );
  }
}

/** Refuses a tree that would replace a directory by something else, or the other way round. */
export function refuseConflicts(into: TreeNode, tree: DirectoryNode, path: string): void {
  if (into.kind !== "directory") return;
  for (const [name, node] of tree.children) {
    const known = into.children.get(name);
    if (known === undefined) continue;
    const at = below(path, name);
    if (node.kind === "directory" && known.kind !== "directory")
      throw new ServiceError(
        400,
        "not_a_directory",
        `Cannot unpack a directory to ${at}: it is a ${known.kind}. Delete it first, or unpack into another directory.`,
      );
    if (node.kind !== "directory" && known.kind === "directory")
      throw new ServiceError(
        400,
        "not_a_file",
        `Cannot unpack a file to ${at}: it is a directory. Delete it first, or unpack into another directory.`,
      );
    if (node.kind === "directory") refuseConflicts(known, node, at);
  }
}
