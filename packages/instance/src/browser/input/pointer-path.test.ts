import fc from "fast-check";
import { expect, it } from "vitest";
import { distanceBetween, handCurve, naturalDurationMs } from "./pointer-path.ts";

const point = fc.record({ x: fc.integer({ min: 0, max: 16_384 }), y: fc.integer({ min: 0, max: 16_384 }) });
const chance = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 5 });

it("starts and ends at the given points, and stays near the straight line", () => {
  fc.assert(
    fc.property(point, point, chance, (from, to, numbers) => {
      let next = 0;
      const way = handCurve(from, to, () => numbers[next++ % numbers.length] ?? 0);
      const length = distanceBetween(from, to);
      expect([way(0), way(1)]).toEqual([from, to]);
      for (let step = 0; step <= 20; step++) {
        const at = way(step / 20);
        expect(Number.isInteger(at.x) && Number.isInteger(at.y)).toBe(true);
        expect(distanceBetween(from, at) + distanceBetween(at, to)).toBeLessThanOrEqual(length * 1.1 + 3);
      }
    }),
  );
});

it("takes longer for longer distances, within limits", () => {
  expect([0, 100, 1000, 1e6].map((distance) => naturalDurationMs(distance))).toEqual([50, 170, 429, 1200]);
});
