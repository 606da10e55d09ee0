import { processGroupsFile } from "@shoal/instance";
import { stateFolder } from "./instance-files.ts";
import { readdir, readFile, readlink } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A running process, told from a later one with the same id by its start. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks from the boot of the host to the start of the process; 0 where the system does not say. */
  readonly startTicks: number;
}

/** Tells a running process from others that have its id before or after it. */
export function identityOf(pid: number): ProcessIdentity {
  return { pid, startTicks: statOf(pid)?.startTicks ?? 0 };
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
  const [boot, namespace] = await Promise.all([
    readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => ""),
    readlink("/proc/self/ns/pid").catch(() => ""),
  ]);
  return { boot: boot.trim(), namespace };
}

/**
 * A limit on file locks that no other session has. Linux does not enforce it, and all processes of the session inherit it: they can erase their environment and leave
 * their group, but not raise a limit.
 */
export function lockLimitOf(sessionDir: string): number {
  return Number.parseInt(basename(sessionDir), 16);
}

/** Whether a command is the bubblewrap of a session: its options come from a descriptor, and its last argument is the name of the session's folder. */
function isBoxOf(sessionDir: string, command: Buffer): boolean {
  return command.includes("\0--args\0") && command.toString().endsWith(`\0${basename(sessionDir)}\0`);
}

/** How long killed processes may take to go. */
const lingerMs = 2_000;

/**
 * Kills what a session may have left: every process that carries `sessionDir` in its environment as `SHOAL_SESSION_DIR`, has its {@link lockLimitOf}, is a browser with its profile below it, is
 * a bubblewrap that makes a box of it (one whose server died before it could ask the kernel to die with it), or was noted by the instance (`processGroupsFile`),
 * and all of their sessions in the sense of `setsid`. Resolves when they are gone. Does nothing but on Linux.
 *
 * @param since - start of the oldest process that can belong to it, in ticks as in {@link ProcessIdentity}.
 */
export async function killStrays(sessionDir: string, since = 0): Promise<void> {
  if (process.platform !== "linux") return;
  const environment = Buffer.from(`SHOAL_SESSION_DIR=${sessionDir}\0`);
  const lockLimit = `Max file locks            ${String(lockLimitOf(sessionDir)).padEnd(20)} `;
  const profile = Buffer.from(`--user-data-dir=${sessionDir}/`);
  const own = statOf(process.pid)?.session;
  // Sandboxed processes of a browser show nobody their environment, but share the session of the browser that does.
  const sessions = new Set(await notedSessions(sessionDir, since > 0));
  const until = performance.now() + lingerMs;
  for (;;) {
    const young = (await readdir("/proc")).flatMap((name) => {
      const found = /^\d+$/.test(name) ? statOf(Number(name)) : undefined;
      return found !== undefined && found.startTicks >= since && found.pid !== process.pid ? [found] : [];
    });
    const marked = young.filter(({ pid }) => {
      const command = contentOf(pid, "cmdline");
      return (
        contentOf(pid, "environ").includes(environment) ||
        contentOf(pid, "limits").includes(lockLimit) ||
        command.includes(profile) ||
        isBoxOf(sessionDir, command)
      );
    });
    for (const { session } of marked) if (session !== own) sessions.add(session);
    const strays = young.filter((each) => marked.includes(each) || sessions.has(each.session));
    if (strays.length === 0 || performance.now() > until) return;
    for (const { pid } of strays) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended by itself.
      }
    }
    await sleep(2);
  }
}

/**
 * Sessions in the sense of `setsid` that an instance has made, without those whose number has become another's since.
 *
 * @param thisBoot - whether the numbers are surely of this boot of the host; else only those count whose first process still runs.
 */
async function notedSessions(sessionDir: string, thisBoot: boolean): Promise<number[]> {
  const text = await readFile(join(sessionDir, stateFolder, processGroupsFile), "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => {
    const [pid = 0, startTicks = 0] = line.split(" ").map(Number);
    const present = statOf(pid);
    return pid > 1 && (present === undefined ? thisBoot : present.startTicks === startTicks) ? [pid] : [];
  });
}

/** A file of a process, empty where this user may not read it or the process is gone. */
function contentOf(pid: number, file: "environ" | "cmdline" | "limits"): Buffer {
  try {
    return readFileSync(`/proc/${pid}/${file}`);
  } catch {
    return Buffer.alloc(0);
  }
}

interface Stat extends ProcessIdentity {
  readonly parentPid: number;
  readonly session: number;
}

function statOf(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in parentheses, which may hold anything.
    const [state, parentPid, _group, session, ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return state === "Z" || state === "X" ? undefined : { pid, parentPid: Number(parentPid), session: Number(session), startTicks: Number(rest[15]) };
  } catch {
    return undefined;
  }
}
