// The last step of a published package's build, after tsc. It works on ./dist:
// - marks calls at the top level of modules as pure, so that bundlers can drop what a program does not use. esbuild needs them at the
//   call: it does not carry `@__NO_SIDE_EFFECTS__` from one module to another;
// - copies the comments of spread fields into the declarations, where tsc loses them, so that editors show them;
// - writes the contract and its schemas a second time into dist/calls, without what clients do not read, and lets the client
//   (`--calls`) import that;
// - bundles the package into one file for Node, which takes longer to find a hundred small files than to run them. Bundlers get the
//   small files (the `default` condition), Node the one (`node`).
// Source maps stay right.
import { build } from "esbuild";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { pureMarks } from "./finish-dist/pure-marks.mjs";
import { missingComments } from "./finish-dist/missing-comments.mjs";
import { applyEdits } from "./finish-dist/edits.mjs";
import { reachableFrom, withoutWhatClientsLeave } from "./finish-dist/calls.mjs";

/** Finishes the `dist` of the package in `folder`. @param importCalls - whether it is to import the contract without what clients do not read. */
export async function finishDist(folder, importCalls) {
  const manifest = JSON.parse(readFileSync(resolve(folder, "package.json"), "utf8"));
  for (const made of ["bundle", "calls"]) rmSync(resolve(folder, "dist", made), { recursive: true, force: true });
  for (const path of globSync("dist/**/*.js", { cwd: folder }))
    edit(resolve(folder, path), (text) => [...pureMarks(text), ...(importCalls ? importsOfCalls(text) : [])]);
  for (const [path, insertions] of missingComments(folder)) edit(path, () => insertions);
  if (manifest.exports["./calls"] !== undefined) writeCalls(folder);
  await bundleForNode(folder, manifest);
}

/** @param target - where the file and its map go; in place when absent. */
function edit(path, find, target = path) {
  const text = readFileSync(path, "utf8");
  const edits = find(text);
  if (edits.length === 0 && target === path) return;
  const done = applyEdits(text, edits, JSON.parse(readFileSync(`${path}.map`, "utf8")));
  writeFileSync(target, done.text);
  writeFileSync(
    `${target}.map`,
    JSON.stringify(target === path ? done.map : { ...done.map, sources: done.map.sources.map((source) => `../${source}`) }),
  );
}

function importsOfCalls(text) {
  return [...text.matchAll(/(?<= from "@shoal\/contract)(?=";$)/gm)].map(({ index }) => ({ at: index, text: "/calls" }));
}

function writeCalls(folder) {
  mkdirSync(resolve(folder, "dist/calls"));
  const names = reachableFrom("index.js", (name) => readFileSync(resolve(folder, "dist", name), "utf8")).keys();
  for (const name of names) edit(resolve(folder, "dist", name), withoutWhatClientsLeave, resolve(folder, "dist/calls", name));
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
    // In Node, where size matters less than a second copy would, everybody imports the same contract.
    alias: { "@shoal/contract/calls": "@shoal/contract" },
    external: Object.keys({ ...manifest.dependencies }).flatMap((name) => [name, `${name}/*`]),
    plugins: [withoutLocales],
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: "warning",
  });
  if (Object.keys(metafile.inputs).some((path) => path.includes("/zod/"))) {
    writeFileSync(
      resolve(folder, "dist/bundle/LICENSE-zod.txt"),
      `The files beside this one hold parts of zod (https://zod.dev), under this licence:\n\n${readFileSync(zodLicense, "utf8")}`,
    );
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

if (process.argv[1] === fileURLToPath(import.meta.url)) await finishDist(process.cwd(), process.argv.includes("--calls"));
