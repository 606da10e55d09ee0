// Keeps the lists of files: adds a line for each new file below the last one of its folder, and removes lines of
// removed files. The order of other lines stays. With `--check` it only compares. `openapi.mjs` runs it first.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeOrCheck } from "./generated-file.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** The lists, and the content by which a file below their folder belongs to them. */
const lists = [
  { path: "packages/schemas/src/index.ts", member: /^export interface \w+ extends z\./m },
  { path: "packages/contract/src/operations.ts", member: /^export const \w+ = defineEndpoint\(/m },
];

export function writeLists() {
  for (const { path, member } of lists)
    writeOrCheck(path, listOf(join(root, path), member), { source: "a folder", tool: "lists.mjs" });
}

/** @param {string} path - of a list @param {RegExp} member @returns {string} its text for the present files */
export function listOf(path, member) {
  const folder = dirname(path);
  const files = globSync("*/*.ts", { cwd: folder })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => !/\.(?:test|slow|test-d)\.ts$/.test(file))
    .filter((file) => member.test(readFileSync(join(folder, file), "utf8")))
    .sort();
  return updatedList(readFileSync(path, "utf8"), files, (file) => existsSync(join(folder, file)));
}

function updatedList(text, files, exists) {
  const lines = text
    .trimEnd()
    .split("\n")
    .filter((line) => fileOf(line) === undefined || exists(fileOf(line)));
  for (const file of files.filter((name) => !lines.some((line) => fileOf(line) === name))) {
    const last = lines.findLastIndex((line) => fileOf(line)?.startsWith(`${dirname(file)}/`));
    lines.splice(last < 0 ? lines.length : last + 1, 0, `export * from "./${file}";`);
  }
  return `${lines.join("\n")}\n`;
}

function fileOf(line) {
  return / from "\.\/([^"]+)";$/.exec(line)?.[1];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeLists();
