export const trackKinds = ["chapter", "console", "network", "action"] as const;
export type TrackKind = (typeof trackKinds)[number];

/** A line of a track, at its place in the film. */
export interface TimedLine {
  readonly key: string;
  readonly kind: TrackKind;
  /** Seconds from the start of the film. */
  readonly atSeconds: number;
  /** When it ended, if that is another moment. */
  readonly endSeconds?: number | undefined;
  readonly text: string;
  /** A short text at the end of the line: a status, a duration. */
  readonly note?: string | undefined;
  readonly isError?: boolean;
  readonly isNavigation?: boolean;
}

/** Index of the last line at or before a time; -1 before the first one. `lines` are sorted by time. */
export function currentIndex(lines: readonly TimedLine[], seconds: number): number {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((lines[middle]?.atSeconds ?? 0) <= seconds + toleranceSeconds) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** A film seeks to the frame before the requested time. */
const toleranceSeconds = 0.05;

export interface Marker {
  readonly kind: "action" | "chapter" | "error" | "navigation";
  /** 0 to 1 */
  readonly place: number;
  readonly title: string;
}

const places = 200;

/** Marks of the scrubber: at most one of each kind in a 200th of the film. Log lines and requests without errors have none. */
export function markersOf(lines: readonly TimedLine[], lengthSeconds: number): Marker[] {
  const markers = new Map<string, Marker>();
  if (lengthSeconds <= 0) return [];
  for (const line of lines) {
    const kind = markerKind(line);
    if (kind === undefined || line.atSeconds < 0 || line.atSeconds > lengthSeconds) continue;
    const place = Math.round((line.atSeconds / lengthSeconds) * places) / places;
    const key = `${kind} ${place}`;
    if (!markers.has(key)) markers.set(key, { kind, place, title: line.text });
  }
  return [...markers.values()];
}

function markerKind({ isError, isNavigation, kind }: TimedLine): Marker["kind"] | undefined {
  if (isError === true) return "error";
  if (isNavigation === true) return "navigation";
  return kind === "action" || kind === "chapter" ? kind : undefined;
}
