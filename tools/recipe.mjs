// Proves docs/adding-a-resource.md: applies it to a copy of the tree, generates, and runs type checks, layers, and the tests
// of the contract, the command line and the behaviour there. Usage: node tools/recipe.mjs [FOLDER], which keeps the copy.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { applyPage } from "./recipe/apply.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const limits = { files: 8, lines: 30 };

/** @param {string} to - Copies the files of git, and links the installed packages, those of this repository to the copy. */
function copyTree(to) {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard"];
  const { stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 64 << 20 });
  for (const path of stdout.trim().split("\n"))
    if (existsSync(join(root, path))) cpSync(join(root, path), join(to, path), { verbatimSymlinks: true });
  // Some tools list the files of git.
  spawnSync("git", ["init", "--quiet"], { cwd: to });
  symlinkSync(join(root, "node_modules"), join(to, "node_modules"));
  // The server starts this program, which the recipe does not change.
  symlinkSync(join(root, "packages/instance/dist"), join(to, "packages/instance/dist"));
  for (const folder of ["packages", "apps"].flatMap((group) =>
    readdirSync(join(to, group)).map((name) => join(group, name)),
  )) {
    const modules = join(root, folder, "node_modules");
    if (!existsSync(modules)) continue;
    mkdirSync(join(to, folder, "node_modules/@shoal"), { recursive: true });
    for (const name of readdirSync(modules).filter((each) => each !== "@shoal"))
      symlinkSync(join(modules, name), join(to, folder, "node_modules", name));
    const own = join(modules, "@shoal");
    for (const name of existsSync(own) ? readdirSync(own) : [])
      symlinkSync(
        realpathSync(join(own, name)).replace(root.replace(/\/$/, ""), to),
        join(to, folder, "node_modules/@shoal", name),
      );
  }
}

const began = performance.now();
const kept = process.argv[2];
const copy = realpathSync(kept === undefined ? mkdtempSync(join(tmpdir(), "shoal-recipe-")) : (mkdirSync(kept), kept));

/** @param {string} what @param {readonly string[]} args - of Node */
async function check(what, args) {
  const started = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: copy,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1" },
  });
  let output = "";
  for (const from of [child.stdout, child.stderr]) from.on("data", (part) => (output += part));
  const [status] = await once(child, "close");
  console.log(
    `${status === 0 ? "ok    " : "failed"} ${((performance.now() - started) / 1000).toFixed(1).padStart(5)} s  ${what}`,
  );
  if (status === 0) return;
  console.log(output);
  process.exitCode = 1;
}

const inModules = (path) => join("node_modules", path);

/** Both include the types of the other packages. */
async function types() {
  const file = "tsconfig.recipe.json";
  writeFileSync(
    join(copy, file),
    JSON.stringify({ extends: "./tsconfig.json", include: ["apps/server/src", "apps/e2e/src"] }),
  );
  await check("types of apps/server and apps/e2e", [inModules("typescript-7/bin/tsc"), "-p", file]);
}

/** The fake and the service answer in the process of the test, from their sources. */
async function tests() {
  const file = "apps/server/src/recipe.test.ts";
  writeFileSync(join(copy, file), readFileSync(join(root, "tools/recipe/behaviour.ts.txt")));
  const contract = ["contract.test.ts", "tolerance.test.ts", "examples"].map((name) => `packages/contract/src/${name}`);
  const files = [...contract, "apps/cli/src/table/command-table.test.ts", file];
  await check("contract, commands, behaviour of the service", [inModules("vitest/vitest.mjs"), "run", ...files]);
}

try {
  copyTree(copy);
  const page = readFileSync(join(copy, "docs/adding-a-resource.md"), "utf8");
  const { changed, created, lines } = applyPage(page, copy);
  console.log(`${created.length} new files, ${lines} lines in ${changed.length} present files`);
  if (created.length > limits.files || lines > limits.lines) {
    console.log(`The limits are ${limits.files} new files and ${limits.lines} lines.`);
    process.exitCode = 1;
  }
  await check("npm run generate", ["tools/generate.mjs"]);
  await check("npm run format", [
    inModules("prettier/bin/prettier.cjs"),
    "--write",
    "--log-level=warn",
    ...created,
    ...changed,
  ]);
  await check("layers", ["tools/layers.mjs"]);
  await check("words", ["tools/words.mjs"]);
  await Promise.all([types(), tests()]);
  console.log(`${((performance.now() - began) / 1000).toFixed(0)} s in all`);
} finally {
  if (kept === undefined) rmSync(copy, { recursive: true, force: true });
}
