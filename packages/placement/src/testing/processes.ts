import { readdirSync, readFileSync } from "node:fs";

/** A process, told from a later one with the same id. */
export interface Known {
  readonly pid: number;
  readonly parent: number;
  readonly start: string;
  readonly name: string;
}

/** All running processes; zombies do not count. */
export function processTable(): readonly Known[] {
  return readdirSync("/proc").flatMap((entry) => {
    const found = /^\d+$/.test(entry) ? processOf(Number(entry)) : undefined;
    return found === undefined ? [] : [found];
  });
}

export function processOf(pid: number): Known | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, parent, ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return undefined;
    return { pid, parent: Number(parent), start: rest[17] ?? "", name: text.slice(text.indexOf("(") + 1, text.lastIndexOf(")")) };
  } catch {
    return undefined;
  }
}

/** A process and all that descend from it. */
export function familyOf(pid: number): readonly Known[] {
  const table = processTable();
  const family = table.filter((each) => each.pid === pid);
  // An array that grows while it is walked is walked to its new end.
  for (const member of family) family.push(...table.filter((each) => each.parent === member.pid));
  return family;
}

/** Those of them that still run. */
export function stillRunning(family: readonly Known[]): readonly Known[] {
  return family.filter(({ pid, start }) => processOf(pid)?.start === start);
}
