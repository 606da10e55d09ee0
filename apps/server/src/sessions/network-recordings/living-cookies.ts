const attribute = /(;\s*expires=)([^;]*)/i;
const zone = /\s(?:[a-z]{1,5})?(?:[+-]\d{2}:?\d{2})?$/i;
/** Browsers need both in a date. */
const month = /[a-z]{3}/i;
const clock = /\d:\d\d/;
/** Browsers cannot read a year of five digits. */
const lastMs = Date.UTC(9999, 11, 31);

/**
 * Moves `Expires` of cookies by the time since the answer was recorded: the cookie store of the browser has the time of the
 * server. @param headers - names and values in turn. @param recordedMs - of the answer, unless it has a `Date`.
 */
export function withLivingCookies(headers: readonly string[], recordedMs: number): readonly string[] {
  const named = (wanted: string) => (index: number) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === wanted;
  const [isCookie, isSent] = [named("set-cookie"), named("date")];
  if (!headers.some((_value, index) => isCookie(index))) return headers;
  const sentMs = Date.parse(headers.find((_value, index) => isSent(index)) ?? "");
  const passedMs = Date.now() - (Number.isNaN(sentMs) ? recordedMs : sentMs);
  return headers.map((value, index) =>
    isCookie(index)
      ? value.replace(attribute, (whole, name: string, end: string) => {
          if (!month.test(end) || !clock.test(end)) return whole;
          // Browsers read every time as UTC.
          const endMs = Date.parse(`${end.trim().replace(zone, "")} GMT`) + passedMs;
          return endMs <= lastMs ? `${name}${new Date(endMs).toUTCString()}` : whole;
        })
      : value,
  );
}
