// Helpers of the tools that generate files of the repository.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const condition = "--conditions=@shoal/source";

/**
 * Runs the tool again with the packages' sources, unless it already uses them, so that a stale build cannot affect the
 * output.
 * @param {string} tool - its `import.meta.url`.
 */
export function onSources(tool) {
  if (process.execArgv.includes(condition)) return;
  const { status } = spawnSync(process.execPath, [condition, fileURLToPath(tool), ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  process.exit(status ?? 1);
}

/**
 * Writes the file. With `--check` it only compares, and the tool fails if the file is stale.
 * @param {string} path - within the repository.
 * @param {string} text - its content.
 * @param {{ source: string, tool: string }} names - the source and the tool, for messages.
 */
export function writeOrCheck(path, text, { source, tool }) {
  const target = join(root, path);
  if (!process.argv.includes("--check")) {
    writeFileSync(target, text);
  } else if (textOf(target) !== text) {
    console.error(
      `${path} is stale, ${source} changed: run \`npm run generate\`, which runs tools/${tool}, and commit the result.`,
    );
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
