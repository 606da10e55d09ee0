import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** The paths of all files below a folder, with their bytes as latin1. Leaves out what disappears meanwhile. */
export function* filesBelow(directory: string): Generator<[path: string, content: string]> {
  for (const name of unlessGone(() => readdirSync(directory)) ?? []) {
    const path = join(directory, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory() === true) yield* filesBelow(path);
    else if (stat?.isFile() === true) {
      const content = unlessGone(() => readFileSync(path, "latin1"));
      if (content !== undefined) yield [path, content];
    }
  }
}

function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
