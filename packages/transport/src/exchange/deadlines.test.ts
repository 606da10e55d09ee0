import { eventuallyPasses } from "@shoal/testkit";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clearDeadline, moveDeadline, setDeadline } from "./deadlines.ts";

describe("deadlines", () => {
  it("fire in the order of their times, not early, and not when they were cleared", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ ms: fc.integer({ min: 0, max: 40 }), cleared: fc.boolean() }), {
          minLength: 1,
          maxLength: 30,
        }),
        async (wanted) => {
          const came: { ms: number; afterMs: number }[] = [];
          for (const { ms, cleared } of wanted) {
            const begun = performance.now();
            const deadline = setDeadline(ms, () => came.push({ ms, afterMs: performance.now() - begun }));
            if (cleared) clearDeadline(deadline);
          }
          const left = wanted.filter(({ cleared }) => !cleared).length;
          await eventuallyPasses(() => {
            expect(came).toHaveLength(left);
          });
          expect(came.every(({ ms, afterMs }) => afterMs >= ms)).toBe(true);
        },
      ),
      { numRuns: 30 },
    );
  });

  it("beyond the longest timer do not fire immediately", async () => {
    let early = false;
    const far = setDeadline(2 ** 40, () => (early = true));
    await new Promise<void>((resolve) => {
      setDeadline(20, resolve);
    });
    clearDeadline(far);
    expect(early).toBe(false);
  });

  it("that are moved or cleared fire only at their last time", async () => {
    const begun = performance.now();
    const came: { name: string; afterMs: number }[] = [];
    const named = (name: string) => setDeadline(10, () => came.push({ name, afterMs: performance.now() - begun }));
    const [never, later, again] = [named("never"), named("later"), named("again")];
    moveDeadline(never, Infinity);
    moveDeadline(later, 60);
    moveDeadline(again, Infinity);
    await new Promise<void>((resolve) => {
      setDeadline(30, resolve);
    });
    moveDeadline(again, 50);
    await eventuallyPasses(() => {
      expect(came.map(({ name }) => name).sort()).toEqual(["again", "later"]);
    });
    expect(came.every(({ afterMs }) => afterMs >= 60)).toBe(true);
    // A deadline that has fired can be set again.
    moveDeadline(later, 5);
    await eventuallyPasses(() => {
      expect(came).toHaveLength(3);
    });
  });
});
