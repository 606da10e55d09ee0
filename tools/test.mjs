// Runs the fast suite with Vitest's arguments. Builds first, unless all of them are test files of packages without parts
// that have to be built. Usage: node tools/test.mjs [ARGUMENT …]
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Their tests run on sources only. */
const onSources = "client contract database login mcp primitives router schemas testing transport".split(" ");

const root = fileURLToPath(new URL("..", import.meta.url));

/** @param {readonly string[]} args */
export function needsBuild(args) {
  return (
    args.length === 0 ||
    args.some((arg) => {
      const [folder, name = ""] = relative(root, resolve(root, arg)).split(sep);
      return folder !== "packages" || !onSources.includes(name) || !existsSync(resolve(root, arg));
    })
  );
}

/** @param {readonly string[]} command */
function run([program = "", ...args]) {
  const { status } = spawnSync(program, args, { cwd: root, shell: process.platform === "win32", stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

if (import.meta.main) {
  const args = process.argv.slice(2).filter((arg) => arg !== "--");
  if (needsBuild(args)) run(["turbo", "run", "build", "--output-logs=errors-only"]);
  run(["vitest", "run", ...args]);
}
