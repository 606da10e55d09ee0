import { dirname, join } from "node:path";

/** Next to the entry, so that `import.meta.resolve`, `__dirname` and files next to it stay right. */
export function bundleName(entry: string, format: "cjs" | "esm", name = ".shoal-entry"): string {
  return join(dirname(entry), format === "cjs" ? `${name}.cjs` : `${name}.mjs`);
}
