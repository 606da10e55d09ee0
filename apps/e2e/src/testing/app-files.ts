import { build } from "esbuild";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Sources of an app by path. */
export type AppFiles = Readonly<Record<string, string>>;

export function writeApp(folder: string, files: AppFiles): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

/** Files that an app imports by the names of packages, so that its build needs no registry. */
export async function vendored(packages: readonly string[]): Promise<AppFiles> {
  const { outputFiles } = await build({
    entryPoints: Object.fromEntries(packages.map((name) => [name, name])),
    outdir: "vendor",
    absWorkingDir: import.meta.dirname,
    bundle: true,
    splitting: true,
    write: false,
    logLevel: "error",
    format: "esm",
    platform: "node",
  });
  const root = join(import.meta.dirname, "vendor");
  const paths = Object.fromEntries(packages.map((name) => [name, [`./vendor/${name}.js`]]));
  return {
    "tsconfig.json": JSON.stringify({ compilerOptions: { module: "preserve", paths } }),
    ...Object.fromEntries(outputFiles.map(({ path, text }) => [join("vendor", path.slice(root.length + 1)), text])),
  };
}
