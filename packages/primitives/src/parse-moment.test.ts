import { expect, it } from "vitest";
import { parseMoment } from "./parse-moment.ts";

const now = Date.parse("2026-01-31T12:00:00Z");

it.each([
  ["2026-01-31", "2026-01-31T00:00:00Z"],
  ["2026-01-31T12:00", "2026-01-31T12:00:00Z"],
  ["2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00Z"],
  ["1h30m", "2026-01-31T10:30:00Z"],
  ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"],
  ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
])("reads %s", (text, moment) => {
  expect(parseMoment(text, now)).toBe(Date.parse(moment) * 1000);
});

it.each([
  "0000-01-01",
  "0000-12-31T23:59:59Z",
  "0001-01-01T00:00:00+00:01",
  "9999-12-31T23:59:00-00:01",
  "18000000h",
  "9999999999999h",
  `${"9".repeat(400)}h`,
  "2026-02-31T99:00",
  "yesterday",
])("refuses %s", (text) => {
  expect(parseMoment(text, now)).toBeUndefined();
});
