import { readdirSync, readFileSync } from "node:fs";

/** A running process. */
export interface ProcessInfo {
  readonly pid: number;
  readonly command: string;
}

/** Proportional memory of a process (PSS) in bytes: shared pages are divided among their processes. Linux only. */
export function proportionalBytes(pid: number): number {
  const text = readFileSync(`/proc/${String(pid)}/smaps_rollup`, "utf8");
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? Number.NaN) * 1024;
}

/** Processes below a process, without itself. Linux only. */
export function descendants(pid: number): ProcessInfo[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const fields = read(`/proc/${entry}/stat`)?.replace(/^.*\) /s, "");
    if (fields === undefined) continue;
    const parent = Number(fields.split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const found: ProcessInfo[] = [];
  const visit = (parent: number): void => {
    for (const child of children.get(parent) ?? []) {
      const command = read(`/proc/${String(child)}/cmdline`);
      if (command !== undefined) found.push({ pid: child, command: command.replaceAll("\0", " ").trim() });
      visit(child);
    }
  };
  visit(pid);
  return found;
}

/** @returns `undefined` if the process has ended. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
