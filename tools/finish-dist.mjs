// The last step of a published package's build, after tsc. It works on ./dist and keeps source maps correct:
// - marks calls at the top level of modules as pure, so that bundlers can drop unused code. esbuild does not carry
//   `@__NO_SIDE_EFFECTS__` from one module to another, so each call is marked;
// - copies the comments of spread fields into the declarations, where tsc loses them, for editors;
// - writes a second copy of the contract and its schemas to dist/calls, without the parts that clients do not need, for
//   the client (`--calls`);
// - bundles the package into one file for Node, which loads faster than a hundred small files. Bundlers use the small
//   files (the `default` condition), Node the bundle (`node`).
import { build } from "esbuild";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleForNode } from "./finish-dist/bundle-for-node.mjs";
import { pureMarks } from "./finish-dist/pure-marks.mjs";
import { missingComments } from "./finish-dist/missing-comments.mjs";
import { applyEdits } from "./finish-dist/edits.mjs";
import { reachableFrom, withoutWhatClientsLeave } from "./finish-dist/calls.mjs";

/**
 * Finishes the `dist` of the package in `folder`. @param importCalls - whether it imports the contract from dist/calls.
 */
export async function finishDist(folder, importCalls) {
  const manifest = JSON.parse(readFileSync(resolve(folder, "package.json"), "utf8"));
  for (const made of ["bundle", "calls"]) rmSync(resolve(folder, "dist", made), { recursive: true, force: true });
  for (const path of globSync("dist/**/*.js", { cwd: folder }))
    edit(resolve(folder, path), (text) => [...pureMarks(text), ...(importCalls ? importsOfCalls(text) : [])]);
  for (const [path, insertions] of missingComments(folder)) edit(path, () => insertions);
  if (manifest.exports["./calls"] !== undefined) writeCalls(folder);
  await bundleForNode(build, folder, manifest);
}

/** @param target - path of the output file and its map; default in place. */
function edit(path, find, target = path) {
  const text = readFileSync(path, "utf8");
  const edits = find(text);
  if (edits.length === 0 && target === path) return;
  const done = applyEdits(text, edits, JSON.parse(readFileSync(`${path}.map`, "utf8")));
  writeFileSync(target, done.text);
  writeFileSync(
    `${target}.map`,
    JSON.stringify(
      target === path ? done.map : { ...done.map, sources: done.map.sources.map((source) => `../${source}`) },
    ),
  );
}

function importsOfCalls(text) {
  return [...text.matchAll(/(?<= from "@shoal\/contract)(?=";$)/gm)].map(({ index }) => ({
    at: index,
    text: "/calls",
  }));
}

function writeCalls(folder) {
  mkdirSync(resolve(folder, "dist/calls"));
  const names = reachableFrom("index.js", (name) => readFileSync(resolve(folder, "dist", name), "utf8")).keys();
  for (const name of names) {
    const target = resolve(folder, "dist/calls", name);
    mkdirSync(dirname(target), { recursive: true });
    edit(resolve(folder, "dist", name), withoutWhatClientsLeave, target);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await finishDist(process.cwd(), process.argv.includes("--calls"));
