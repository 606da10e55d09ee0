import { expect, it } from "vitest";
import { labeledDays, ticksOf } from "./scale.ts";
import { axisText } from "./texts.ts";

it.each([
  ["minutes", 1026, ["0 min", "250 min", "500 min", "750 min", "1,000 min", "1,250 min"]],
  ["minutes", 0.3, ["0 min", "0.1 min", "0.2 min", "0.3 min"]],
  ["sessions", 1, ["0", "1"]],
  ["peak", 15, ["0", "5", "10", "15"]],
  ["storage", 1.8 * 1024 ** 3, ["0 B", "512 MiB", "1 GiB", "1.5 GiB", "2 GiB"]],
  ["sent", 0, ["0 B", "1 B"]],
] as const)("labels the axis of %s up to %s with round values", (metric, highest, labels) => {
  expect(ticksOf(highest, metric).map((value) => axisText(value, metric))).toEqual(labels);
});

it("labels at most four days, always the last one", () => {
  const days = (count: number) => Array.from({ length: count }, (_, index) => `day ${index}`);
  expect([...labeledDays(days(7))]).toEqual(["day 0", "day 2", "day 4", "day 6"]);
  expect([...labeledDays(days(90))].at(-1)).toBe("day 89");
  expect(labeledDays(days(90)).size).toBe(4);
  expect([...labeledDays(days(1))]).toEqual(["day 0"]);
});
