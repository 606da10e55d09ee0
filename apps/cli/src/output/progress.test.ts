import fc from "fast-check";
import stringWidth from "fast-string-width";
import { expect, it } from "vitest";
import { formatBytes, progressLine } from "./progress.ts";

it.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1.0 kB"],
  [999_999, "1.0 MB"],
  [1_234_567, "1.2 MB"],
  [5e12, "5.0 TB"],
])("formats %i bytes as %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

it("shows percentage, size, rate and remaining time if they fit", () => {
  const state = { movedBytes: 5_000_000, totalBytes: 10_000_000, elapsedMs: 1000 };
  expect(progressLine("a.bin", state, 100)).toBe(
    "a.bin  ██████████░░░░░░░░░░  50%  5.0 MB of 10.0 MB  5.0 MB/s  1 s left",
  );
  expect(progressLine("a.bin", state, 52)).toBe("a.bin  ██████████░░░░░░░░░░  50%  5.0 MB of 10.0 MB");
  expect(progressLine("stdin", { ...state, totalBytes: undefined }, 60)).toBe("stdin  5.0 MB  5.0 MB/s");
});

it("never exceeds the width of the line", () => {
  const bytes = fc.integer({ min: 0, max: 1e13 });
  fc.assert(
    fc.property(
      fc.string(),
      bytes,
      fc.option(bytes, { nil: undefined }),
      fc.integer({ min: 1, max: 200 }),
      (label, movedBytes, totalBytes, columns) => {
        expect(
          stringWidth(progressLine(label, { movedBytes, totalBytes, elapsedMs: 1500 }, columns)),
        ).toBeLessThanOrEqual(columns);
      },
    ),
  );
});
