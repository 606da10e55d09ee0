// The first step of a package's build: removes the output of sources that were moved or deleted, which tsc leaves in ./dist.
// Only tsc writes `.d.ts.map` files, so that the files of later build steps stay.
import { existsSync, globSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** @returns {string[]} the removed modules, relative to `dist`, without extension */
export function removeStale(folder) {
  const modules = globSync("**/*.d.ts.map", { cwd: join(folder, "dist") }).map((path) => path.slice(0, -9));
  const stale = modules.filter((module) => !existsSync(join(folder, "src", `${module}.ts`)));
  for (const module of stale) {
    for (const extension of [".js", ".js.map", ".d.ts", ".d.ts.map"])
      rmSync(join(folder, "dist", module + extension), { force: true });
  }
  return stale;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) removeStale(process.cwd());
