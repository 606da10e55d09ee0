import { expect, it } from "vitest";
import { currentIndex, markersOf, type TimedLine } from "./timed-line.ts";

const line = (atSeconds: number, more: Partial<TimedLine> = {}): TimedLine => ({
  key: String(atSeconds),
  kind: "console",
  atSeconds,
  text: "",
  ...more,
});

it("finds the line of a moment", () => {
  const lines = [1, 2, 2, 5].map((at) => line(at));
  expect([0, 0.96, 1.5, 2, 4.9, 99].map((seconds) => currentIndex(lines, seconds))).toEqual([-1, 0, 0, 2, 2, 3]);
  expect(currentIndex([], 1)).toBe(-1);
});

it("marks errors, navigations, actions and chapters, at most one of a kind in one place", () => {
  const markers = markersOf(
    [
      line(1),
      line(2, { isError: true, text: "first" }),
      line(2.01, { isError: true, text: "second" }),
      line(2, { kind: "action", isNavigation: true }),
      line(5, { kind: "action" }),
      line(10, { kind: "chapter" }),
      line(11, { kind: "chapter" }),
    ],
    10,
  );
  expect(markers.map(({ kind, place, title }) => [kind, place, title])).toEqual([
    ["error", 0.2, "first"],
    ["navigation", 0.2, ""],
    ["action", 0.5, ""],
    ["chapter", 1, ""],
  ]);
  expect(markersOf([line(1, { isError: true })], 0)).toEqual([]);
});
