import type { OutlineLine } from "./lines.ts";

/** A line of an earlier outline. */
export interface EarlierLine {
  readonly key: string;
  readonly text: string;
  readonly parentKey: string | undefined;
}

export interface LineChange {
  readonly sign: "+" | "-" | "~";
  readonly depth: number;
  readonly text: string;
  readonly count: number;
}

/** Lines match by their node, else by their text: pages replace nodes by equal ones. */
export function compareLines(earlier: readonly EarlierLine[], lines: readonly OutlineLine[]): readonly LineChange[] {
  const known = new Map(earlier.map((line) => [line.key, line]));
  const present = new Set(lines.map(({ key }) => key));
  const gone = new Map<string, EarlierLine[]>();
  for (const line of earlier) {
    if (present.has(line.key)) continue;
    const same = gone.get(line.text);
    if (same === undefined) gone.set(line.text, [line]);
    else same.push(line);
  }
  const changes: LineChange[] = [];
  for (const { count, depth, key, text } of lines) {
    const before = known.get(key);
    if (before === undefined && gone.get(text)?.shift() !== undefined) continue;
    if (before?.text !== text) changes.push({ sign: before === undefined ? "+" : "~", depth, text, count });
  }
  return [...removed([...gone.values()].flat()), ...changes];
}

/** Content of a removed line is removed with it. */
function removed(lines: readonly EarlierLine[]): readonly LineChange[] {
  const keys = new Set(lines.map(({ key }) => key));
  return lines
    .filter(({ parentKey }) => parentKey === undefined || !keys.has(parentKey))
    .map(({ text }) => ({ sign: "-", depth: 0, text, count: 1 }));
}
