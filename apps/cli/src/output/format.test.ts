import fc from "fast-check";
import stringWidth from "fast-string-width";
import { expect, it } from "vitest";
import { alignColumns, cell, fitColumns, printable, printableLines, relativeTime, truncate } from "./format.ts";

it("escapes control characters and marks of text direction", () => {
  expect(printable("a\u001b[31mb\u202ec\n")).toBe("a\\x1b[31mb\\u202ec\\x0a");
  expect(printableLines("a\tb\n\u001bc\n")).toBe("a\tb\n\\x1bc\n");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      // oxlint-disable-next-line no-control-regex -- the characters that must not occur
      expect(printable(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
    }),
  );
});

it.each<[unknown, string]>([
  [null, "-"],
  [undefined, "-"],
  ["", "-"],
  [{}, "-"],
  [[], "-"],
  [false, "false"],
  [0, "0"],
  ["2026-01-31T12:00:00.123Z", "2026-01-31 12:00:00Z"],
  [{ team: "search", stage: 2 }, "team=search stage=2"],
  [{ width: 1280, height: 800 }, "1280x800"],
  [{ width: 1280, height: 800, refresh_rate: 30 }, "1280x800@30"],
  [{ a: { b: 1 } }, 'a={"b":1}'],
  [["x", "y"], "x, y"],
  [
    [
      { name: "buy", input_schema: { type: "object" } },
      { name: "sell", input_schema: null },
    ],
    "buy, sell",
  ],
])("formats %j as %j", (value, text) => {
  expect(cell(value)).toBe(text);
});

it("formats times relative to now", () => {
  const now = new Date("2026-06-15T12:00:00Z");
  const at = (offsetMs: number) => relativeTime(new Date(now.getTime() + offsetMs), now);
  expect([0, -999, -45_000, 45_000, -180_000, 7_200_000, -3 * 86_400_000, 90 * 86_400_000].map(at)).toEqual([
    "now",
    "now",
    "45 s ago",
    "in 45 s",
    "3 min ago",
    "in 2 h",
    "3 d ago",
    "2026-09-13",
  ]);
  expect(cell("2026-06-15T11:59:00.000Z", "both", now)).toBe("2026-06-15 11:59:00Z (1 min ago)");
});

it("cuts text to a number of columns and counts wide characters as two", () => {
  expect(truncate("abcdef", 4)).toBe("abc…");
  expect(truncate("日本語", 5)).toBe("日本…");
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 30 }), (text, columns) => {
      expect(stringWidth(truncate(printable(text), columns))).toBeLessThanOrEqual(columns);
    }),
  );
});

it("narrows the widest columns, but never the first", () => {
  expect(fitColumns([24, 80, 20], 60)).toEqual([24, 16, 16]);
  expect(fitColumns([24, 10, 5], 80)).toEqual([24, 10, 5]);
  expect(fitColumns([24, 10, 5], 10)).toEqual([24, 8, 5]);
});

it("aligns the cells of each column", () => {
  const rows = [
    ["SIZE", "NAME"],
    ["7", "日本"],
    ["1200", "b"],
  ];
  expect(alignColumns(rows, { right: new Set([0]), available: Infinity })).toEqual([
    "SIZE  NAME",
    "   7  日本",
    "1200  b",
  ]);
});
