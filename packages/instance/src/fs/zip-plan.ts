import { ServiceError } from "@shoal/router";
import { tooLarge } from "./errors.ts";
import type { FileSystemLimits } from "./limits.ts";
import { nameProblem } from "./paths.ts";
import { bytesText } from "./temporary.ts";

/** An entry of an archive as its directory declares it. */
export interface DeclaredEntry {
  readonly name: string;
  /** Type and permissions in the Unix sense, `st_mode`; `undefined` when the archive was not made on Unix. */
  readonly unixMode: number | undefined;
  readonly encrypted: boolean;
  readonly method: number;
  readonly sizeBytes: number;
  readonly packedBytes: number;
  /** Where its header lies in the archive. */
  readonly offset: number;
}

/** What becomes of an entry. */
export interface PlannedEntry<E extends DeclaredEntry = DeclaredEntry> {
  readonly entry: E;
  readonly kind: "file" | "directory" | "link";
  /** Names below the directory that the archive is unpacked into. */
  readonly names: readonly string[];
  /** Permission bits, without set-uid, set-gid and sticky. */
  readonly mode: number;
}

interface Node {
  readonly kind: "file" | "directory" | "link";
  /** Whether it has an entry of its own: a file may have one only. */
  declared: boolean;
  children?: Map<string, Node>;
}

const typeMask = 0o170000;
const headerBytes = 30;
/** Where names differ in case or in Unicode composition, but not for the filesystem. */
const foldsNames = process.platform === "darwin" || process.platform === "win32";

/** 400 `unsafe_archive` that names the entry. */
export function unsafe(name: string, reason: string): ServiceError {
  return new ServiceError(
    400,
    "unsafe_archive",
    `The archive is refused because of its entry ${JSON.stringify(name.slice(0, 200))}: ${reason}. Nothing was unpacked.`,
  );
}

/**
 * Collects the entries of an archive and refuses it whole when one of them is not safe to unpack: absolute names, `..`, backslashes, drive letters, names that
 * collide, links that leave, devices, encryption, entries that overlap, and more of anything than `limits` allows. Touches no file.
 */
export class ArchivePlan<E extends DeclaredEntry = DeclaredEntry> {
  readonly #limits: FileSystemLimits;
  readonly #top: Node = { kind: "directory", declared: true };
  readonly #entries: PlannedEntry<E>[] = [];
  #nodes = 0;
  #declaredBytes = 0;

  constructor(limits: FileSystemLimits) {
    this.#limits = limits;
  }

  /** @throws {ServiceError} 400 `unsafe_archive`, 413 above a limit. */
  add(entry: E): void {
    const { name } = entry;
    const names = namesOf(name);
    const kind = kindOf(entry);
    if (entry.encrypted) throw unsafe(name, "it is encrypted. Make the archive without a password");
    if (entry.method !== 0 && entry.method !== 8)
      throw unsafe(name, `it is packed with method ${entry.method}, which is not supported. Make the archive with deflate, or store`);
    if (kind === "directory" && entry.sizeBytes > 0) throw unsafe(name, "it is a directory, yet has content");
    if (kind === "link" && entry.sizeBytes > 4095) throw unsafe(name, "it is a symbolic link with a target of more than 4095 bytes");
    this.#checkSize(entry);
    if (names.length === 0) {
      if (kind !== "directory") throw unsafe(name, "it has no name");
      return;
    }
    this.#place(name, names, kind);
    this.#entries.push({ entry, kind, names, mode: permissionsOf(entry, kind) });
  }

  /**
   * The entries, once all were added.
   *
   * @throws {ServiceError} 400 `unsafe_archive` when two of them share bytes of the archive.
   */
  finish(): readonly PlannedEntry<E>[] {
    let end = 0;
    for (const { entry } of this.#entries.toSorted((a, b) => a.entry.offset - b.entry.offset)) {
      if (entry.offset < end)
        throw unsafe(entry.name, "its bytes are those of another entry too, as in an archive that is made to unpack to far more than it holds");
      end = entry.offset + headerBytes + entry.packedBytes;
    }
    return this.#entries;
  }

  #checkSize(entry: E): void {
    const { ratio, ratioFromBytes, unpackedBytes } = this.#limits;
    this.#declaredBytes += entry.sizeBytes;
    if (this.#declaredBytes > unpackedBytes)
      throw tooLarge(`What the archive unpacks to (with its entry ${JSON.stringify(entry.name.slice(0, 200))})`, bytesText(unpackedBytes));
    if (entry.sizeBytes > ratioFromBytes && entry.sizeBytes > ratio * entry.packedBytes) {
      throw unsafe(
        entry.name,
        `it unpacks to more than ${ratio} times its packed size, the most that is taken from ${bytesText(ratioFromBytes)} on. Send such a file with upload`,
      );
    }
  }

  #place(name: string, names: readonly string[], kind: Node["kind"]): void {
    let node = this.#top;
    for (const [index, part] of names.entries()) {
      if (node.kind !== "directory") throw unsafe(name, `it lies below another entry that is a ${node.kind}`);
      const last = index === names.length - 1;
      const key = foldsNames ? part.normalize("NFC").toLowerCase() : part;
      node.children ??= new Map();
      const known = node.children.get(key);
      if (known === undefined) {
        if (++this.#nodes > this.#limits.archiveEntries)
          throw tooLarge("The number of files, directories and links in the archive", String(this.#limits.archiveEntries));
        const made: Node = { kind: last ? kind : "directory", declared: last };
        node.children.set(key, made);
        node = made;
        continue;
      }
      if (last) {
        if (known.kind !== kind) throw unsafe(name, `it is a ${kind}, and another entry makes a ${known.kind} of the same name`);
        if (kind !== "directory") throw unsafe(name, "it is there twice");
        known.declared = true;
      }
      node = known;
    }
  }
}

function namesOf(name: string): string[] {
  if (name === "") throw unsafe(name, "it has no name");
  if (name.includes("\0")) throw unsafe(name, "its name holds a NUL character");
  if (name.includes("\\")) throw unsafe(name, "its name holds a backslash. Separate directories with /");
  if (name.startsWith("/")) throw unsafe(name, "its name is absolute. Make the archive with relative names");
  if (/^[A-Za-z]:/.test(name)) throw unsafe(name, "its name begins with a drive letter. Make the archive with relative names");
  if (name.length > 4096) throw unsafe(name, "its name is longer than 4096 characters");
  const names = name.split("/").filter((part) => part !== "" && part !== ".");
  if (names.includes("..")) throw unsafe(name, 'its name holds "..", which leads out of the directory');
  for (const part of names) {
    const problem = nameProblem(part);
    if (problem !== undefined) throw unsafe(name, problem);
  }
  return names;
}

function kindOf({ name, unixMode }: DeclaredEntry): Node["kind"] {
  const isDirectoryName = /(?:^|\/)\.?$/.test(name);
  switch ((unixMode ?? 0) & typeMask) {
    case 0:
      return isDirectoryName ? "directory" : "file";
    case 0o100000:
      if (isDirectoryName) throw unsafe(name, "its name is that of a directory, its type that of a file");
      return "file";
    case 0o040000:
      return "directory";
    case 0o120000:
      if (isDirectoryName) throw unsafe(name, "its name is that of a directory, its type that of a symbolic link");
      return "link";
    default:
      throw unsafe(name, "it is a device, a named pipe or a socket");
  }
}

function permissionsOf({ unixMode }: DeclaredEntry, kind: Node["kind"]): number {
  const bits = (unixMode ?? 0) & 0o777;
  // A directory that its owner may not use could neither be filled nor deleted again.
  if (kind === "directory") return (bits === 0 ? 0o755 : bits) | 0o700;
  return bits === 0 ? 0o644 : bits;
}

/**
 * Refuses a link that may lead out of the directory which the archive is unpacked into. Its target may begin with as many `..` as the link lies deep, and
 * hold none after that: no entry lies below a link, so leading ones mean what they say, whereas later ones would depend on other links.
 *
 * @param names - of the link, below that directory.
 * @throws {ServiceError} 400 `unsafe_archive`.
 */
export function checkLinkTarget(name: string, names: readonly string[], target: string): void {
  if (target === "" || target.includes("\0")) throw unsafe(name, "it is a symbolic link without a proper target");
  if (/^(?:[/\\]|[A-Za-z]:)/.test(target) || (process.platform === "win32" && target.includes("\\")))
    throw unsafe(name, "it is a symbolic link with an absolute target. Make it relative");
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  const climbs = parts.findIndex((part) => part !== "..");
  const leading = climbs === -1 ? parts.length : climbs;
  if (leading > names.length - 1) throw unsafe(name, "it is a symbolic link that leads out of the directory");
  if (parts.includes("..", leading))
    throw unsafe(name, 'it is a symbolic link with ".." after a name, which may lead anywhere. Write its target without');
}
