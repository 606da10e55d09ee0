import { readdir, readFile, readlink } from "node:fs/promises";
import { readFileSync } from "node:fs";

/** A running process, told from a later one with the same id by its start. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks from the boot of the host to the start of the process; 0 where the system does not say. */
  readonly startTicks: number;
}

/** This process. */
export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startTicks: statOf(process.pid)?.startTicks ?? 0 };
}

/** Whether that very process runs; where the system does not tell starts, whether any process has its id. */
export function isRunning(identity: ProcessIdentity): boolean {
  if (process.platform === "linux") return statOf(identity.pid)?.startTicks === identity.startTicks;
  try {
    process.kill(identity.pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** The parent of a process on Linux, `undefined` when there is no such process. */
export function parentOf(pid: number): number | undefined {
  return statOf(pid)?.parentPid;
}

/** What tells two boots, and two containers of one host, apart; `undefined` where there is no such thing. */
export async function processNamespace(): Promise<{ readonly boot: string; readonly namespace: string } | undefined> {
  if (process.platform !== "linux") return undefined;
  const [boot, namespace] = await Promise.all([readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => ""), readlink("/proc/self/ns/pid").catch(() => "")]);
  return { boot: boot.trim(), namespace };
}

/**
 * Kills every process of this user that carries `sessionDir` in its environment as `SHOAL_SESSION_DIR`, or as its browser's profile, until none is left: in a
 * plain process placement, programs that put themselves into process groups of their own. Does nothing but on Linux.
 */
export async function killStrays(sessionDir: string): Promise<number> {
  if (process.platform !== "linux") return 0;
  const environment = Buffer.from(`SHOAL_SESSION_DIR=${sessionDir}\0`);
  const argument = Buffer.from(`--user-data-dir=${sessionDir}/`);
  let killed = 0;
  // A program may start another between two looks at the table.
  for (let look = 0; look < 10; look++) {
    const strays = await findProcesses(async (pid) => {
      const [environ, cmdline] = await Promise.all([readFile(`/proc/${pid}/environ`), readFile(`/proc/${pid}/cmdline`)]);
      return environ.includes(environment) || cmdline.includes(argument);
    });
    if (strays.length === 0) break;
    for (const pid of strays) {
      try {
        process.kill(pid, "SIGKILL");
        killed += 1;
      } catch {
        // It ended by itself.
      }
    }
  }
  return killed;
}

async function findProcesses(matches: (pid: number) => Promise<boolean>): Promise<number[]> {
  const pids = (await readdir("/proc")).map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid);
  // Another user's processes, and those that end while they are looked at, cannot be read.
  const found = await Promise.all(pids.map((pid) => matches(pid).catch(() => false)));
  // A zombie has no environment, so it is not found.
  return pids.filter((_, index) => found[index]);
}

function statOf(pid: number): { readonly parentPid: number; readonly startTicks: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in parentheses, which may hold anything.
    const [state, parentPid, ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return state === "Z" || state === "X" ? undefined : { parentPid: Number(parentPid), startTicks: Number(rest[17]) };
  } catch {
    return undefined;
  }
}
