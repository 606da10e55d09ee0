import { descendants } from "@shoal/cli/bench";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

export { descendants, proportionalBytes } from "@shoal/cli/bench";

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

function kilobytes(text: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? Number.NaN);
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
