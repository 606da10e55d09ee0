import { createRequire } from "node:module";
import { dirname, join } from "node:path";

// By the name of the package, because the bundle in `dist/bundle` has another depth than the modules.
const folder = dirname(createRequire(import.meta.url).resolve("@shoal/server/package.json"));

/** Path of a file of this package. @param path - relative to its package.json. */
export const packageFile = (path: string): string => join(folder, path);
