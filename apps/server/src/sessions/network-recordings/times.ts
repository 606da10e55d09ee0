/** A time in seconds or milliseconds, as pages put it into addresses. */
const times = /(?<!\d)\d{10}(?:\d{3})?(?!\d)/g;
const toleranceMs = 60_000;
/** An address with more of them has no similar ones: each lookup compares the numbers of all addresses of its shape. */
const maxTimes = 16;

/** In milliseconds since 1970. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface TimedText {
  /** Equal for texts that differ only in what may be times, of the same units. */
  readonly shape: string;
  /** In milliseconds since 1970. */
  readonly timesMs: readonly number[];
}

/** Finds what may be times. @returns `undefined` for a text with none, or with too many. */
export function timedText(text: string): TimedText | undefined {
  const timesMs: number[] = [];
  const shape = text.replace(times, (digits) => {
    const isSeconds = digits.length === 10;
    timesMs.push(Number(digits) * (isSeconds ? 1000 : 1));
    // In no address.
    return isSeconds ? "\n" : "\r";
  });
  return timesMs.length === 0 || timesMs.length > maxTimes ? undefined : { shape, timesMs };
}

/**
 * Finds the places of the texts of one shape whose times are equal or within the span. Plain loops: a recording may have 20,000
 * of them. @param recordedMs - the times of all, in turn.
 */
export function similarPlaces(recordedMs: readonly number[], askedMs: readonly number[], span: TimeSpan): number[] {
  const [first, last] = [span.fromMs - toleranceMs, span.toMs + toleranceMs];
  // An equal time is always similar; another one, if both are within the span.
  const bounds = askedMs.map((ms) => (ms < first || ms > last ? { low: ms, high: ms } : { low: first, high: last }));
  const places: number[] = [];
  const size = bounds.length;
  for (let start = 0; start < recordedMs.length; start += size) {
    let at = 0;
    while (at < size && isWithin(recordedMs[start + at], bounds[at])) at += 1;
    if (at === size) places.push(start / size);
  }
  return places;
}

function isWithin(
  ms: number | undefined,
  bounds: { readonly low: number; readonly high: number } | undefined,
): boolean {
  return ms !== undefined && bounds !== undefined && ms >= bounds.low && ms <= bounds.high;
}
