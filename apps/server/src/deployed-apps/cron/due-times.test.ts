import { ServiceError } from "@shoal/router";
import { expect, it } from "vitest";
import { checkTimes, dueAfter } from "./due-times.ts";

const dates = (cron: string, time_zone: string, from: string, count: number): string[] => {
  const found: string[] = [];
  for (let at = new Date(from); found.length < count;) {
    const next = dueAfter({ cron, time_zone }, at);
    if (next === undefined) break;
    found.push(next.toISOString());
    at = next;
  }
  return found;
};

it("keeps the local time when the clocks change", () => {
  expect(dates("0 9 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", 2)).toEqual([
    "2026-03-28T08:00:00.000Z",
    "2026-03-29T07:00:00.000Z",
  ]);
});

it("runs once on the day when the local time exists twice", () => {
  const found = dates("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2);
  expect(found.map((date) => date.slice(0, 10))).toEqual(["2026-10-25", "2026-10-26"]);
});

it("runs once on the day without the local time", () => {
  const found = dates("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2);
  expect(found.map((date) => date.slice(0, 10))).toEqual(["2026-03-29", "2026-03-30"]);
});

const now = new Date("2026-01-01T00:00:00Z");
const refusal = (cron: string, minSeconds = 60): string => {
  try {
    checkTimes({ cron, time_zone: "UTC" }, now, minSeconds);
    return "accepted";
  } catch (error) {
    if (!ServiceError.isInstance(error)) throw error;
    return `${String(error.status)} ${error.message}`;
  }
};

it("accepts times that are far enough apart", () => {
  expect(checkTimes({ cron: "*/5 * * * *", time_zone: "UTC" }, now, 300)).toEqual(new Date("2026-01-01T00:05:00Z"));
});

it.each([
  ["* * * * * *", /400 .*body\.cron.* 1 s between.*60/],
  ["0,1 9 * * *", /accepted/],
  ["61 * * * *", /400 .*body\.cron.*invalid/],
  ["0 0 30 2 *", /400 .*body\.cron.*no due time/],
  ["a b c d e", /400 .*body\.cron.*invalid/],
])("answers for %s: %s", (cron, expected) => {
  expect(refusal(cron)).toMatch(expected);
});

it("finds short intervals between rare times", () => {
  expect(refusal("0,1 9 * * *", 300)).toMatch(/60 s between/);
});
