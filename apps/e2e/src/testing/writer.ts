import { type ChildProcess, execFile, spawn } from "node:child_process";
import { statSync } from "node:fs";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What starts a program in a directory as the directory's owner, as whom programs of the session would write there: a box has a user of its own. */
function asOwner(directory: string): { cwd: string; uid?: number; gid?: number } {
  if (process.geteuid?.() !== 0) return { cwd: directory };
  const { gid, uid } = statSync(directory);
  return { cwd: directory, uid, gid };
}

/** Runs a shell script in a directory of the host, in a process of its own, to its end. Only relative paths are sure to work. */
export async function sh(directory: string, script: string): Promise<void> {
  await run("/bin/sh", ["-ec", script], asOwner(directory));
}

/** Runs a Node program in a directory of the host, in a process of its own, to its end. Only relative paths are sure to work. */
export async function node(directory: string, program: string): Promise<void> {
  await run(process.execPath, ["--input-type=module", "-e", program], asOwner(directory));
}

/** Starts a Node program as {@link node} does; the caller ends it. */
export function startNode(directory: string, program: string): ChildProcess {
  return spawn(process.execPath, ["--input-type=module", "-e", program], { ...asOwner(directory), stdio: "ignore" });
}
