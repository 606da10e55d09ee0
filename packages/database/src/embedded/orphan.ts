import { isRunning } from "@shoal/primitives/node";
import { execFile } from "node:child_process";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { DatabaseLog } from "../log.ts";

const run = promisify(execFile);

/** Milliseconds for each shutdown: fast (with a checkpoint), immediate (recovery at the next start), killed. */
const patienceMs = { SIGINT: 8000, SIGQUIT: 4000, SIGKILL: 4000 } as const;

const nobodysPid = 999_999_999;

/** Compares the directory too, because process ids are reused. */
async function runsOn(pid: number, cluster: string): Promise<boolean> {
  try {
    if (process.platform !== "linux") {
      const { stdout } = await run("ps", ["-o", "command=", "-p", String(pid)]);
      return stdout.includes("postgres") && stdout.includes(cluster);
    }
    const [name, theirs, ours] = await Promise.all([
      readFile(`/proc/${pid}/comm`, "utf8"),
      stat(`/proc/${pid}/cwd`),
      stat(cluster),
    ]);
    return name.trim() === "postgres" && theirs.ino === ours.ino && theirs.dev === ours.dev;
  } catch {
    return false;
  }
}

async function waitForEnd(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (isRunning(pid)) {
    if (performance.now() > deadline) return false;
    await sleep(20);
  }
  return true;
}

async function stopOnWindows(cluster: string, pgCtl: string): Promise<void> {
  // pg_ctl fails if no server runs, which is fine.
  await run(pgCtl, ["stop", "-D", cluster, "-m", "fast", "-w", "-t", "15"], { windowsHide: true }).catch(
    () => undefined,
  );
}

/** Ends the PostgreSQL that a dead process left running. The caller must hold the lock of the directory. */
export async function stopOrphan(cluster: string, pgCtl: string, log: DatabaseLog): Promise<void> {
  const file = join(cluster, "postmaster.pid");
  const text = await readFile(file, "utf8").catch(() => "");
  const pid = Number.parseInt(text, 10);
  if (!(pid > 0) || !isRunning(pid)) return;
  if (process.platform === "win32") {
    await stopOnWindows(cluster, pgCtl);
    return;
  }
  if (!(await runsOn(pid, cluster))) {
    // PostgreSQL refuses to start while a process has this id. The rest identifies users of its shared memory.
    await writeFile(file, text.replace(/^\d+/, String(nobodysPid)));
    return;
  }
  log.warn({ pid, directory: cluster }, "stopping the PostgreSQL that a killed process left behind");
  for (const signal of ["SIGINT", "SIGQUIT", "SIGKILL"] as const) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has just ended.
    }
    if (await waitForEnd(pid, patienceMs[signal])) return;
  }
}
