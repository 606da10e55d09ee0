// The installed packages of the workspace. Runs on Node 18.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Packages for tests, checks and the documentation: the others make a service that runs. */
const forOthers = ["apps/bench", "apps/docs", "apps/e2e", "apps/example-extension"];

/** @param {string} path */
const timeOf = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs;

/** @returns {readonly string[]} the folders of all packages, such as `apps/cli` */
export function packageFolders() {
  return ["packages", "apps"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .map((name) => `${folder}/${name}`)
      .filter((path) => existsSync(join(root, path, "package.json"))),
  );
}

/** @returns {readonly string[]} those of the service, the command and the demo */
export const serviceFolders = () => packageFolders().filter((path) => !forOthers.includes(path));

/**
 * True if pnpm installed the packages after the last change of the lockfile, the workspace and its packages.
 * @param {readonly string[]} folders
 */
export function isInstalled(folders) {
  const state = "node_modules/.pnpm-workspace-state-v1.json";
  const installed = timeOf(state);
  if (installed === undefined) return false;
  // The last installation may have left the other packages at an older lockfile.
  const partial = JSON.parse(readFileSync(join(root, state), "utf8")).filteredInstall === true;
  return (
    (!partial || serviceFolders().length >= folders.length) &&
    folders.every(
      (path) =>
        timeOf(`${path}/node_modules`) !== undefined ||
        !/"(?:devD|d)ependencies"/.test(readFileSync(join(root, path, "package.json"), "utf8")),
    ) &&
    ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", ...folders.map((path) => `${path}/package.json`)].every(
      (path) => (timeOf(path) ?? Infinity) < installed,
    )
  );
}

/**
 * Installs the lockfile. @param {NodeJS.ProcessEnv} env @param {readonly string[]} folders - these packages, or all
 * @returns {number} the exit status of pnpm
 */
export function install(env, folders = []) {
  const filters = folders.map((path) => `--filter=./${path}`);
  const { status, stdout, stderr } = spawnSync(
    "pnpm",
    ["install", "--frozen-lockfile", "--reporter=append-only", ...filters],
    { cwd: root, encoding: "utf8", env, maxBuffer: 64 << 20, shell: process.platform === "win32" },
  );
  if (status !== 0) process.stderr.write(`${stdout}${stderr}`);
  return status ?? 1;
}
