import type { OutlineLine } from "./lines.ts";

export interface LineMatch {
  readonly line: OutlineLine;
  /** The same line in the earlier outline. */
  readonly before: { readonly key: string; readonly text: string; readonly parentKey: string | undefined } | undefined;
}

const maxNeighbour = 40;

/**
 * Returns the lines that changed their place among the lines that stayed, and where they are: the fewest that explain the
 * new order. Content of a moved line is not named.
 */
export function movedLines(
  earlier: readonly { readonly key: string }[],
  matches: readonly LineMatch[],
): ReadonlyMap<OutlineLine, string> {
  const places = new Map(earlier.map(({ key }, place) => [key, place]));
  const befores = new Map(matches.map(({ before, line }) => [line, before]));
  const stayed = new Set(matches.flatMap(({ before }) => (before === undefined ? [] : [before.key])));
  const moved = new Map<OutlineLine, string>();
  const rest: { line: OutlineLine; place: number }[] = [];
  for (const { before, line } of matches) {
    if (before === undefined || isInside(line, moved)) continue;
    const parent = line.parent && befores.get(line.parent);
    // A line around it that is new, or that has gone, is a separate change.
    const isKnown = stayed.has(before.parentKey ?? "") && (line.parent === undefined || parent !== undefined);
    if (isKnown && parent?.key !== before.parentKey) moved.set(line, "");
    else rest.push({ line, place: places.get(before.key) ?? 0 });
  }
  const kept = longestRise(rest.map(({ place }) => place));
  for (const [at, { line }] of rest.entries()) if (!kept.has(at) && !isInside(line, moved)) moved.set(line, "");
  const previous = new Map<OutlineLine | undefined, OutlineLine>();
  for (const { line } of matches) {
    if (moved.has(line)) moved.set(line, whereOf(previous.get(line.parent)));
    previous.set(line.parent, line);
  }
  return moved;
}

function isInside({ parent }: OutlineLine, moved: ReadonlyMap<OutlineLine, string>): boolean {
  for (let at = parent; at !== undefined; at = at.parent) if (moved.has(at)) return true;
  return false;
}

function whereOf(previous: OutlineLine | undefined): string {
  if (previous === undefined) return "moved to the top";
  const { text } = previous;
  return `moved below ${text.length > maxNeighbour ? `${text.slice(0, maxNeighbour)}…` : text}`;
}

/** Returns the places of a longest rising part of the numbers. */
function longestRise(numbers: readonly number[]): ReadonlySet<number> {
  /** For each length, the place of the smallest number that ends a rise of this length. */
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  for (const [place, number] of numbers.entries()) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[ends[middle] ?? 0] ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    before.push(ends[low - 1]);
    ends[low] = place;
  }
  const kept = new Set<number>();
  for (let at = ends.at(-1); at !== undefined; at = before[at]) kept.add(at);
  return kept;
}
