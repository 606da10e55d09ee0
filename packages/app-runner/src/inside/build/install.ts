import type { BuildTask } from "../../protocol/messages.ts";
import { BuildFailure } from "./build-failure.ts";
import { causeOf } from "./cause-of.ts";
import { nextStep } from "./next-step.ts";
import { runTool } from "./run-tool.ts";
import { restrictNpmSettings } from "./npm-settings.ts";
import { useSdkOfService } from "./sdk-in-lockfiles.ts";
import { wantedProgram, withoutPrograms } from "./without-programs.ts";
import { checkRequirement, readRequirements, type Requirements } from "./python-requirements.ts";
import { access, lstat, mkdtemp, readFile, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import * as z from "zod/mini";

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
  await restrictNpmSettings(task.work);
  await useSdkOfService(task);
  const [script] = await existing(task.tool ?? []);
  if (script === undefined) throw new BuildFailure(`This version of ${tool} has no program that this service knows.`);
  const run = (...args: readonly string[]): Promise<void> => runTool(tool, [process.execPath, ...args], task);
  const install = async (...args: readonly string[]): Promise<void> => {
    await withoutPrograms(tool, (options) => run(...options, script, ...args)).catch((error: unknown) => {
      if (!(error instanceof BuildFailure)) throw error;
      if (!wantedProgram(error.message))
        throw new BuildFailure(`${error.message}\n${nextStep(error.message)}`.trimEnd());
      throw new BuildFailure(
        `${error.message}\nInstallations start no programs, so dependencies from git repositories are not possible. Publish them, or put a .tgz file into the sources.`,
      );
    });
  };
  if (tool === "pnpm") await useRegistryInside(task);
  if (tool === "pnpm")
    await install(
      "install",
      task.locked ? "--frozen-lockfile" : "--no-frozen-lockfile",
      "--ignore-scripts",
      "--ignore-pnpmfile",
      "--reporter=append-only",
    );
  else await install(task.locked ? "ci" : "install", "--ignore-scripts", "--no-audit", "--no-fund");
  const allowed = await installedOf(task);
  if (allowed.length > 0)
    await run(
      script,
      "rebuild",
      ...allowed,
      tool === "npm" ? "--ignore-scripts=false" : "--config.ignore-scripts=false",
    );
}

/** pnpm uses addresses of its lockfile as they are. */
async function useRegistryInside({ registry, work }: BuildTask): Promise<void> {
  if (registry === undefined) return;
  const path = join(work, "pnpm-lock.yaml");
  await writeFile(path, (await readFile(path, "utf8")).replaceAll(registry.url, registry.inside));
}

/** Packages whose scripts the operator allows, and which the registry has under this name. */
async function installedOf({ allow_scripts, env, work }: BuildTask): Promise<readonly string[]> {
  const allowed: string[] = [];
  for (const name of allow_scripts)
    if (await isFromRegistry(work, name, env.npm_config_registry ?? "")) allowed.push(name);
  return allowed;
}

const HiddenLock = z.object({
  packages: z.record(z.string(), z.object({ name: z.optional(z.string()), resolved: z.optional(z.string()) })),
});

/** Sources can give another package or folder the name of an allowed one. */
async function isFromRegistry(work: string, name: string, registry: string): Promise<boolean> {
  const folder = join(work, "node_modules");
  const path = join(folder, name);
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return false;
  if (found.isSymbolicLink()) {
    const real = relative(await realpath(folder), await realpath(path));
    const [store, version = "", ...rest] = real.split("/");
    const prefix = `${name.replace("/", "+")}@`;
    return (
      store === ".pnpm" &&
      version.startsWith(prefix) &&
      /^\d/.test(version.slice(prefix.length)) &&
      rest.join("/") === `node_modules/${name}`
    );
  }
  const lock = HiddenLock.safeParse(
    JSON.parse(await readFile(join(folder, ".package-lock.json"), "utf8").catch(() => "null")),
  );
  const entry = lock.success ? lock.data.packages[`node_modules/${name}`] : undefined;
  const resolved = entry?.resolved ?? "";
  return (
    (entry?.name ?? name) === name &&
    URL.canParse(resolved) &&
    new URL(resolved).pathname.startsWith(`${new URL(registry).pathname}${name}/`)
  );
}

/** Wheels in the sources, for servers that reach no index. */
const wheelFolders = ["wheels", "wheelhouse", "vendor/wheels"];

async function installPython(task: BuildTask): Promise<void> {
  const { work } = task;
  const wheels = (await existing(wheelFolders.map((name) => join(work, name))))[0];
  if (wheels === undefined) await requireIndex(task);
  const scratch = await mkdtemp(join(tmpdir(), "shoal-pip-"));
  const { constraints, requirements } = await requirementsOf(task, scratch);
  const write = async (name: string, lines: readonly string[]): Promise<string> => {
    await writeFile(join(scratch, name), lines.map((line) => `${line}\n`).join(""));
    return join(scratch, name);
  };
  const offline = wheels === undefined ? [] : ["--no-index", "--find-links", wheels];
  await runTool(
    "pip",
    [
      python,
      ...["-I", "-c", pip, "install", "--target", join(work, dependencyFolder.python), "--only-binary", ":all:"],
      ...["--no-input", "--disable-pip-version-check", "--retries", "1", "--timeout", "20", "--no-cache-dir"],
      ...["--progress-bar", "off", "--root-user-action", "ignore", ...offline],
      ...["--constraint", await write("constraints.txt", constraints)],
      ...["--requirement", await write("requirements.txt", requirements)],
    ],
    { ...task, work: scratch },
  );
}

/** Isolated from files of the sources. Without programs, it runs no build backend of any package. */
const pip = `
import runpy, sys
programs = {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn", "subprocess.Popen"}
def refuse(event, args):
    if event in programs:
        raise PermissionError("Builds start no programs, so packages need wheels")
sys.addaudithook(refuse)
sys.argv[0] = "pip"
runpy.run_module("pip", run_name="__main__", alter_sys=True)
`;

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
  return `The Python package index ${index} cannot be reached: ${because}. ${nextStep(because, "build_python_index")} Or put wheels of all dependencies into the folder wheels of the sources.`;
}

/** The project's own requirements, or those of the lockfile of uv, or the dependencies of the project. */
async function requirementsOf(task: BuildTask, scratch: string): Promise<Requirements> {
  const [own] = await existing([join(task.work, "requirements.txt")]);
  if (own !== undefined) return readRequirements(task.work, "requirements.txt");
  const path = join(scratch, "project.json");
  await runTool("Reading pyproject.toml", [python, "-I", "-c", readProject, task.work, path], {
    ...task,
    work: scratch,
  });
  const { file, lines } = Project.parse(JSON.parse(await readFile(path, "utf8")));
  return { requirements: lines.map((line) => checkRequirement(line, file)), constraints: [] };
}

const Project = z.object({ file: z.string(), lines: z.array(z.string()) });

/** Packages of the lockfile with markers of other platforms are left to pip. */
const readProject = `
import json, pathlib, sys, tomllib
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
pathlib.Path(sys.argv[2]).write_text(json.dumps({"file": "uv.lock" if lock.exists() else "pyproject.toml", "lines": lines}))
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
