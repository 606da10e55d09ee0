import { execFile } from "node:child_process";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { DatabaseLog } from "../log.ts";

const run = promisify(execFile);

/** How long each kind of shutdown may take: fast (a checkpoint), immediate (recovery at the next start), then none is asked. */
const patienceMs = { SIGINT: 8000, SIGQUIT: 4000, SIGKILL: 4000 } as const;

/** No system hands out a process id like this one. */
const nobodysPid = 999_999_999;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Whether a process is a PostgreSQL that runs on `cluster`, and not one that got the number after it. */
async function runsOn(pid: number, cluster: string): Promise<boolean> {
  try {
    if (process.platform !== "linux") {
      const { stdout } = await run("ps", ["-o", "command=", "-p", String(pid)]);
      return stdout.includes("postgres") && stdout.includes(cluster);
    }
    const [name, theirs, ours] = await Promise.all([readFile(`/proc/${pid}/comm`, "utf8"), stat(`/proc/${pid}/cwd`), stat(cluster)]);
    return name.trim() === "postgres" && theirs.ino === ours.ino && theirs.dev === ours.dev;
  } catch {
    return false;
  }
}

async function waitForEnd(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (isAlive(pid)) {
    if (performance.now() > deadline) return false;
    await sleep(20);
  }
  return true;
}

async function stopOnWindows(cluster: string, pgCtl: string): Promise<void> {
  // pg_ctl fails when there is none, which is what is wanted.
  await run(pgCtl, ["stop", "-D", cluster, "-m", "fast", "-w", "-t", "15"], { windowsHide: true }).catch(() => undefined);
}

/**
 * Ends a PostgreSQL that a dead owner left running on `cluster`. Only the holder of the directory's lock may call it: then
 * whatever runs there belongs to nobody.
 */
export async function stopOrphan(cluster: string, pgCtl: string, log: DatabaseLog): Promise<void> {
  const file = join(cluster, "postmaster.pid");
  const text = await readFile(file, "utf8").catch(() => "");
  const pid = Number.parseInt(text, 10);
  if (!(pid > 0) || !isAlive(pid)) return;
  if (process.platform === "win32") {
    await stopOnWindows(cluster, pgCtl);
    return;
  }
  if (!(await runsOn(pid, cluster))) {
    // PostgreSQL would refuse to start while some process has that number. The rest of the file stays: by it PostgreSQL finds
    // out whether processes of the old server still use its shared memory.
    await writeFile(file, text.replace(/^\d+/, String(nobodysPid)));
    return;
  }
  log.warn({ pid, directory: cluster }, "stopping the PostgreSQL that a killed process left behind");
  for (const signal of ["SIGINT", "SIGQUIT", "SIGKILL"] as const) {
    try {
      process.kill(pid, signal);
    } catch {
      // It is gone already.
    }
    if (await waitForEnd(pid, patienceMs[signal])) return;
  }
}
