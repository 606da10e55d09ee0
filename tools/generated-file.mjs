// What the tools have in common that write files of the repository from its sources.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const condition = "--conditions=@shoal/source";

/**
 * Runs the tool anew so that it imports the packages' sources, not what was built from them: what it writes cannot be stale because a
 * build is. Returns at once where it does already.
 *
 * @param {string} tool - its `import.meta.url`.
 */
export function onSources(tool) {
  if (process.execArgv.includes(condition)) return;
  const { status } = spawnSync(process.execPath, [condition, fileURLToPath(tool), ...process.argv.slice(2)], { stdio: "inherit" });
  process.exit(status ?? 1);
}

/**
 * Writes the file. With `--check` only says whether it is up to date, and makes the tool fail where it is not.
 *
 * @param {string} path - within the repository.
 * @param {string} text - what is to stand in it.
 * @param {{ source: string, tool: string }} names - what it is made from, and the tool, for people.
 */
export function writeOrCheck(path, text, { source, tool }) {
  const target = join(root, path);
  if (!process.argv.includes("--check")) {
    writeFileSync(target, text);
  } else if (textOf(target) !== text) {
    console.error(`${path} does not fit ${source} any more: run \`node tools/${tool}\` and commit what it writes.`);
    process.exitCode = 1;
  }
}

function textOf(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}
