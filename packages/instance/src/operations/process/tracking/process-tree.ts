import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { findEscaped, type InSession, type StartedCommand } from "./escaped-processes.ts";
import { descendantsOf, type ProcessEntry, readOrEmpty, readProcesses } from "./process-entries.ts";

const run = promisify(execFile);

export interface TreeUsage {
  readonly cpuMs: number;
  /** Shared memory counts for each process. */
  readonly memoryBytes: number;
}

/** Linux reports processor time in hundredths of a second on every kernel. */
const tickMs = 10;

const lingerMs = 2_000;

/** Repeats `SIGKILL` until no process is left, because a process may start another before it dies. */
export function signalTree(command: StartedCommand, signal: NodeJS.Signals, inSession: InSession): void {
  if (process.platform === "win32") {
    // Windows has neither signals nor process groups.
    execFile("taskkill", ["/pid", String(command.pid), "/T", "/F"], () => undefined);
    return;
  }
  const find = (): ProcessEntry[] => {
    if (process.platform !== "linux") return [];
    const all = readProcesses();
    return [...membersOf(command.pid, all), ...findEscaped(command, all, { unmarked: true, inSession })];
  };
  const found = find();
  // The whole group first, so that none of its processes can start another in between.
  send(-command.pid, signal);
  for (const { pid } of found) send(pid, signal);
  if (signal === "SIGKILL" && process.platform === "linux") void killRest(command.startTicks, find);
}

async function killRest(startTicks: number, find: () => readonly ProcessEntry[]): Promise<void> {
  const until = performance.now() + lingerMs;
  for (let waitMs = 1; performance.now() < until; waitMs = Math.min(50, 2 * waitMs)) {
    await sleep(waitMs, undefined, { ref: false });
    // The process id may have been reused.
    const rest = find().filter((entry) => entry.startTicks >= startTicks && !isZombie(entry.pid));
    if (rest.length === 0) return;
    for (const { pid } of rest) send(pid, "SIGKILL");
  }
}

/** Signals processes that an ended command left running. Linux only: other systems do not show a reused process id. */
export function signalLeftovers(command: StartedCommand, signal: NodeJS.Signals, inSession: InSession): void {
  if (process.platform !== "linux") return;
  const all = readProcesses();
  // Unmarked processes may belong to a later command.
  for (const { pid } of findEscaped(command, all, { unmarked: false, inSession })) send(pid, signal);
  const left = all.filter((entry) => entry.session === command.pid);
  // The process id was reused, so this session is another one.
  if (left.length === 0 || all.some((entry) => entry.pid === command.pid)) return;
  send(-command.pid, signal);
  for (const entry of left) send(entry.pid, signal);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended, or changed its user.
  }
}

/** Returns `undefined` on systems without `/proc`. */
export async function usageOf(pid: number): Promise<TreeUsage | undefined> {
  if (process.platform === "win32") return undefined;
  return process.platform === "linux" ? treeUsage(pid, readProcesses()) : usageByPs(pid);
}

export function treeUsage(pid: number, all: readonly ProcessEntry[]): TreeUsage {
  return loadOf(membersOf(pid, all), residentBytes);
}

export function loadOf(members: readonly ProcessEntry[], bytesOf: (pid: number) => number): TreeUsage {
  return {
    cpuMs: members.reduce((sum, { cpuTicks }) => sum + cpuTicks, 0) * tickMs,
    memoryBytes: members.reduce((sum, member) => sum + bytesOf(member.pid), 0),
  };
}

/** The processes of a tree, and those of its POSIX session. */
export function membersOf<T extends Pick<ProcessEntry, "pid" | "parent" | "session">>(
  pid: number,
  all: readonly T[],
): T[] {
  const roots = all.filter((entry) => entry.pid === pid || entry.session === pid).map((entry) => entry.pid);
  const members = new Set([...roots, ...roots.flatMap((root) => descendantsOf(root, all))]);
  return all.filter((entry) => members.has(entry.pid));
}

function isZombie(pid: number): boolean {
  return /^State:\s+Z/m.test(readOrEmpty(`/proc/${String(pid)}/status`));
}

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readOrEmpty(`/proc/${String(pid)}/status`))?.[1] ?? 0) * 1024;
}

/** Without shared memory and cached files, which Chromium's processes share. */
export function privateBytes(pid: number): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readOrEmpty(`/proc/${String(pid)}/status`))?.[1] ?? 0) * 1024;
}

/** Processes and threads that this user may still start; `Infinity` when unknown, or for root without a limit. */
export function roomForThreads(): number {
  if (process.platform !== "linux" || process.getuid?.() === 0) return Infinity;
  const limit = /^Max processes\s+(\d+)/m.exec(readOrEmpty("/proc/self/limits"))?.[1];
  if (limit === undefined) return Infinity;
  const user = String(process.getuid?.());
  const used = readdirSync("/proc").reduce((sum, name) => {
    const status = /^\d+$/.test(name) ? readOrEmpty(`/proc/${name}/status`) : "";
    return (
      sum + (/^Uid:\s+(\d+)/m.exec(status)?.[1] === user ? Number(/^Threads:\s+(\d+)/m.exec(status)?.[1] ?? 0) : 0)
    );
  }, 0);
  return Number(limit) - used;
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

/** Parses `1:02:03.45`. */
function clockMs(clock: string): number {
  return clock.split(":").reduce((sum, part) => sum * 60 + Number(part), 0) * 1000;
}
