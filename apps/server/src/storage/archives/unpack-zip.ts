import { hasCode } from "@shoal/primitives";
import { createWriteStream } from "node:fs";
import { lstat, mkdir, symlink } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { ZipFile } from "yauzl";
import { ArchiveProblem, type SafeEntry, safeEntries, unsafeEntry, withZip, type ZipLimits } from "./zip-entries.ts";

/** Plain data, sent to a parse worker. */
export interface UnpackRequest {
  readonly archive: string;
  /** Exists and is empty. */
  readonly folder: string;
  readonly limits: Omit<ZipLimits, "links">;
  /** Unpacks only the content of the archive's single top folder. */
  readonly stripTop: boolean;
  /** Unpacks only the content of this folder, relative and without `..`; `""` = everything. */
  readonly root: string;
}

export interface Unpacked {
  readonly files: number;
}

const maxLinkBytes = 4096;

/**
 * No file and no link of the untrusted archive leaves the folder. @throws {ArchiveProblem} with a part of the files
 * there.
 */
export function unpackZip({ archive, folder, limits, root, stripTop }: UnpackRequest): Promise<Unpacked> {
  return withZip(archive, async (zip) => {
    const entries: SafeEntry[] = [];
    for await (const entry of safeEntries(zip, { ...limits, links: "allowed" })) entries.push(entry);
    const kept = below(withoutMacFolder(entries), { root, stripTop });
    refuseConflicts(kept);
    const links = kept.filter(({ kind }) => kind === "link");
    // Links come last, so that no file is written through a link.
    for (const entry of kept) if (entry.kind !== "link") await writeEntry(zip, folder, entry);
    for (const link of links) await writeLink(zip, folder, link);
    return { files: kept.filter(({ kind }) => kind === "file").length };
  });
}

function withoutMacFolder(entries: readonly SafeEntry[]): readonly SafeEntry[] {
  return entries.filter(({ path }) => path !== "__MACOSX" && !path.startsWith("__MACOSX/") && path !== ".");
}

function below(
  entries: readonly SafeEntry[],
  { root, stripTop }: Pick<UnpackRequest, "root" | "stripTop">,
): readonly SafeEntry[] {
  const tops = new Set(entries.map(({ path }) => path.split("/", 1)[0] ?? ""));
  const [top = ""] = tops;
  if (stripTop && tops.size !== 1)
    throw new ArchiveProblem("unusable", `has ${String(tops.size)} top folders; expected one`);
  const prefix = [stripTop ? top : "", root].filter((part) => part !== "").join("/");
  if (prefix === "") return entries;
  const kept = entries
    .filter(({ path }) => path.startsWith(`${prefix}/`))
    .map((entry) => ({ ...entry, path: entry.path.slice(prefix.length + 1) }));
  if (kept.length === 0) throw new ArchiveProblem("unusable", `has no folder ${JSON.stringify(root)}`);
  return kept;
}

/** A path below a file or a link would be written through it. */
function refuseConflicts(entries: readonly SafeEntry[]): void {
  const kinds = new Map(entries.map(({ kind, path }) => [path, kind]));
  for (const { path } of entries)
    for (let parent = dirname(path); parent !== "."; parent = dirname(parent)) {
      const kind = kinds.get(parent);
      if (kind === "file" || kind === "link") throw unsafeEntry(path, `is below ${JSON.stringify(parent)}, a ${kind}`);
    }
}

async function writeEntry(zip: ZipFile, folder: string, { entry, isExecutable, kind, path }: SafeEntry): Promise<void> {
  const target = join(folder, path);
  try {
    await mkdir(kind === "folder" ? target : dirname(target), { recursive: true, mode: 0o755 });
    if (kind === "folder") return;
    const input = await zip.openReadStreamPromise(entry);
    // Created last: an output that fails before `pipeline` listens ends the worker.
    await pipeline(input, createWriteStream(target, { flags: "wx", mode: isExecutable ? 0o755 : 0o644 }));
  } catch (error) {
    throw isLongName(error) ? unsafeEntry(path, "has a name that is too long") : error;
  }
}

async function writeLink(zip: ZipFile, folder: string, { entry, path }: SafeEntry): Promise<void> {
  if (entry.uncompressedSize > maxLinkBytes) throw unsafeEntry(path, "is a link with a target that is too long");
  const target = await text(await zip.openReadStreamPromise(entry));
  if (!staysInside(path, target)) throw unsafeEntry(path, "is a link that leaves the archive");
  const place = join(folder, path);
  await mkdir(dirname(place), { recursive: true, mode: 0o755 });
  if (
    await lstat(place).then(
      () => true,
      () => false,
    )
  )
    throw unsafeEntry(path, "is duplicated");
  await symlink(target, place);
}

/**
 * Parents of a link are real folders, so leading `..` are safe. After a name, `..` might start from another link's
 * target.
 */
function staysInside(path: string, target: string): boolean {
  if (target === "" || target.includes("\0") || target.includes("\\") || posix.isAbsolute(target)) return false;
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  const names = parts.findIndex((part) => part !== "..");
  const climbs = names === -1 ? parts.length : names;
  if (names !== -1 && parts.slice(names).includes("..")) return false;
  return climbs <= path.split("/").length - 1;
}

function isLongName(error: unknown): boolean {
  return hasCode(error, "ENAMETOOLONG");
}
