import type { TimedLine } from "../timed-line.ts";

/** A part of the film in which nothing happens. */
export interface IdlePart {
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

/** Shorter pauses are played. */
const shortestSeconds = 5;
/** Pages still change after an event. */
const afterSeconds = 2;
const beforeSeconds = 1;

/**
 * Returns the parts between events, and after the last one. Chapters alone do not tell what happened, and neither does the
 * time before the first line: telemetry may begin later than the film.
 * @param lengthSeconds - `undefined` while the recording runs.
 */
export function idleParts(lines: readonly TimedLine[], lengthSeconds: number | undefined): readonly IdlePart[] {
  if (lines.every(({ kind }) => kind === "chapter")) return [];
  const moments = lines
    .flatMap(({ atSeconds, endSeconds = atSeconds }) => [atSeconds, endSeconds])
    .concat(lengthSeconds ?? [])
    .filter((seconds) => lengthSeconds === undefined || seconds <= lengthSeconds)
    .sort((one, other) => one - other);
  return moments.flatMap((fromSeconds, index) => {
    const next = moments[index + 1] ?? fromSeconds;
    if (next - fromSeconds < shortestSeconds) return [];
    return [{ fromSeconds: fromSeconds + afterSeconds, toSeconds: next - beforeSeconds }];
  });
}

export const idleSeconds = (parts: readonly IdlePart[]): number =>
  parts.reduce((sum, { fromSeconds, toSeconds }) => sum + toSeconds - fromSeconds, 0);

/** Returns the part whose beginning the film passed. A part that a person chose is played. */
export function enteredPart(
  parts: readonly IdlePart[],
  { before, now }: { readonly before: number; readonly now: number },
): IdlePart | undefined {
  return parts.find(({ fromSeconds, toSeconds }) => before < fromSeconds && now >= fromSeconds && now < toSeconds);
}
