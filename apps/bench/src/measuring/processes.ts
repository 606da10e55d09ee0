import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const ticksPerSecond = 100;

/** CPU time of a process so far in milliseconds, user and system (Linux, /proc/PID/stat). */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${String(pid)}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}

export function residentBytes(pid: number): number {
  return kilobytes(readFileSync(`/proc/${String(pid)}/status`, "utf8"), "VmRSS") * 1024;
}

/** Proportional memory of a process (PSS) in bytes: shared pages are divided among their processes. */
export function proportionalBytes(pid: number): number {
  return kilobytes(readFileSync(`/proc/${String(pid)}/smaps_rollup`, "utf8"), "Pss") * 1024;
}

function kilobytes(text: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? Number.NaN);
}

/** Processes below a process, without itself. */
export function descendants(pid: number): { pid: number; command: string }[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const parent = Number(
        readFileSync(`/proc/${entry}/stat`, "utf8")
          .replace(/^.*\) /s, "")
          .split(" ")[1],
      );
      children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
    } catch {
      // It has ended meanwhile.
    }
  }
  const found: { pid: number; command: string }[] = [];
  const visit = (parent: number) => {
    for (const child of children.get(parent) ?? []) {
      try {
        found.push({
          pid: child,
          command: readFileSync(`/proc/${String(child)}/cmdline`, "utf8")
            .replaceAll("\0", " ")
            .trim(),
        });
      } catch {
        // It has ended meanwhile.
      }
      visit(child);
    }
  };
  visit(pid);
  return found;
}

/** Waits until `boxes` browsers are ready and the service is idle, so that no start affects the measurement. */
export async function settled(pid: number, boxes: number): Promise<void> {
  for (;;) {
    const processes = descendants(pid);
    const used = () => processes.reduce((sum, process) => sum + cpuMsOf(process.pid), 0);
    const before = used();
    await delay(150);
    if (processes.filter(({ command }) => command.includes("--type=renderer")).length >= boxes && used() - before < 10)
      return;
  }
}

function cpuMsOf(pid: number): number {
  try {
    return cpuMs(pid);
  } catch {
    return 0; // It has ended.
  }
}
