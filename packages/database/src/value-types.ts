import { types, TypeOverrides } from "pg";

const oid = { int8: 20, timestamptz: 1184 } as const;

/** PostgreSQL's output in ISO style and UTC, which every connection of the pool asks for: `2026-01-31 12:00:00.123456+00`. */
const utc = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/;

/**
 * ISO 8601 in UTC with milliseconds, from PostgreSQL's text for a `timestamptz`. Digits after the third are dropped: Shoal's
 * columns have none. `infinity` and years outside 0001–9999 stay PostgreSQL's text.
 */
export function readTimestamp(text: string): string {
  const parts = utc.exec(text);
  if (parts !== null) return `${parts[1] ?? ""}T${parts[2] ?? ""}.${(parts[3] ?? "").slice(0, 3).padEnd(3, "0")}Z`;
  const date = new Date(text.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00"));
  return Number.isNaN(date.getTime()) ? text : date.toISOString();
}

/** Parsers of column types where the driver's own do not suit the wire: moments are strings, counts are numbers. */
export function valueTypes(): TypeOverrides {
  const overrides = new TypeOverrides(types);
  overrides.setTypeParser(oid.timestamptz, readTimestamp);
  overrides.setTypeParser(oid.int8, Number);
  return overrides;
}
