import { assert, date, property } from "fast-check";
import { expect, it } from "vitest";
import { readTimestamp } from "./value-types.ts";

function postgresText(moment: Date, minutesEast: number): string {
  const local = new Date(moment.getTime() + minutesEast * 60_000).toISOString();
  const sign = minutesEast < 0 ? "-" : "+";
  const [hours, minutes] = [Math.trunc(Math.abs(minutesEast) / 60), Math.abs(minutesEast) % 60].map((part) =>
    String(part).padStart(2, "0"),
  );
  const fraction = local.slice(19, 23).replace(/\.?0+$/, "");
  return `${local.slice(0, 10)} ${local.slice(11, 19)}${fraction}${sign}${hours ?? ""}${minutes === "00" ? "" : `:${minutes ?? ""}`}`;
}

it("round-trips timestamps of four-digit years in all time zones", () => {
  const moments = date({
    min: new Date("0002-01-01T00:00:00Z"),
    max: new Date("9998-12-31T00:00:00Z"),
    noInvalidDate: true,
  });
  assert(
    property(moments, (moment) => {
      for (const minutesEast of [0, 120, -210, 345])
        expect(readTimestamp(postgresText(moment, minutesEast))).toBe(moment.toISOString());
    }),
  );
});

it("drops digits below a millisecond, and returns other texts unchanged", () => {
  expect(readTimestamp("2026-01-31 12:00:00.123999+00")).toBe("2026-01-31T12:00:00.123Z");
  expect(readTimestamp("2026-01-31 12:00:00.1+00")).toBe("2026-01-31T12:00:00.100Z");
  for (const text of ["infinity", "-infinity", "0044-03-15 12:00:00+00 BC", "12026-01-31 12:00:00+00"])
    expect(readTimestamp(text)).toBe(text);
});
