import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Runs a shell script in a directory of the host, in a process of its own, to its end. */
export async function sh(directory: string, script: string): Promise<void> {
  await run("/bin/sh", ["-ec", script], { cwd: directory });
}

/** Runs a Node program in a directory of the host, in a process of its own, to its end. */
export async function node(directory: string, program: string): Promise<void> {
  await run(process.execPath, ["--input-type=module", "-e", program], { cwd: directory });
}
