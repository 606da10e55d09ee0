import { hasCode } from "@shoal/primitives";
import { access, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join, resolve } from "node:path";
import * as z from "zod/mini";
import type { AppRunner } from "./load-app-runner.ts";
import { LocalProgram } from "./local-program.ts";

export interface LocalEntry {
  /** The folder that a deployment uploads. */
  readonly folder: string;
  /** Relative to `folder`. */
  readonly name: string;
  readonly language: "node" | "python";
}

export interface LocalBuild {
  /** Name of the bundle; `undefined` for Python. */
  readonly bundle?: string;
  /** Absolute paths. */
  readonly inputs: readonly string[];
}

export type BuildResult = LocalBuild | { readonly problem: readonly string[]; readonly inputs: readonly string[] };

/** Bundles next to the entry begin with it. */
export const bundlePrefix = ".shoal-dev-";
const buildMs = 60_000;
/** Python files that a watch follows. */
const maxPythonFiles = 2_000;
const Metafile = z.object({ inputs: z.record(z.string(), z.unknown()) });

/** Bundles an entry for this machine as a deployment does, without its installation. */
export class LocalBuilds {
  readonly #runner: AppRunner;
  readonly #entry: LocalEntry;
  readonly #made = new Set<string>();
  #count = 0;

  constructor(runner: AppRunner, entry: LocalEntry) {
    this.#runner = runner;
    this.#entry = entry;
  }

  /** Removes bundles of commands that were killed. */
  async open(): Promise<void> {
    const { folder, language } = this.#entry;
    if (language === "python") return;
    for (const name of await readdir(folder)) {
      const pid = /^\.shoal-dev-(\d+)-\d+\.[cm]js$/.exec(name)?.[1];
      if (pid !== undefined && !isRunning(Number(pid))) await rm(join(folder, name), { force: true });
    }
  }

  async build(onLine: (text: string) => void, signal: AbortSignal): Promise<BuildResult> {
    if (this.#entry.language === "python") return { inputs: await pythonFiles(this.#entry.folder) };
    const scratch = await mkdtemp(join(tmpdir(), "shoal-dev-"));
    try {
      return await this.#bundle(join(scratch, "inputs.json"), onLine, signal);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }

  async remove({ bundle }: LocalBuild): Promise<void> {
    if (bundle === undefined || !this.#made.delete(bundle)) return;
    for (const extension of [".mjs", ".cjs"]) await rm(join(this.#entry.folder, bundle + extension), { force: true });
  }

  async close(): Promise<void> {
    for (const bundle of [...this.#made]) await this.remove({ bundle, inputs: [] });
  }

  async #bundle(metafile: string, onLine: (text: string) => void, signal: AbortSignal): Promise<BuildResult> {
    const { folder, name } = this.#entry;
    const bundle = `${bundlePrefix}${String(process.pid)}-${String(++this.#count)}`;
    this.#made.add(bundle);
    const lines: string[] = [];
    const env = { ...process.env };
    const program = new LocalProgram(this.#runner, {
      ...{ script: "builder.cjs", folder, env },
      onLine: (_source, text) => lines.push(text),
    });
    const stop = (): void => void program.stop();
    signal.addEventListener("abort", stop, { once: true });
    try {
      const esbuild = this.#runner.esbuildPath();
      program.send({
        ...{ type: "bundle", work: folder, entry: name, bundle, esbuild, metafile, env: {}, install_ms: buildMs },
      });
      const answer = (await program.message())?.message;
      await program.settle();
      if (answer?.type === "done") {
        for (const line of lines) onLine(line);
        const { inputs } = Metafile.parse(JSON.parse(await readFile(metafile, "utf8")));
        const manifests = ["package.json", "tsconfig.json"].map((file) => join(folder, file));
        return { bundle, inputs: [...manifests, ...Object.keys(inputs).map((path) => resolve(folder, path))] };
      }
      await this.remove({ bundle, inputs: [] });
      const reason = answer?.type === "failed" ? answer.reason : "The build ended without a result.";
      return {
        problem: lines.length > 0 ? lines : [reason],
        inputs: [join(folder, name), ...namedIn(lines).map((path) => resolve(folder, path))],
      };
    } finally {
      signal.removeEventListener("abort", stop);
      await program.stop();
    }
  }
}

/** Files in the messages of esbuild: `    lib/page.ts:3:8:`. */
function namedIn(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => /^ {4}(.+):\d+:\d+:$/.exec(line)?.[1] ?? []);
}

async function pythonFiles(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  const look = async (path: string): Promise<void> => {
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (found.length >= maxPythonFiles) return;
      if (/^\.|^(?:node_modules|venv|__pycache__)$/.test(entry.name)) continue;
      if (entry.isDirectory()) await look(join(path, entry.name));
      else if (extname(entry.name) === ".py") found.push(join(path, entry.name));
    }
  };
  await look(folder);
  return found;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

/** The interpreter of the virtual environment in the folder, or of the shell. */
export async function pythonOf(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const environments = [join(folder, ".venv"), env.VIRTUAL_ENV].filter((path) => path !== undefined);
  for (const path of environments) {
    const program = join(path, "bin/python");
    if (
      await access(program).then(
        () => true,
        () => false,
      )
    )
      return program;
  }
  return "python3";
}
