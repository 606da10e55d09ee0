// Builds everything that runs in a clone: the modules of each package, as tsc would write them, the programs, and the
// pages; with `--programs` without the console and the documentation, with `--types` also the types of the SDK. `turbo run
// build` writes types as well, and finishes the packages for the registry.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { bundleForNode } from "./finish-dist/bundle-for-node.mjs";
import { recordBuild, stale } from "./clone/built.mjs";
import { packageFolders, root } from "./clone/packages.mjs";

/** @type {typeof import("esbuild")} The tools of the workspace are not installed for `shoal` alone. */
const { build } = createRequire(join(root, "apps/cli/package.json"))("esbuild");

const notBuilt = ["**/*.test.ts", "**/*.slow.ts", "**/*.test-d.ts", "**/*.d.ts", "**/testing/**"];

/**
 * Keeps modules apart, and imports the output of another module instead of its source.
 * @type {import("esbuild").Plugin}
 */
const moduleByModule = {
  name: "module by module",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, kind }) =>
      kind === "entry-point" ? undefined : { path: path.replace(/\.ts$/, ".js"), external: true },
    );
  },
};

/** @param {string} folder - of the package. Writes `dist` from `src`. */
async function transpile(folder) {
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: globSync("src/**/*.ts", { cwd: folder, exclude: notBuilt.map((pattern) => `src/${pattern}`) }),
    outbase: "src",
    outdir: "dist",
    bundle: true,
    treeShaking: false,
    packages: "external",
    plugins: [moduleByModule],
    format: "esm",
    platform: "node",
    target: "node24",
    sourcemap: true,
    sourcesContent: false,
    write: false,
    logLevel: "warning",
  });
  let changed = false;
  for (const { path, contents } of outputFiles) {
    if (existsSync(path) && readFileSync(path).equals(contents)) continue;
    changed = true;
    mkdirSync(dirname(path), { recursive: true });
    // Running programs may be loading the module.
    const unfinished = `${path}.${process.pid}`;
    writeFileSync(unfinished, contents);
    renameSync(unfinished, path);
  }
  // Makes tsc write its own output again.
  if (changed) rmSync(join(folder, "dist/.tsbuildinfo"), { force: true });
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  await bundleForNode(build, folder, manifest);
}

/** @param {string} folder @param {readonly string[]} args - of Node */
async function run(folder, ...args) {
  const child = spawn(process.execPath, args, { cwd: join(root, folder), stdio: ["ignore", 2, 2] });
  const [status] = await once(child, "close");
  if (status !== 0) throw new Error(`The build of ${folder} failed.`);
}

/**
 * @param {string} folder @param {string} name - of a dependency @param {string} program
 * @returns {string} the path of its program
 */
function programOf(folder, name, program = name) {
  const require = createRequire(join(root, folder, "package.json"));
  const manifest = require.resolve(`${name}/package.json`);
  return join(dirname(manifest), require(manifest).bin[program]);
}

async function buildPrograms() {
  const folders = packageFolders().filter(
    (path) => existsSync(join(root, path, "tsconfig.build.json")) && path !== "apps/cli",
  );
  await Promise.all(folders.map((path) => transpile(join(root, path))));
  await Promise.all([
    run("packages/instance", "build.mjs"),
    run("packages/app-runner", "build.mjs"),
    run("apps/cli", "--conditions=@shoal/source", "build.mjs"),
  ]);
}

async function buildConsole() {
  await run("apps/console", programOf("apps/console", "vite"), "build", "--logLevel=error");
  await run("apps/console", programOf("apps/console", "vite"), "build", "--logLevel=error", "--mode=replay");
}

/** @returns {Promise<boolean>} whether it is built: a dead link in a page must not keep the service from starting */
async function buildDocs() {
  try {
    await run("apps/docs", "src/build.ts", "--quick");
    return true;
  } catch {
    console.error("The documentation is not built: see the message above.");
    return false;
  }
}

const programsOnly = process.argv.includes("--programs");
const parts = stale(programsOnly);
const record = recordBuild(parts);
const unbuilt = [];
if (parts.includes("programs")) await buildPrograms();
if (parts.includes("console")) await buildConsole();
if (parts.includes("docs") && !(await buildDocs())) unbuilt.push("docs");
// The pages of the server include the console and the documentation.
if (parts.length > 0) await run("apps/server", "build.mjs", ...(programsOnly ? ["--without-console"] : []));
record(unbuilt);
if (process.argv.includes("--types")) {
  const sdk = "packages/client";
  await run(
    sdk,
    programOf(sdk, "typescript-7", "tsc"),
    "-b",
    "tsconfig.build.json",
    "--noCheck",
    "--emitDeclarationOnly",
  );
}
