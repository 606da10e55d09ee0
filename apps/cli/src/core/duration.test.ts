import { expect, it } from "vitest";
import { durationMs } from "./duration.ts";

it.each([
  ["500ms", 500],
  ["10s", 10_000],
  ["1.5s", 1500],
  ["10m", 600_000],
  ["1h30m", 5_400_000],
  ["2d", 172_800_000],
])("reads %s as %i ms", (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});

it.each(["", "30", "m", "10 m", "10w", "-1s", "1s2"])("rejects %j", (text) => {
  expect(durationMs(text)).toBeUndefined();
});
