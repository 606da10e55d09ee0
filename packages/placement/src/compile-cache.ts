import type { InstalledProgram } from "./installed-program.ts";
import type { PlacementLog } from "./placement.ts";
import { removeTree } from "./remove-tree.ts";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdtemp, rename } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface CompileCacheOptions {
  /** Kept there from one server to the next. */
  readonly parent: string;
  readonly program: InstalledProgram;
  /** What else the cache depends on: where the program lies when it runs, and as whom. */
  readonly surroundings: string;
  readonly log: PlacementLog;
  /** The command that runs the program with `--fill-cache`, so that what it compiles lands in `folder`. */
  readonly command: (folder: string) => Promise<readonly [program: string, ...rest: string[]]>;
}

/**
 * The instance program, compiled once for all instances, which only read it: one that could write to it would choose what the next one runs.
 *
 * @returns the folder, or `undefined` where it could not be filled: instances then start some milliseconds slower.
 */
export async function openCompileCache({ parent, program, surroundings, log, command }: CompileCacheOptions): Promise<string | undefined> {
  const hash = createHash("sha256").update([process.version, process.arch, surroundings, program.hash].join("\0")).digest("hex");
  const cache = join(parent, `compiled-${hash.slice(0, 16)}`);
  if (await exists(cache)) return cache;
  const fresh = await mkdtemp(join(parent, ".compiling-"));
  try {
    const [file, ...rest] = await command(fresh);
    await run(file, rest, { cwd: "/", env: { PATH: "/usr/bin:/bin" }, timeout: 20_000, killSignal: "SIGKILL" });
    if (process.platform !== "win32") await run("chmod", ["-R", "a+rX", fresh]);
    await rename(fresh, cache);
    return cache;
  } catch (error) {
    await removeTree(fresh);
    // Another server was faster.
    if (await exists(cache)) return cache;
    log.warn({ error: String(error) }, "The instance program could not be compiled ahead; instances start slower.");
    return undefined;
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
