import type { Stats } from "node:fs";
import { lstat, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { hasCode, notADirectory, notAFile } from "./errors.ts";
import { fileKind } from "./file-info.ts";

/** Where a tree is moved to. */
export interface MergeDestination {
  /** Makes the directory, when nothing speaks against the merge any more. */
  make(): Promise<string>;
  /** The directory, when it exists already. */
  readonly existing: string | undefined;
  /** Its API path, for messages. */
  readonly path: string;
}

/**
 * Moves what is in a directory into another one of the same filesystem. Directories that exist there keep their mode and what else is in them; files and links are
 * replaced in one step each. Looks first whether all of it can be done.
 *
 * @throws {ServiceError} 400 where a directory would replace something else, a link to a directory too, or the other way round.
 */
export async function mergeTree(staging: string, destination: MergeDestination): Promise<void> {
  const { existing, path } = destination;
  if (existing !== undefined) await findConflicts(staging, existing, path);
  await moveInto(staging, await destination.make());
}

async function findConflicts(from: string, to: string, path: string): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const stats = await statsOf(join(to, entry.name));
    if (stats === undefined) continue;
    const place = path === "/" ? `/${entry.name}` : `${path}/${entry.name}`;
    const advice = "Delete it first, or unpack into another directory.";
    if (entry.isDirectory()) {
      if (!stats.isDirectory()) throw notADirectory("unpack a directory to", place, fileKind(stats), advice);
      await findConflicts(join(from, entry.name), join(to, entry.name), place);
    } else if (stats.isDirectory()) throw notAFile("unpack a file to", place, fileKind(stats), advice);
  }
}

async function moveInto(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const place = join(to, entry.name);
    if (entry.isDirectory() && (await statsOf(place)) !== undefined) await moveInto(join(from, entry.name), place);
    else await rename(join(from, entry.name), place);
  }
}

async function statsOf(path: string): Promise<Stats | undefined> {
  return lstat(path).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  });
}
