import type { OutlineLine } from "./lines.ts";

export interface ChosenLines {
  readonly chosen: ReadonlySet<OutlineLine>;
  /** Elements and texts that did not fit. */
  readonly leftOut: number;
  /** Lines, some of whose content did not fit. */
  readonly cut: ReadonlyMap<OutlineLine, number>;
}

/** Tokens for the line that reports the rest. */
const reservedTokens = 40;

/** The visible part comes first, then the content below it, then the content above. Keeps lines around others. */
export function chooseLines(lines: readonly OutlineLine[], maxTokens: number): ChosenLines {
  const chosen = new Set<OutlineLine>();
  const total = lines.reduce((sum, { depth, tokens }) => sum + tokens + indentTokens(depth), 0);
  if (total <= maxTokens) return { chosen: new Set(lines), leftOut: 0, cut: new Map() };
  let left = maxTokens - reservedTokens;
  const take = (line: OutlineLine): boolean => {
    const missing = [line];
    for (let at = line.parent; at !== undefined && !chosen.has(at); at = at.parent) missing.push(at);
    const tokens = missing.reduce((sum, one) => sum + one.tokens + indentTokens(one.depth), 0);
    if (tokens > left) return false;
    left -= tokens;
    for (const one of missing) chosen.add(one);
    return true;
  };
  const end = lines.findLastIndex(({ isVisible }) => isVisible) + 1;
  const ordered = [
    ...lines.filter(({ isVisible }) => isVisible),
    ...lines.slice(end),
    ...lines
      .slice(0, end)
      .reverse()
      .filter(({ isVisible }) => !isVisible),
  ];
  for (const line of ordered) if (!take(line)) break;
  return { chosen, ...countRest(lines, chosen) };
}

function countRest(lines: readonly OutlineLine[], chosen: ReadonlySet<OutlineLine>) {
  const cut = new Map<OutlineLine, number>();
  let leftOut = 0;
  for (const line of lines) {
    if (chosen.has(line)) continue;
    leftOut += line.count;
    let at = line.parent;
    while (at !== undefined && !chosen.has(at)) at = at.parent;
    if (at !== undefined) cut.set(at, (cut.get(at) ?? 0) + line.count);
  }
  return { leftOut, cut };
}

/** Deep lines cost more. */
export function indentTokens(depth: number): number {
  return depth === 0 ? 0 : 0.5;
}
