import { afterEach, expect, it, vi } from "vitest";
import { eventually, eventuallyPasses } from "./eventually.ts";
import { waitLimitMs } from "./limits.ts";

/** Moves the clock of the waits beyond their deadline after the first reading. */
function passDeadline(): void {
  const startMs = performance.now();
  let readings = 0;
  vi.spyOn(performance, "now").mockImplementation(() => startMs + (readings++ === 0 ? 0 : waitLimitMs + 1));
}

afterEach(() => {
  vi.restoreAllMocks();
});

it("returns the first value that is neither undefined, null nor false", async () => {
  const values = [undefined, null, false, 0, 1];
  expect(await eventually(() => values.shift())).toBe(0);
  expect(values).toEqual([1]);
});

it("waits while the condition throws or rejects", async () => {
  const attempts = [() => Promise.reject(new Error("later")), () => Promise.resolve("done")];
  expect(await eventually("a result", () => attempts.shift()?.())).toBe("done");
});

it("names the condition and its last value or error at the deadline", async () => {
  passDeadline();
  await expect(eventually("the session has ended", () => false)).rejects.toThrow(
    "the session has ended. Its last value: false",
  );
  passDeadline();
  await expect(eventually(() => Promise.reject(new Error("no server")))).rejects.toThrow(
    /Promise\.reject.*Its last error: Error: no server/,
  );
});

it("waits for assertions, and fails with the last of their errors", async () => {
  let count = 0;
  await eventuallyPasses(() => {
    expect(++count).toBe(3);
  });
  expect(count).toBe(3);
  passDeadline();
  await expect(
    eventuallyPasses(() => {
      expect(count).toBe(4);
    }),
  ).rejects.toThrow(/expected 3 to be 4/);
});
