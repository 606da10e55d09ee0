import fc from "fast-check";
import { expect, it } from "vitest";
import { byteRange } from "./byte-range.ts";

it.each([
  [undefined, "whole"],
  ["bytes=0-", { start: 0, end: 99 }],
  ["bytes=10-19", { start: 10, end: 19 }],
  ["bytes=90-1000", { start: 90, end: 99 }],
  ["bytes=-5", { start: 95, end: 99 }],
  ["bytes=-500", { start: 0, end: 99 }],
  ["bytes=100-", "beyond"],
  ["bytes=-0", "beyond"],
  ["bytes=9-3", "whole"],
  ["bytes=0-1,4-5", "whole"],
  ["bytes=-", "whole"],
  ["chapters=1-2", "whole"],
] as const)("reads %s", (header, range) => {
  expect(byteRange(header, 100)).toEqual(range);
});

it("never exceeds the file", () => {
  fc.assert(
    fc.property(
      fc.option(fc.nat(300), { nil: undefined }),
      fc.option(fc.nat(300), { nil: undefined }),
      fc.nat(200),
      (first, last, size) => {
        const range = byteRange(`bytes=${String(first ?? "")}-${String(last ?? "")}`, size);
        if (typeof range === "string") return;
        expect(range.start).toBeGreaterThanOrEqual(0);
        expect(range.start).toBeLessThanOrEqual(range.end);
        expect(range.end).toBeLessThan(size);
      },
    ),
  );
});
