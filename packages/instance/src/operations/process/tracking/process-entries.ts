import { readdirSync, readFileSync } from "node:fs";

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  readonly cpuTicks: number;
  /** Clock ticks since the host booted. */
  readonly startTicks: number;
}

export function readProcesses(): ProcessEntry[] {
  return readdirSync("/proc").flatMap((name) => {
    const entry = /^\d+$/.test(name) ? readProcess(Number(name)) : undefined;
    return entry === undefined ? [] : [entry];
  });
}

export function readProcess(pid: number): ProcessEntry | undefined {
  const text = readOrEmpty(`/proc/${String(pid)}/stat`);
  // The second field is the program's name in parentheses, which may contain any character.
  const [state, parent, , session, ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  if (text === "" || state === "X") return undefined;
  return {
    pid,
    parent: Number(parent),
    session: Number(session),
    // utime, stime, cutime and cstime.
    cpuTicks: rest.slice(7, 11).reduce((sum, ticks) => sum + Number(ticks), 0),
    startTicks: Number(rest[15]),
  };
}

export function descendantsOf(
  pid: number,
  all: readonly Pick<ProcessEntry, "pid" | "parent">[],
): ProcessEntry["pid"][] {
  const children = Map.groupBy(all, ({ parent }) => parent);
  const found = new Set<number>();
  const pending = [...(children.get(pid) ?? [])];
  for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
    if (found.has(entry.pid)) continue;
    found.add(entry.pid);
    pending.push(...(children.get(entry.pid) ?? []));
  }
  return [...found];
}

export function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
