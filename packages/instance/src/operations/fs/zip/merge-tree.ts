import { hasCode } from "@shoal/primitives";
import { notADirectory, notAFile } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { Stats } from "node:fs";
import { lstat, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { fileKind } from "../file-info.ts";

export interface MergeDestination {
  /** Creates the directory, after all checks. */
  make(): Promise<string>;
  readonly existing: string | undefined;
  readonly path: string;
}

/** Existing directories keep their mode and other content. Checks everything first, then replaces files one by one. */
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
    if (entry.isDirectory()) {
      if (!stats.isDirectory()) throw ServiceError.of(notADirectory("unpack a directory to", place, fileKind(stats)));
      await findConflicts(join(from, entry.name), join(to, entry.name), place);
    } else if (stats.isDirectory()) throw ServiceError.of(notAFile("unpack a file to", place, fileKind(stats)));
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
