import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What a process and all that it started use. */
export interface TreeUsage {
  /** Milliseconds of processor time since their start, children that have ended included. */
  readonly cpuMs: number;
  /** Resident memory; what several of them share counts for each. */
  readonly memoryBytes: number;
}

interface Entry {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  readonly cpuTicks: number;
}

/** Linux counts processor time in hundredths of a second, whatever its kernel's own clock does. */
const tickMs = 10;

/**
 * Sends a signal to a process that was started in a session of its own (in the sense of `setsid`), and to all that it started. What has both left that session and lost
 * its parent is not found; it goes when the browser session ends.
 */
export function signalTree(pid: number, signal: NodeJS.Signals): void {
  if (process.platform === "win32") {
    // There are no signals, and no groups.
    execFile("taskkill", ["/pid", String(pid), "/T", "/F"], () => undefined);
    return;
  }
  const strays = process.platform === "linux" ? membersOf(pid, readProcesses()) : [];
  // The group first, and as one: nothing in it can start a process in between.
  send(-pid, signal);
  for (const stray of strays) send(stray.pid, signal);
}

/**
 * Sends a signal to what a process has left running that has ended itself. Linux only: elsewhere nobody can tell whether its number has become another's.
 */
export function signalLeftovers(pid: number, signal: NodeJS.Signals): void {
  if (process.platform !== "linux") return;
  const all = readProcesses();
  const left = all.filter((entry) => entry.session === pid);
  // A process of that number is a later one, and so is its session.
  if (left.length === 0 || all.some((entry) => entry.pid === pid)) return;
  send(-pid, signal);
  for (const entry of left) send(entry.pid, signal);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended, or has become another user's.
  }
}

/** What a process and all that it started use now; `undefined` where the system does not tell. */
export async function usageOf(pid: number): Promise<TreeUsage | undefined> {
  if (process.platform === "win32") return undefined;
  if (process.platform !== "linux") return usageByPs(pid);
  const members = membersOf(pid, readProcesses());
  return {
    cpuMs: members.reduce((sum, { cpuTicks }) => sum + cpuTicks, 0) * tickMs,
    memoryBytes: members.reduce((sum, member) => sum + residentBytes(member.pid), 0),
  };
}

function membersOf(pid: number, all: readonly Entry[]): Entry[] {
  const children = Map.groupBy(all, ({ parent }) => parent);
  const found = new Map<number, Entry>();
  const pending = all.filter((entry) => entry.pid === pid || entry.session === pid);
  for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
    if (found.has(entry.pid)) continue;
    found.set(entry.pid, entry);
    pending.push(...(children.get(entry.pid) ?? []));
  }
  return [...found.values()];
}

function readProcesses(): Entry[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const text = readOrEmpty(`/proc/${name}/stat`);
    // The second field is the program's name in parentheses, which may hold anything.
    const [state, parent, , session, ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    if (text === "" || state === "X") return [];
    // utime, stime, cutime and cstime.
    return [
      {
        pid: Number(name),
        parent: Number(parent),
        session: Number(session),
        cpuTicks: rest.slice(7, 11).reduce((sum, ticks) => sum + Number(ticks), 0),
      },
    ];
  });
}

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readOrEmpty(`/proc/${String(pid)}/status`))?.[1] ?? 0) * 1024;
}

/** Processes and threads that this user may still start, as far as the system tells: `Infinity` where it does not, or does not hold root to its limit. */
export function roomForThreads(): number {
  if (process.platform !== "linux" || process.getuid?.() === 0) return Infinity;
  const limit = /^Max processes\s+(\d+)/m.exec(readOrEmpty("/proc/self/limits"))?.[1];
  if (limit === undefined) return Infinity;
  const user = String(process.getuid?.());
  const used = readdirSync("/proc").reduce((sum, name) => {
    const status = /^\d+$/.test(name) ? readOrEmpty(`/proc/${name}/status`) : "";
    return sum + (/^Uid:\s+(\d+)/m.exec(status)?.[1] === user ? Number(/^Threads:\s+(\d+)/m.exec(status)?.[1] ?? 0) : 0);
  }, 0);
  return Number(limit) - used;
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

async function usageByPs(pid: number): Promise<TreeUsage | undefined> {
  const { stdout } = await run("ps", ["-axo", "pid=,ppid=,sess=,rss=,time="]).catch(() => ({ stdout: "" }));
  const rows = stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  const all = rows.map(([id, parent, session]) => ({
    pid: Number(id),
    parent: Number(parent),
    session: Number.parseInt(session ?? "", 16),
    cpuTicks: 0,
  }));
  const members = new Set(membersOf(pid, all).map((entry) => entry.pid));
  const own = rows.filter(([id]) => members.has(Number(id)));
  return {
    cpuMs: own.reduce((sum, row) => sum + clockMs(row[4] ?? ""), 0),
    memoryBytes: own.reduce((sum, row) => sum + Number(row[3] ?? 0) * 1024, 0),
  };
}

/** Milliseconds of `1:02:03.45`. */
function clockMs(clock: string): number {
  return clock.split(":").reduce((sum, part) => sum * 60 + Number(part), 0) * 1000;
}
