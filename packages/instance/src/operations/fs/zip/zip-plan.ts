import { unsafeEntry, unsafeReasons, type UnsafeReason } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { tooLarge } from "../errors.ts";
import type { FileSystemLimits } from "../limits.ts";
import { nameProblem } from "../paths.ts";
import { bytesText } from "../temporary.ts";

export interface DeclaredEntry {
  readonly name: string;
  /** Unix `st_mode`; `undefined` for archives from other systems. */
  readonly unixMode: number | undefined;
  readonly encrypted: boolean;
  readonly method: number;
  readonly sizeBytes: number;
  readonly packedBytes: number;
  readonly offset: number;
}

export interface PlannedEntry<E extends DeclaredEntry = DeclaredEntry> {
  readonly entry: E;
  readonly kind: "file" | "directory" | "link";
  readonly names: readonly string[];
  /** Permission bits without set-uid, set-gid and sticky. */
  readonly mode: number;
}

interface Node {
  readonly kind: "file" | "directory" | "link";
  /** The entry is explicit: a file must occur only once. */
  declared: boolean;
  children?: Map<string, Node>;
}

const typeMask = 0o170000;
const headerBytes = 30;
/** Key under which names collide that differ only in case or Unicode composition. */
const foldsNames = process.platform === "darwin" || process.platform === "win32";

export function unsafe(name: string, reason: UnsafeReason | string): ServiceError {
  return ServiceError.of(unsafeEntry(name, typeof reason === "string" ? [reason] : reason));
}

/**
 * Unsafe: names or links that lead out, colliding names, devices, encryption, overlapping entries, anything above
 * `limits`.
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
    if (entry.encrypted) throw unsafe(name, unsafeReasons.encrypted);
    if (entry.method !== 0 && entry.method !== 8)
      throw unsafe(name, [
        `it is packed with the unsupported method ${entry.method}`,
        "Make the archive with deflate, or store.",
      ]);
    if (kind === "directory" && entry.sizeBytes > 0) throw unsafe(name, "it is a directory, yet has content");
    if (kind === "link" && entry.sizeBytes > 4095)
      throw unsafe(name, "it is a symbolic link with a target of more than 4095 bytes");
    this.#checkSize(entry);
    if (names.length === 0) {
      if (kind !== "directory") throw unsafe(name, unsafeReasons.nameless);
      return;
    }
    this.#place(name, names, kind);
    this.#entries.push({ entry, kind, names, mode: permissionsOf(entry, kind) });
  }

  /** @throws {ServiceError} 400 `unsafe_archive` when two entries share bytes of the archive. */
  finish(): readonly PlannedEntry<E>[] {
    let end = 0;
    for (const { entry } of this.#entries.toSorted((a, b) => a.entry.offset - b.entry.offset)) {
      if (entry.offset < end)
        throw unsafe(
          entry.name,
          "it shares bytes with another entry, as in archives that unpack to far more than their size",
        );
      end = entry.offset + headerBytes + entry.packedBytes;
    }
    return this.#entries;
  }

  #checkSize(entry: E): void {
    const { ratio, ratioFromBytes, unpackedBytes } = this.#limits;
    this.#declaredBytes += entry.sizeBytes;
    if (this.#declaredBytes > unpackedBytes)
      throw tooLarge("The unpacked content of the archive", unpackedBytes, bytesText(unpackedBytes));
    if (entry.sizeBytes > ratioFromBytes && entry.sizeBytes > ratio * entry.packedBytes) {
      throw unsafe(entry.name, unsafeReasons.ratio(ratio, bytesText(ratioFromBytes)));
    }
  }

  #place(name: string, names: readonly string[], kind: Node["kind"]): void {
    let node = this.#top;
    for (const [index, part] of names.entries()) {
      if (node.kind !== "directory") throw unsafe(name, unsafeReasons.belowOther(node.kind));
      const last = index === names.length - 1;
      const key = foldsNames ? part.normalize("NFC").toLowerCase() : part;
      node.children ??= new Map();
      const known = node.children.get(key);
      if (known === undefined) {
        if (++this.#nodes > this.#limits.archiveEntries)
          throw tooLarge("The number of files, directories and links in the archive", this.#limits.archiveEntries);
        const made: Node = { kind: last ? kind : "directory", declared: last };
        node.children.set(key, made);
        node = made;
        continue;
      }
      if (last) {
        if (known.kind !== kind) throw unsafe(name, unsafeReasons.otherKind(kind, known.kind));
        if (kind !== "directory") throw unsafe(name, unsafeReasons.duplicate);
        known.declared = true;
      }
      node = known;
    }
  }
}

function namesOf(name: string): string[] {
  if (name === "") throw unsafe(name, unsafeReasons.nameless);
  if (name.includes("\0")) throw unsafe(name, unsafeReasons.nul);
  if (name.includes("\\")) throw unsafe(name, unsafeReasons.backslash);
  if (name.startsWith("/")) throw unsafe(name, unsafeReasons.absolute);
  if (/^[A-Za-z]:/.test(name)) throw unsafe(name, unsafeReasons.drive);
  if (name.length > 4096) throw unsafe(name, "its name is longer than 4096 characters");
  const names = name.split("/").filter((part) => part !== "" && part !== ".");
  if (names.includes("..")) throw unsafe(name, unsafeReasons.parent);
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
      throw unsafe(name, unsafeReasons.device);
  }
}

function permissionsOf({ unixMode }: DeclaredEntry, kind: Node["kind"]): number {
  const bits = (unixMode ?? 0) & 0o777;
  // The owner needs access to fill the directory, and to delete it.
  if (kind === "directory") return (bits === 0 ? 0o755 : bits) | 0o700;
  return bits === 0 ? 0o644 : bits;
}

/** No entry is below a link, so only leading `..` are exact: at most as many as the link is deep, and none later. */
export function checkLinkTarget(name: string, names: readonly string[], target: string): void {
  if (target === "" || target.includes("\0")) throw unsafe(name, unsafeReasons.targetless);
  if (/^(?:[/\\]|[A-Za-z]:)/.test(target) || (process.platform === "win32" && target.includes("\\")))
    throw unsafe(name, unsafeReasons.absoluteLink);
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  const climbs = parts.findIndex((part) => part !== "..");
  const leading = climbs === -1 ? parts.length : climbs;
  if (leading > names.length - 1) throw unsafe(name, unsafeReasons.leavingLink);
  if (parts.includes("..", leading)) throw unsafe(name, unsafeReasons.climbingLink);
}
