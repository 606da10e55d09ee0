import { expect, it } from "vitest";
import { agoText, durationText, sizeText } from "./texts.ts";

it("shows sizes in binary units", () => {
  expect([0, 1023, 1024, 1_572_864, 5 * 1024 ** 4].map(sizeText)).toEqual([
    "0 B",
    "1,023 B",
    "1 KiB",
    "1.5 MiB",
    "5 TiB",
  ]);
});

it("shows durations in their two largest units", () => {
  expect([-5, 34.4, 999.6, 4136, 9960, 14_000, 125_000, 900_000, 7_500_000, 90_000_000].map(durationText)).toEqual([
    "0s",
    "34ms",
    "1s",
    "4.1s",
    "10s",
    "14s",
    "2m 5s",
    "15m",
    "2h 5m",
    "1d 1h",
  ]);
});

it("shows moments relative to now", () => {
  expect([-200, -61_000, 7_300_000].map((ms) => agoText(ms, 0))).toEqual(["now", "1 minute ago", "in 2 hours"]);
});
