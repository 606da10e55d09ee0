import type { BuildTask } from "../../protocol/messages.ts";
import { BuildFailure } from "./build-failure.ts";
import { causeOf } from "./cause-of.ts";
import { runTool } from "./run-tool.ts";
import { access, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative } from "node:path";

export const dependencyFolder = { node: "node_modules", python: ".shoal-packages" } as const;

const python = "/usr/bin/python3";

/** Apps run where they are built. @throws {BuildFailure} */
export async function requirePython(program: string = python): Promise<void> {
  if ((await existing([program])).length > 0) return;
  throw new BuildFailure(
    `This server cannot run Python apps: the machine or image that runs apps has no ${program}. Ask the operator to install Python 3.11 or newer there.`,
  );
}

/** Milliseconds. */
const indexMs = 20_000;

/** @throws {BuildFailure} with the last lines of the tool. */
export async function install(task: BuildTask): Promise<void> {
  if (task.install === "none") return;
  if (task.install === "pip") await installPython(task);
  else await installNode(task, task.install);
}

async function installNode(task: BuildTask, tool: "npm" | "pnpm"): Promise<void> {
  if (task.settings !== undefined) await writeFile(join(homedir(), ".npmrc"), task.settings, { mode: 0o600 });
  const [script] = await existing(task.tool ?? []);
  if (script === undefined) throw new BuildFailure(`This version of ${tool} has no program that this service knows.`);
  const run = (...args: readonly string[]): Promise<void> => runTool(tool, [process.execPath, script, ...args], task);
  if (tool === "pnpm")
    await run(
      "install",
      task.locked ? "--frozen-lockfile" : "--no-frozen-lockfile",
      "--ignore-scripts",
      "--ignore-pnpmfile",
      "--reporter=append-only",
    );
  else await run(task.locked ? "ci" : "install", "--ignore-scripts", "--no-audit", "--no-fund");
  const allowed = await installedOf(task);
  if (allowed.length > 0)
    await run("rebuild", ...allowed, tool === "npm" ? "--ignore-scripts=false" : "--config.ignore-scripts=false");
}

/** Packages whose scripts the operator allows. */
async function installedOf({ allow_scripts, work }: BuildTask): Promise<readonly string[]> {
  const folder = join(work, "node_modules");
  return (await existing(allow_scripts.map((name) => join(folder, name)))).map((path) => relative(folder, path));
}

/** Wheels in the sources, for servers that reach no index. */
const wheelFolders = ["wheels", "wheelhouse", "vendor/wheels"];

async function installPython(task: BuildTask): Promise<void> {
  const { work } = task;
  const wheels = (await existing(wheelFolders.map((name) => join(work, name))))[0];
  if (wheels === undefined) await requireIndex(task);
  const requirements = await requirementsOf(task);
  const offline = wheels === undefined ? [] : ["--no-index", "--find-links", wheels];
  await runTool(
    "pip",
    [
      python,
      ...["-m", "pip", "install", "--target", join(work, dependencyFolder.python), "--only-binary", ":all:"],
      ...["--no-input", "--disable-pip-version-check", "--retries", "1", "--timeout", "20", "--no-cache-dir"],
      ...["--progress-bar", "off", "--root-user-action", "ignore", ...offline, "--requirement", requirements],
    ],
    task,
  );
}

/** pip would report an unreachable index as a missing package, after many attempts. */
async function requireIndex({ env }: BuildTask): Promise<void> {
  const index = env.PIP_INDEX_URL ?? "";
  const answer = await fetch(`${index}pip/`, { signal: AbortSignal.timeout(indexMs) }).catch((error: unknown) => {
    throw new BuildFailure(unreachable(index, causeOf(error)));
  });
  await answer.body?.cancel();
  if (answer.status >= 500) throw new BuildFailure(unreachable(index, `it answered ${String(answer.status)}`));
}

function unreachable(index: string, because: string): string {
  return `The Python package index ${index} cannot be reached: ${because}. Put wheels of all dependencies into the folder wheels of the sources, or ask the operator to set build_python_index.`;
}

/** @returns a requirements file: the project's own, or one from the lockfile of uv or the dependencies of the project. */
async function requirementsOf(task: BuildTask): Promise<string> {
  const [own] = await existing([join(task.work, "requirements.txt")]);
  if (own !== undefined) return own;
  const path = join(task.work, ".shoal-requirements.txt");
  await runTool("Reading pyproject.toml", [python, "-c", readProject, task.work, path], task);
  return path;
}

/** Packages of the lockfile with markers of other platforms are left to pip. */
const readProject = `
import pathlib, sys, tomllib
folder = pathlib.Path(sys.argv[1])
lock = folder / "uv.lock"
if lock.exists():
    packages = tomllib.loads(lock.read_text()).get("package", [])
    project = next((p for p in packages if "virtual" in p.get("source", {}) or "editable" in p.get("source", {})), {})
    versions = {p["name"]: p["version"] for p in packages if "registry" in p.get("source", {})}
    lines, seen = [], set()
    def add(dependencies):
        for each in dependencies:
            name = each["name"]
            if name in versions and name not in seen:
                seen.add(name)
                marker = each.get("marker")
                lines.append(f"{name}=={versions[name]}" + (f" ; {marker}" if marker else ""))
                add(next((p for p in packages if p["name"] == name), {}).get("dependencies", []))
    add(project.get("dependencies", []))
else:
    lines = tomllib.loads((folder / "pyproject.toml").read_text()).get("project", {}).get("dependencies", [])
pathlib.Path(sys.argv[2]).write_text("".join(f"{line}\\n" for line in lines))
`;

async function existing(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    paths.map((path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  return paths.filter((_path, index) => found[index]);
}
