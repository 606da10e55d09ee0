import type { PlacementLog } from "../interface/placement-log.ts";
import type { InstalledProgram } from "./installed-program.ts";
import { removeTree } from "../host/remove-tree.ts";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdtemp, rename } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface CompileCacheOptions {
  readonly parent: string;
  readonly program: InstalledProgram;
  /** Further key of the cache: path and user of the running program. */
  readonly surroundings: string;
  readonly log: PlacementLog;
  readonly command: (folder: string) => Promise<readonly [program: string, ...rest: string[]]>;
}

/** Instances may only read the cache: a writable one would let an instance choose the code of the next. */
export async function openCompileCache({
  parent,
  program,
  surroundings,
  log,
  command,
}: CompileCacheOptions): Promise<string | undefined> {
  const hash = createHash("sha256")
    .update([process.version, process.arch, surroundings, program.hash].join("\0"))
    .digest("hex");
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
    if (await exists(cache)) return cache;
    log.warn(
      { error: String(error) },
      "Cannot fill the compile cache of the instance program; instances start slower.",
    );
    return undefined;
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
