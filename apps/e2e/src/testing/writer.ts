import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What starts a program in a directory as the directory's owner, as whom programs of the session would write there: a box has a user of its own. */
function asOwner(directory: string): { cwd: string; uid?: number; gid?: number } {
  if (process.geteuid?.() !== 0) return { cwd: directory };
  const { gid, uid } = statSync(directory);
  return { cwd: directory, uid, gid };
}

let runnable: string | undefined;

/** Node's program where every user may run it: the one that runs this may lie in a folder that only root enters. */
function nodeForEverybody(): string {
  if (runnable !== undefined) return runnable;
  if (process.geteuid?.() !== 0 || spawnSync(process.execPath, ["-e", "0"], { uid: 65_534, gid: 65_534, cwd: "/" }).status === 0)
    return (runnable = process.execPath);
  const folder = mkdtempSync(join(tmpdir(), "shoal-node-"));
  process.on("exit", () => {
    rmSync(folder, { recursive: true, force: true });
  });
  chmodSync(folder, 0o755);
  runnable = join(folder, "node");
  copyFileSync(process.execPath, runnable);
  chmodSync(runnable, 0o755);
  return runnable;
}

/** Runs a shell script in a directory of the host, in a process of its own, to its end. Only relative paths are sure to work. */
export async function sh(directory: string, script: string): Promise<void> {
  await run("/bin/sh", ["-ec", script], asOwner(directory));
}

/** Runs a Node program in a directory of the host, in a process of its own, to its end. Only relative paths are sure to work. */
export async function node(directory: string, program: string): Promise<void> {
  await run(nodeForEverybody(), ["--input-type=module", "-e", program], asOwner(directory));
}

/** Starts a Node program as {@link node} does; the caller ends it. */
export function startNode(directory: string, program: string): ChildProcess {
  return spawn(nodeForEverybody(), ["--input-type=module", "-e", program], { ...asOwner(directory), stdio: "ignore" });
}
