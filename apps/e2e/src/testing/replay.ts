import type { FileSystemEvent } from "@shoal/client";
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Every path below a directory of the host, in the API's form, and whether it is a directory. */
export function treeOf(onHost: string, path: string): Map<string, boolean> {
  const found = new Map<string, boolean>();
  for (const entry of readdirSync(onHost, { recursive: true, withFileTypes: true }))
    found.set(path + join(entry.parentPath, entry.name).slice(onHost.length), entry.isDirectory());
  return found;
}

/** Applies events to a tree; moves carry everything below. */
export function replay(before: ReadonlyMap<string, boolean>, events: readonly FileSystemEvent[]): Map<string, boolean> {
  const tree = new Map(before);
  const below = (path: string) => [...tree].filter(([at]) => at === path || at.startsWith(`${path}/`));
  for (const { type, path, is_dir, dest_path } of events) {
    if (type === "CREATE") tree.set(path, is_dir ?? false);
    if (type === "DELETE" || type === "RENAME") {
      // Most are files, and walking the whole tree for each would take minutes.
      const moved: [string, boolean][] = tree.get(path) === false ? [[path, false]] : below(path);
      for (const [at] of moved) tree.delete(at);
      if (dest_path !== undefined)
        for (const [at, isDirectory] of moved) tree.set(dest_path + at.slice(path.length), isDirectory);
    }
  }
  return tree;
}

export function differences(told: ReadonlyMap<string, boolean>, real: ReadonlyMap<string, boolean>): string[] {
  return [
    ...[...real].flatMap(([path, isDirectory]) => (told.get(path) === isDirectory ? [] : [`missing: ${path}`])),
    ...[...told.keys()].flatMap((path) => (real.has(path) ? [] : [`not there: ${path}`])),
  ];
}
