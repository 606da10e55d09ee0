// Runs the fast suite with Vitest's arguments, or with files that end in .built.test.ts: these. Builds what the tests need
// first. Usage: node tools/test.mjs [ARGUMENT …]
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Their tests run on sources only. */
const onSources = "client contract database login mcp primitives router schemas testing transport".split(" ");

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * @param {readonly string[]} args
 * @returns {"nothing" | "programs" | "packages"} the parts to build: none, the programs that tests start, or the packages as
 * they are published
 */
export function neededBuild(args) {
  if (args.some((arg) => arg.endsWith(".built.test.ts"))) return "packages";
  const isOnSources = args.every((arg) => {
    const [folder, name = ""] = relative(root, resolve(root, arg)).split(sep);
    return folder === "packages" && onSources.includes(name) && existsSync(resolve(root, arg));
  });
  return args.length > 0 && isOnSources ? "nothing" : "programs";
}

/** @param {readonly string[]} command */
function run([program = "", ...args]) {
  const { status } = spawnSync(program, args, { cwd: root, shell: process.platform === "win32", stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

if (import.meta.main) {
  const args = process.argv.slice(2).filter((arg) => arg !== "--");
  const needed = neededBuild(args);
  if (needed === "programs") run([process.execPath, "tools/build.mjs"]);
  if (needed === "packages") run(["turbo", "run", "build", "--output-logs=errors-only"]);
  run(["vitest", "run", ...(needed === "packages" ? ["--config", "vitest.built.config.ts"] : []), ...args]);
}
