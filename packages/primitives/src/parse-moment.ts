const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * Converts a timestamp, or a duration before `nowMs` (`5m`, `1h30m`), to microseconds since 1970. Timestamps without a
 * zone are UTC. Returns `undefined` for other texts, and for moments outside of the years 1 to 9999 in UTC: PostgreSQL
 * and JavaScript write others in different ways.
 */
export function parseMoment(text: string, nowMs = Date.now()): number | undefined {
  if (/^(?:\d+(?:\.\d+)?[a-zµ]+)+$/.test(text)) {
    let agoMs = 0;
    for (const [, count = "0", unit = "s"] of text.matchAll(/(?<!\d)(\d+(?:\.\d+)?)([a-zµ]+)/g))
      agoMs += Number(count) * (unitMs[unit] ?? 0);
    return withinYears(nowMs - agoMs);
  }
  const ms = Date.parse(/(?:Z|[+-]\d\d:\d\d)$/.test(text) || !text.includes("T") ? text : `${text}Z`);
  return withinYears(ms);
}

const firstMs = Date.parse("0001-01-01T00:00:00.000Z");
const lastMs = Date.parse("9999-12-31T23:59:59.999Z");

function withinYears(ms: number): number | undefined {
  return ms >= firstMs && ms <= lastMs ? Math.round(ms * 1000) : undefined;
}
