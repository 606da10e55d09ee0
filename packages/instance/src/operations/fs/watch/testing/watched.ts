import type { FileSystemEvent } from "@shoal/schemas";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { replay, serveWatches, treeOf, type Frame, type ServedWatches } from "./served-watches.ts";

/** Returns the events of a watch on `/w` while a script runs. */
export async function watched(
  served: ServedWatches,
  script: string,
  options: { recursive?: boolean; by?: "sh" | "node" } = {},
): Promise<Frame[]> {
  const id = await served.start("/w", options.recursive ?? true);
  const reader = await served.read(id);
  await served[options.by ?? "sh"](script);
  expect((await served.stop(id)).status).toBe(204);
  return reader.toEnd();
}

/** Serves watches with `/w` and the given directories. */
export async function prepared(...directories: string[]): Promise<ServedWatches> {
  const served = await serveWatches();
  for (const directory of ["w", ...directories]) await mkdir(join(served.root, directory), { recursive: true });
  return served;
}

export const eventsOf = (frames: readonly Frame[]): FileSystemEvent[] => frames.flatMap(({ event }) => event ?? []);

export async function expectNothingMissing(
  served: ServedWatches,
  frames: readonly Frame[],
  before: ReadonlyMap<string, boolean> = new Map(),
): Promise<void> {
  const now = await treeOf(served.root, "/w");
  for (const knows of ["moves", "creations"] as const) {
    const told = replay(before, frames, knows);
    expect([...now].filter(([path, isDirectory]) => told.get(path) !== isDirectory)).toEqual([]);
    expect([...told.keys()].filter((path) => !now.has(path))).toEqual([]);
  }
  expect(frames.map(({ id }) => id)).toEqual(frames.map((_, index) => (frames[0]?.id ?? 1) + index));
}
