import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** The paths of all files below a folder that exist when they are reached. */
export function* filesBelow(directory: string): Generator<string> {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory() === true) yield* filesBelow(path);
    else if (stat?.isFile() === true) yield path;
  }
}
