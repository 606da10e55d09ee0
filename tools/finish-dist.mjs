// The last step of a published package's build, after tsc. It works on ./dist:
// - marks calls at the top level of modules as pure, so that bundlers can drop what a program does not use. esbuild needs them at the
//   call: it does not carry `@__NO_SIDE_EFFECTS__` from one module to another;
// - copies the comments of spread fields into the declarations, where tsc loses them, so that editors show them;
// - bundles the package into one file for Node, which takes longer to find a hundred small files than to run them. Bundlers get the
//   small files (the `default` condition), Node the one (`node`).
// Source maps stay right.
import { build } from "esbuild";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { pureMarks } from "./finish-dist/pure-marks.mjs";
import { missingComments } from "./finish-dist/missing-comments.mjs";
import { applyInsertions } from "./finish-dist/insertions.mjs";

/** Finishes the `dist` of the package in `folder`. */
export async function finishDist(folder) {
  const manifest = JSON.parse(readFileSync(resolve(folder, "package.json"), "utf8"));
  rmSync(resolve(folder, "dist/bundle"), { recursive: true, force: true });
  for (const path of globSync("dist/**/*.js", { cwd: folder })) insertInto(resolve(folder, path), pureMarks);
  for (const [path, insertions] of missingComments(folder)) insertInto(path, () => insertions);
  await bundleForNode(folder, manifest);
}

function insertInto(path, find) {
  const text = readFileSync(path, "utf8");
  const insertions = find(text);
  if (insertions.length === 0) return;
  const mapPath = `${path}.map`;
  const done = applyInsertions(text, insertions, JSON.parse(readFileSync(mapPath, "utf8")));
  writeFileSync(path, done.text);
  writeFileSync(mapPath, JSON.stringify(done.map));
}

async function bundleForNode(folder, manifest) {
  const entry = manifest.exports["."]?.node;
  if (entry === undefined) return;
  const zodLicense = resolve(folder, "node_modules/zod/LICENSE");
  const { metafile } = await build({
    absWorkingDir: folder,
    entryPoints: { index: "dist/index.js" },
    outdir: "dist/bundle",
    bundle: true,
    // What few programs use (event streams, uploads) is loaded when they do, as in the small files.
    splitting: true,
    format: "esm",
    platform: "neutral",
    target: "es2023",
    mainFields: ["module", "main"],
    external: Object.keys({ ...manifest.dependencies }).flatMap((name) => [name, `${name}/*`]),
    plugins: [withoutLocales],
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: "warning",
  });
  if (Object.keys(metafile.inputs).some((path) => path.includes("/zod/"))) {
    writeFileSync(resolve(folder, "dist/bundle/LICENSE-zod.txt"), `The files beside this one hold parts of zod (https://zod.dev), under this licence:\n\n${readFileSync(zodLicense, "utf8")}`);
  }
}

/**
 * The messages of fifty languages, which nothing asks for.
 * @type {import("esbuild").Plugin}
 */
const withoutLocales = {
  name: "without locales",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/locales\/index\.js$/ }, ({ path }) => ({ path, namespace: "no-locales" }));
    onLoad({ filter: /.*/, namespace: "no-locales" }, () => ({ contents: "export {};" }));
  },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await finishDist(process.cwd());
