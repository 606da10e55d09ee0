import { readdirSync, readFileSync } from "node:fs";

export interface Known {
  readonly pid: number;
  readonly parent: number;
  readonly start: string;
  readonly name: string;
}

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
    return {
      pid,
      parent: Number(parent),
      start: rest[17] ?? "",
      name: text.slice(text.indexOf("(") + 1, text.lastIndexOf(")")),
    };
  } catch {
    return undefined;
  }
}

export function familyOf(pid: number | undefined): readonly Known[] {
  const table = processTable();
  const family = table.filter((each) => each.pid === pid);
  // The array grows during the walk.
  for (const member of family) family.push(...table.filter((each) => each.parent === member.pid));
  return family;
}

export function stillRunning(family: readonly Known[]): readonly Known[] {
  return family.filter(({ pid, start }) => processOf(pid)?.start === start);
}
