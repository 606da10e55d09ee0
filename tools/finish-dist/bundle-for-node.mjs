import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { posix, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Bundles a package into one file for Node, if its exports name one. Node loads it faster than hundreds of small files.
 * @param {typeof import("esbuild").build} build
 * @param {string} folder - of the package, with the modules in its `dist`
 * @param manifest - its package.json
 */
export async function bundleForNode(build, folder, manifest) {
  const entry = manifest.exports?.["."]?.node;
  if (entry === undefined) return;
  const { metafile } = await build({
    absWorkingDir: folder,
    entryPoints: { index: "dist/index.js" },
    outdir: "dist/bundle",
    bundle: true,
    // Rarely used parts (event streams, uploads) are loaded lazily, as in the small files.
    splitting: true,
    format: "esm",
    platform: "neutral",
    target: "es2023",
    mainFields: ["module", "main"],
    // In Node all packages import the same contract: a second copy would cost more than the smaller one saves.
    alias: { "@shoal/contract/calls": "@shoal/contract" },
    external: [
      "node:*",
      ...Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }).flatMap((name) => [
        name,
        `${name}/*`,
      ]),
    ],
    plugins: [withoutLocales],
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: "warning",
    // Imports of types alone, of modules without side effects.
    logOverride: { "ignored-bare-import": "silent" },
  });
  // Files of earlier builds, last: a running program may still load them.
  const written = Object.keys(metafile.outputs).map((path) => posix.basename(path));
  for (const name of readdirSync(resolve(folder, "dist/bundle")))
    if (!written.includes(name)) rmSync(resolve(folder, "dist/bundle", name));
  if (Object.keys(metafile.inputs).some((path) => path.includes("/zod/"))) {
    writeFileSync(
      resolve(folder, "dist/bundle/LICENSE-zod.txt"),
      `The files next to this one contain parts of zod (https://zod.dev), under this licence:\n\n${readFileSync(resolve(folder, "node_modules/zod/LICENSE"), "utf8")}`,
    );
  }
}

/**
 * Drops zod's unused messages in fifty languages.
 * @type {import("esbuild").Plugin}
 */
const withoutLocales = {
  name: "without locales",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/locales\/index\.js$/ }, ({ path }) => ({ path, namespace: "no-locales" }));
    onLoad({ filter: /.*/, namespace: "no-locales" }, () => ({ contents: "export {};" }));
  },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { build } = await import("esbuild");
  await bundleForNode(build, process.cwd(), JSON.parse(readFileSync("package.json", "utf8")));
}
