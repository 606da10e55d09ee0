import { expect, it } from "vitest";
import { withoutPauses } from "./without-pauses.ts";

/** Blocks the thread, as a machine without a free processor does. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

it("repeats a run with a long pause of the thread, also after a failure", async () => {
  let runs = 0;
  const result = await withoutPauses(1_000, async () => {
    runs += 1;
    const run = runs;
    await new Promise(setImmediate);
    if (run <= 2) pause(1_100);
    if (run === 2) throw new Error("too late");
    return run;
  });
  // A real pause of this machine may add runs.
  expect(result).toBeGreaterThan(2);
  expect(result).toBe(runs);
});

it("passes on the error of a run without a pause", async () => {
  await expect(withoutPauses(Infinity, () => Promise.reject(new Error("wrong")))).rejects.toThrow("wrong");
});
