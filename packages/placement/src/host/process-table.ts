import { isRunning as hasProcess } from "@shoal/primitives/node";
import { readFile, readlink } from "node:fs/promises";
import { readFileSync } from "node:fs";

/** The start distinguishes processes with the same id. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Since boot; 0 if unknown. */
  readonly startTicks: number;
}

export function identityOf(pid: number): ProcessIdentity {
  return { pid, startTicks: statOf(pid)?.startTicks ?? 0 };
}

/** Without `/proc`, returns whether any process has the id. */
export function isRunning(identity: ProcessIdentity): boolean {
  if (process.platform === "linux") return statOf(identity.pid)?.startTicks === identity.startTicks;
  return hasProcess(identity.pid);
}

/** `undefined` except on Linux. */
export async function processNamespace(): Promise<{ readonly boot: string; readonly namespace: string } | undefined> {
  if (process.platform !== "linux") return undefined;
  const [boot, namespace] = await Promise.all([
    readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => ""),
    readlink("/proc/self/ns/pid").catch(() => ""),
  ]);
  return { boot: boot.trim(), namespace };
}

export interface ProcessStat extends ProcessIdentity {
  readonly parentPid: number;
  readonly session: number;
}

export function statOf(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The program's name, in parentheses, may contain any character.
    const [state, parentPid, _group, session, ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return state === "Z" || state === "X"
      ? undefined
      : { pid, parentPid: Number(parentPid), session: Number(session), startTicks: Number(rest[15]) };
  } catch {
    return undefined;
  }
}
