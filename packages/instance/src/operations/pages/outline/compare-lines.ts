import { changeRank, type ChangeRank, hasUsable, withoutNumbers } from "./change-rank.ts";
import type { OutlineLine } from "./lines.ts";
import { type LineMatch, movedLines } from "./moved-lines.ts";

/** As many removed lines are named by their first. */
const fewestTogether = 6;

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
  readonly rank: ChangeRank;
  /** Lines to the focused element; 0 for removed lines. */
  readonly distance: number;
}

/**
 * Lines match by their node, else by their text: pages replace nodes by equal ones. A text whose numbers differ is the same
 * text, such as a clock.
 */
export function compareLines(earlier: readonly EarlierLine[], lines: readonly OutlineLine[]): readonly LineChange[] {
  const known = new Map(earlier.map((line) => [line.key, line]));
  const gone = new GoneLines(earlier, lines);
  const focused = lines.findIndex(({ elements }) => elements.some(({ states }) => states.includes("focused")));
  const matches: LineMatch[] = [];
  for (const line of lines) {
    const { key, text } = line;
    const same = known.get(key) ?? gone.take(text) ?? (hasUsable(line) ? undefined : gone.takeAlike(text));
    matches.push({ line, before: same });
  }
  const moved = movedLines(earlier, matches);
  const changes = matches.flatMap(({ before, line }, place): LineChange[] => {
    const { count, depth, text } = line;
    const where = moved.get(line);
    const isSame =
      before?.text === text || (hasUsable(line) && before !== undefined && isRenumbered(before.text, text));
    if (isSame && where === undefined) return [];
    const distance = focused === -1 ? Number.MAX_SAFE_INTEGER : Math.abs(place - focused);
    const rank = changeRank(line, where === undefined ? before : undefined, distance);
    const shown = where === undefined ? text : `${text} (${where})`;
    return [{ sign: before === undefined ? "+" : "~", depth, text: shown, count, distance, rank }];
  });
  return [...changes, ...removed(earlier, gone.left())];
}

/** Whether only the number of an item of a list differs: an item before it has come or gone. */
function isRenumbered(before: string, after: string): boolean {
  const number = /^[\p{L}\p{N}]{1,6}[.)、] /u;
  return number.test(after) && before.replace(number, "") === after.replace(number, "");
}

/** Lines whose nodes have gone. */
class GoneLines {
  readonly #left: Set<EarlierLine>;
  readonly #byText = new Map<string, EarlierLine[]>();
  readonly #byShape = new Map<string, EarlierLine[]>();

  constructor(earlier: readonly EarlierLine[], lines: readonly OutlineLine[]) {
    const present = new Set(lines.map(({ key }) => key));
    const texts = new Set(lines.map(({ text }) => text));
    this.#left = new Set(earlier.filter(({ key }) => !present.has(key)));
    for (const line of this.#left) {
      add(this.#byText, line.text, line);
      if (!texts.has(line.text)) add(this.#byShape, withoutNumbers(line.text), line);
    }
  }

  take(text: string): EarlierLine | undefined {
    return this.#first(this.#byText.get(text));
  }

  takeAlike(text: string): EarlierLine | undefined {
    return /\d/.test(text) ? this.#first(this.#byShape.get(withoutNumbers(text))) : undefined;
  }

  left(): ReadonlySet<EarlierLine> {
    return this.#left;
  }

  #first(lines: EarlierLine[] = []): EarlierLine | undefined {
    for (let line = lines.shift(); line !== undefined; line = lines.shift()) if (this.#left.delete(line)) return line;
    return undefined;
  }
}

function add(lines: Map<string, EarlierLine[]>, key: string, line: EarlierLine): void {
  const same = lines.get(key);
  if (same === undefined) lines.set(key, [line]);
  else same.push(line);
}

interface Removal {
  readonly line: EarlierLine;
  /** With the lines of its content. */
  count: number;
}

/**
 * Content of a removed line is removed with it. Many neighbours, such as the parts of a popup without a role, are one
 * change.
 */
function removed(earlier: readonly EarlierLine[], gone: ReadonlySet<EarlierLine>): readonly LineChange[] {
  const keys = new Set([...gone].map(({ key }) => key));
  const runs: Removal[][] = [];
  let run: Removal[] | undefined;
  for (const line of earlier) {
    const last = runs.at(-1)?.at(-1);
    if (!gone.has(line)) run = undefined;
    else if (last !== undefined && line.parentKey !== undefined && keys.has(line.parentKey)) last.count++;
    else if (run !== undefined && run[0]?.line.parentKey === line.parentKey) run.push({ line, count: 1 });
    else runs.push((run = [{ line, count: 1 }]));
  }
  return runs.flatMap((lines) => (lines.length < fewestTogether ? lines.map(removal) : together(lines)));
}

function together(lines: readonly Removal[]): readonly LineChange[] {
  const [first] = lines;
  if (first === undefined) return [];
  return [removal({ line: first.line, count: lines.reduce((sum, { count }) => sum + count, 0) })];
}

function removal({ count, line }: Removal): LineChange {
  const text = count < fewestTogether ? line.text : `${line.text} and ${String(count - 1)} parts`;
  return { sign: "-", depth: 0, text, count, rank: "removed", distance: 0 };
}
