import { badInput } from "@shoal/router";

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Converts a timestamp, or a duration before now, to microseconds since 1970. @throws {ServiceError} 400. */
export function momentOf(text: string, field: string, nowMs = Date.now()): number {
  if (/^(?:\d+(?:\.\d+)?[a-zµ]+)+$/.test(text)) {
    let agoMs = 0;
    for (const [, count = "0", unit = "s"] of text.matchAll(/(\d+(?:\.\d+)?)([a-zµ]+)/g))
      agoMs += Number(count) * (unitMs[unit] ?? 0);
    return Math.round((nowMs - agoMs) * 1000);
  }
  // The default time zone is UTC.
  const ms = Date.parse(/(?:Z|[+-]\d\d:\d\d)$/.test(text) || !text.includes("T") ? text : `${text}Z`);
  if (Number.isNaN(ms)) {
    throw badInput(`query.${field}`, `${text} is not a valid date`);
  }
  return ms * 1000;
}

/** Reads the query parameter `since`, where empty counts as absent. @throws {ServiceError} 400. */
export function sinceOf(text: string | undefined): Date | undefined {
  return text === undefined || text === "" ? undefined : new Date(momentOf(text, "since") / 1000);
}
