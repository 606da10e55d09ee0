import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Options to start a program as the owner of a directory, like the session's own programs: a box has a separate user.
 */
function asOwner(directory: string): { cwd: string; uid?: number; gid?: number } {
  if (process.geteuid?.() !== 0) return { cwd: directory };
  const { gid, uid } = statSync(directory);
  return { cwd: directory, uid, gid };
}

let runnable: string | undefined;
let copy: string | undefined;
export function removeNodeCopy(): void {
  if (copy !== undefined) rmSync(copy, { recursive: true, force: true });
  copy = runnable = undefined;
}

/** A Node program that every user may run: the current one may be in a folder for root only. */
function nodeForEverybody(): string {
  if (runnable !== undefined) return runnable;
  if (
    process.geteuid?.() !== 0 ||
    spawnSync(process.execPath, ["-e", "0"], { uid: 65_534, gid: 65_534, cwd: "/" }).status === 0
  )
    return (runnable = process.execPath);
  copy = mkdtempSync(join(tmpdir(), "shoal-node-"));
  chmodSync(copy, 0o755);
  runnable = join(copy, "node");
  copyFileSync(process.execPath, runnable);
  chmodSync(runnable, 0o755);
  return runnable;
}

/** Runs a shell script to its end in a directory of the host. Only relative paths are reliable. */
export async function sh(directory: string, script: string): Promise<void> {
  await run("/bin/sh", ["-ec", script], asOwner(directory));
}

/** Runs a Node program to its end in a directory of the host. Only relative paths are reliable. */
export async function node(directory: string, program: string): Promise<void> {
  await run(nodeForEverybody(), ["--input-type=module", "-e", program], asOwner(directory));
}

/** Starts a Node program like {@link node}; the caller ends it. */
export function startNode(directory: string, program: string): ChildProcess {
  return spawn(nodeForEverybody(), ["--input-type=module", "-e", program], { ...asOwner(directory), stdio: "ignore" });
}
