/** A time in seconds or milliseconds, as pages put it into addresses. */
const times = /(?<!\d)\d{10}(?:\d{3})?(?!\d)/g;
const toleranceMs = 60_000;

/** In milliseconds since 1970. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The text without what may be times. */
export function withoutTimes(text: string): string {
  return text.replace(times, "#");
}

/** Whether two addresses that are equal {@link withoutTimes} differ only in times within the span, of the same unit. */
export function differsInTimes(one: string, other: string, { fromMs, toMs }: TimeSpan): boolean {
  const isWithin = (digits: string): boolean => {
    const ms = Number(digits) * (digits.length === 10 ? 1000 : 1);
    return ms >= fromMs - toleranceMs && ms <= toMs + toleranceMs;
  };
  const found = other.match(times) ?? [];
  return (one.match(times) ?? []).every((digits, place) => {
    const against = found[place] ?? "";
    return digits === against || (digits.length === against.length && isWithin(digits) && isWithin(against));
  });
}
