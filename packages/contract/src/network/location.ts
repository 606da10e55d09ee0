import type { BrowserLocation, BrowserLocationConfig } from "@shoal/schemas";
import type { Refusal } from "../refusals/refusal.ts";

/** The time zone and the language of a browser without `location`. */
export const defaultLocation: { readonly timezone: string; readonly locale: string } = {
  timezone: "UTC",
  locale: "en-US",
};

/** In place of a time zone: the one of the proxy. */
const exit = "exit";

/** A choice as requests write it, or a part of it. */
export type RequestedLocation = Partial<BrowserLocationConfig>;

function unsupported(field: string, problem: string, hint: string): { readonly refusal: Refusal } {
  return { refusal: { status: 400, code: "invalid_browser_location", problem, field: `body.location.${field}`, hint } };
}

/** Returns the name that pages read, `undefined` for an unknown time zone. */
function timezoneOf(name: string): string | undefined {
  // Intl accepts offsets such as +01:00, too; browsers need a name.
  if (!/^[a-z]/i.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** The canonical tag, and the nearest tag that has separate data. */
function localeOf(tag: string): { readonly canonical: string; readonly nearest: string } | undefined {
  try {
    const { baseName } = new Intl.Locale(tag);
    const [canonical = baseName] = Intl.getCanonicalLocales(tag);
    return { canonical, nearest: new Intl.DateTimeFormat(baseName).resolvedOptions().locale };
  } catch {
    return undefined;
  }
}

/** Returns the choice in the spelling that pages read, or the 400 for values unknown to browsers. */
export function readLocation({
  locale,
  timezone,
}: RequestedLocation): { readonly location: RequestedLocation } | { readonly refusal: Refusal } {
  const zone = timezone === undefined || timezone === exit ? timezone : timezoneOf(timezone);
  if (timezone !== undefined && zone === undefined)
    return unsupported("timezone", "is not a known time zone", "Use an IANA name such as Europe/Berlin, or exit");
  const found = locale === undefined ? undefined : localeOf(locale);
  if (locale !== undefined && found === undefined)
    return unsupported("locale", "is not a BCP 47 tag", "Use a language with a region, such as de-CH");
  if (found !== undefined && found.canonical !== found.nearest)
    return unsupported(
      "locale",
      `${found.canonical} has no separate data`,
      `The nearest locale with data is ${found.nearest}`,
    );
  return { location: { ...(zone !== undefined && { timezone: zone }), ...(found && { locale: found.canonical }) } };
}

/** Joins choices, the most specific one first, field by field. */
export function joinLocations(...choices: readonly (RequestedLocation | undefined)[]): RequestedLocation {
  const pick = (field: keyof BrowserLocationConfig): string | undefined =>
    choices.find((choice) => choice?.[field] !== undefined)?.[field];
  const timezone = pick("timezone");
  const locale = pick("locale");
  return { ...(timezone !== undefined && { timezone }), ...(locale !== undefined && { locale }) };
}

/** Returns what a session shows; `undefined` for the defaults. */
export function shownLocation(location: RequestedLocation, exitTimezone?: string): BrowserLocation | undefined {
  const { locale, timezone } = location;
  if (locale === undefined && timezone === undefined) return undefined;
  return {
    timezone: (timezone === exit ? exitTimezone : timezone) ?? defaultLocation.timezone,
    locale: locale ?? defaultLocation.locale,
    timezone_source: timezone === undefined ? "default" : timezone === exit ? "exit" : "override",
    locale_source: locale === undefined ? "default" : "override",
  };
}

/** The zones of a country as `Intl.Locale` knows them; TypeScript's library lacks the method. */
interface LocaleWithZones {
  readonly getTimeZones?: () => readonly string[] | undefined;
}

function zonesOf(country: string): readonly string[] {
  if (!/^[a-z]{2}$/i.test(country)) return [];
  return (new Intl.Locale(`und-${country}`) as LocaleWithZones).getTimeZones?.() ?? [];
}

const offsetAt = (timeZone: string, time: Date): string | undefined =>
  new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" })
    .formatToParts(time)
    .find(({ type }) => type === "timeZoneName")?.value;

/** Returns the time zone of a proxy's exit by its country, or the 400 where that is unknown. */
export function exitTimezone(
  country: string | undefined,
  now: Date = new Date(),
): { readonly timezone: string } | { readonly refusal: Refusal } {
  const name = "Name the time zone, such as America/New_York";
  if (country === undefined) return unsupported("timezone", "exit needs a proxy whose config names its country", name);
  const zones = zonesOf(country);
  const months = [new Date(Date.UTC(now.getUTCFullYear(), 0, 15)), new Date(Date.UTC(now.getUTCFullYear(), 6, 15))];
  const clocks = new Set(zones.map((zone) => months.map((month) => offsetAt(zone, month)).join(" ")));
  const [first] = zones;
  if (first === undefined) return unsupported("timezone", `exit: the time zone of country ${country} is unknown`, name);
  if (clocks.size > 1)
    return unsupported("timezone", `exit: country ${country} has ${String(clocks.size)} time zones`, name);
  return { timezone: timezoneOf(first) ?? first };
}
