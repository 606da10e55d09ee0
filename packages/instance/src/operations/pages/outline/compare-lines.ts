import { changeRank, type ChangeRank, hasUsable, withoutNumbers } from "./change-rank.ts";
import type { OutlineLine } from "./lines.ts";
import { type LineMatch, movedLines } from "./moved-lines.ts";

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
    if (before?.text === text && where === undefined) return [];
    const distance = focused === -1 ? Number.MAX_SAFE_INTEGER : Math.abs(place - focused);
    const rank = changeRank(line, where === undefined ? before : undefined, distance);
    const shown = where === undefined ? text : `${text} (${where})`;
    return [{ sign: before === undefined ? "+" : "~", depth, text: shown, count, distance, rank }];
  });
  return [...changes, ...removed(gone.left())];
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

  left(): readonly EarlierLine[] {
    return [...this.#left];
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

/** Content of a removed line is removed with it. */
function removed(lines: readonly EarlierLine[]): readonly LineChange[] {
  const keys = new Set(lines.map(({ key }) => key));
  return lines
    .filter(({ parentKey }) => parentKey === undefined || !keys.has(parentKey))
    .map(({ text }) => ({ sign: "-", depth: 0, text, count: 1, rank: "removed", distance: 0 }));
}
