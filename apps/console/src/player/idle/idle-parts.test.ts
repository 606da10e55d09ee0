import { expect, it } from "vitest";
import { enteredPart, idleParts, idleSeconds } from "./idle-parts.ts";
import type { TimedLine } from "../timed-line.ts";

const line = (atSeconds: number, more: Partial<TimedLine> = {}): TimedLine => ({
  key: String(atSeconds),
  kind: "action",
  atSeconds,
  text: "",
  ...more,
});

it("finds the parts of at least five seconds between events and before the end", () => {
  const parts = idleParts([line(3), line(7.9), line(20), line(21)], 60);
  expect(parts).toEqual([
    { fromSeconds: 9.9, toSeconds: 19 },
    { fromSeconds: 23, toSeconds: 59 },
  ]);
  expect(idleSeconds(parts)).toBeCloseTo(45.1);
});

it("takes the answer of a request for an event, and ignores events after the film", () => {
  const request = line(10, { kind: "network", endSeconds: 17 });
  expect(idleParts([request, line(20), line(40)], 30)).toEqual([
    { fromSeconds: 12, toSeconds: 16 },
    { fromSeconds: 22, toSeconds: 29 },
  ]);
});

it("knows no idle part without telemetry, before the first event, and after the last one of a running recording", () => {
  expect(idleParts([], 60)).toEqual([]);
  expect(idleParts([line(5, { kind: "chapter" })], 60)).toEqual([]);
  expect(idleParts([line(58)], 60)).toEqual([]);
  expect(idleParts([line(1)], undefined)).toEqual([]);
});

it("enters a part at its beginning only", () => {
  const parts = [{ fromSeconds: 10, toSeconds: 19 }];
  expect(enteredPart(parts, { before: 9.8, now: 10.1 })).toBe(parts[0]);
  expect(enteredPart(parts, { before: 10.1, now: 10.3 })).toBeUndefined();
  expect(enteredPart(parts, { before: 9.8, now: 19.5 })).toBeUndefined();
});
