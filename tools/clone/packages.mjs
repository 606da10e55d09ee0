// The installed packages of the workspace. Runs on Node 18.
//
// A command that only needs a part installs it from a smaller lockfile, because pnpm's filters would add all tools of the root. It
// is in `part`, with the packages that it names. Once pnpm has installed the workspace itself, nothing else is used, and `install`
// removes the part.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { lockfileFor, needsFolder } from "./needed.mjs";
import { nodeVersion } from "./toolchain.mjs";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** @typedef {import("./needed.mjs").Need} Need */
const needs = /** @type {const} */ (["demo", "service", "all"]);

const part = join(root, "node_modules/.service");
const partRecord = join(part, "installed.json");

/** @param {string} path */
const timeOf = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs;
/** @param {string} path */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** @returns {readonly string[]} the folders of all packages, such as `apps/cli` */
export function packageFolders() {
  return ["packages", "apps"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .map((name) => `${folder}/${name}`)
      .filter((path) => existsSync(join(root, path, "package.json"))),
  );
}

/** Whether a package of the command has no dependencies on the disk. @param {Need} need */
const lacksFolder = (need) =>
  packageFolders().some(
    (path) =>
      needsFolder(need, path) &&
      timeOf(`${path}/node_modules`) === undefined &&
      /"(?:devD|d)ependencies"/.test(readFileSync(join(root, path, "package.json"), "utf8")),
  );

/** True after pnpm installed the workspace, and not a part of it, after the last change of the lockfile or a package. */
function isWhole() {
  const state = "node_modules/.pnpm-workspace-state-v1.json";
  const installed = timeOf(state);
  if (installed === undefined || readJson(join(root, state))?.filteredInstall === true) return false;
  const manifests = packageFolders().map((path) => `${path}/package.json`);
  return ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", ...manifests].every(
    (path) => (timeOf(path) ?? Infinity) < installed,
  );
}

/** @param {Need} need */
const partialLockfile = (need) => lockfileFor(readFileSync(join(root, "pnpm-lock.yaml"), "utf8"), need);
/** Of what an installation of a part depends on. @param {string} lockfile */
const digest = (lockfile) =>
  createHash("sha256")
    .update(lockfile)
    .update("\0")
    .update(readFileSync(join(root, "pnpm-workspace.yaml")))
    .digest("hex");
/** Whether pnpm installed the workspace, in any state. */
const isWorkspace = () => existsSync(join(root, "node_modules/.modules.yaml"));

/** @param {Need} need @returns {boolean} true if the packages are those of the lockfile, the workspace and its packages */
export function isInstalled(need) {
  if (lacksFolder(need)) return false;
  if (need === "all" || isWorkspace()) return isWhole();
  const installed = readJson(partRecord);
  return (
    needs.indexOf(installed?.need) >= needs.indexOf(need) &&
    installed.digest === digest(partialLockfile(installed.need))
  );
}

/**
 * Installs what a command needs of the lockfile. Prints the number of packages every five seconds.
 * @param {NodeJS.ProcessEnv} env @param {Need} need
 * @returns {Promise<number>} the exit status of pnpm
 */
export async function install(env, need) {
  if (need === "all" || isWorkspace()) {
    const status = await pnpmInstall(env);
    if (status === 0) rmSync(part, { recursive: true, force: true });
    return status;
  }
  const lockfile = partialLockfile(need);
  rmSync(partRecord, { force: true });
  mkdirSync(part, { recursive: true });
  writeFileSync(join(part, "pnpm-lock.yaml"), lockfile);
  const filters = packageFolders().flatMap((path) => (needsFolder(need, path) ? [`--filter=./${path}`] : []));
  // Each package has a checksum; an installation of the workspace checks its lockfile against the registry.
  const status = await pnpmInstall(env, [
    "--lockfile-dir=node_modules/.service",
    "--ignore-manifest-check",
    "--trust-lockfile",
    ...filters,
  ]);
  if (status === 0) writeFileSync(partRecord, JSON.stringify({ need, digest: digest(lockfile) }));
  return status;
}

/** @param {NodeJS.ProcessEnv} env @param {readonly string[]} options @returns {Promise<number>} */
function pnpmInstall(env, options = []) {
  const child = spawn("pnpm", ["install", "--frozen-lockfile", "--reporter=append-only", ...options], {
    cwd: root,
    // Without it, pnpm omits optional packages that its own Node cannot run, such as that of Chromium.
    env: { ...env, pnpm_config_node_version: nodeVersion },
    shell: process.platform === "win32",
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const progress = setInterval(() => {
    const [, resolved, added] = [...output.matchAll(/resolved (\d+).*added (\d+)/g)].at(-1) ?? [];
    if (added !== undefined) console.error(`… ${added} of ${resolved} packages`);
  }, 5_000);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status) => {
      if (status !== 0) process.stderr.write(output);
      resolve(status ?? 1);
    });
  }).finally(() => clearInterval(progress));
}
