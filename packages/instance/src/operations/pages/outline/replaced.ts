/** Longer lists are cut, because a reload replaces every element. */
const maxRanges = 20;

/** Returns the line of an outline that names replaced elements: `(replaced by the page: e2, e4 to e9)`. */
export function replacedNote(refs: readonly string[]): string | undefined {
  if (refs.length === 0) return undefined;
  const ranges: { first: number; last: number }[] = [];
  for (const number of refs.map((ref) => Number(ref.slice(1))).toSorted((one, other) => one - other)) {
    const range = ranges.at(-1);
    if (range?.last === number - 1) range.last = number;
    else ranges.push({ first: number, last: number });
  }
  const shown = ranges.slice(0, maxRanges).map(({ first, last }) => {
    if (first === last) return `e${String(first)}`;
    return `e${String(first)}${last === first + 1 ? "," : " to"} e${String(last)}`;
  });
  const more = ranges.length > maxRanges ? " and others" : "";
  return `(replaced by the page: ${shown.join(", ")}${more})`;
}
