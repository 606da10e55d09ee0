import { types, TypeOverrides } from "pg";

const oid = { int8: 20, timestamptz: 1184 } as const;

/** PostgreSQL's ISO style in UTC, as configured for all connections: `2026-01-31 12:00:00.123456+00`. */
const utc = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/;

/** Drops digits below a millisecond; returns `infinity` and years outside 0001–9999 unchanged. */
export function readTimestamp(text: string): string {
  const parts = utc.exec(text);
  if (parts !== null) return `${parts[1] ?? ""}T${parts[2] ?? ""}.${(parts[3] ?? "").slice(0, 3).padEnd(3, "0")}Z`;
  const date = new Date(text.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00"));
  return Number.isNaN(date.getTime()) ? text : date.toISOString();
}

/** Returns parsers that match the wire: timestamps as strings, counts as numbers. */
export function valueTypes(): TypeOverrides {
  const overrides = new TypeOverrides(types);
  overrides.setTypeParser(oid.timestamptz, readTimestamp);
  overrides.setTypeParser(oid.int8, Number);
  return overrides;
}
