import type { ChildProcess } from "node:child_process";

/** Ends the process group of a program that was started with `detached`, also after the program itself. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // ESRCH: the group has ended.
  }
}
