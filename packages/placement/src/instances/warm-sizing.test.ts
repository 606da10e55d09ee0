import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CpuIdle } from "../host/cpu-idle.ts";
import { AutoWarmSize } from "./warm-sizing.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const gib = 2 ** 30;
function open(): AutoWarmSize {
  return new AutoWarmSize({
    floor: 1,
    max: 20,
    quietMs: 500,
    cpu: { idleShare: () => 1 },
    availableBytes: () => 64 * gib,
    machineBytes: 64 * gib,
    cores: 2,
  });
}

it("grows with each create of a burst, and forgets creates after a refill time", () => {
  const sizing = open();
  expect(sizing.target).toBe(1);
  for (let create = 0; create < 6; create++) sizing.created(0);
  expect(sizing.target).toBe(6);
  vi.advanceTimersByTime(1_100);
  for (let create = 0; create < 6; create++) sizing.created(0);
  expect(sizing.target).toBe(6);
});

it("counts creates over a longer time where browsers start slowly, up to a limit", () => {
  const sizing = open();
  for (let start = 0; start < 100; start++) sizing.started(60_000);
  for (let create = 0; create < 30; create++) {
    sizing.created(0);
    vi.advanceTimersByTime(500);
  }
  // One create every 0.5 s, and a refill time of at most 0.5 + 2 s.
  expect(sizing.target).toBeGreaterThanOrEqual(5);
  expect(sizing.target).toBeLessThanOrEqual(6);
});

it("shrinks by its checks only, so that frequent creates do not shorten the quiet minute", () => {
  const sizing = open();
  for (let create = 0; create < 8; create++) sizing.created(0);
  for (let create = 0; create < 300; create++) {
    vi.advanceTimersByTime(100 * 20);
    sizing.created(0);
  }
  expect(sizing.target).toBe(8);
  for (let check = 0; check < 80; check++) sizing.check(8);
  expect(sizing.target).toBe(1);
});

it("does not oscillate at a steady rate", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 50, max: 20_000 }),
      fc.integer({ min: 100, max: 3_000 }),
      fc.nat(999),
      (intervalMs, startMs, offsetMs) => {
        const sizing = open();
        for (let start = 0; start < 50; start++) sizing.started(startMs);
        vi.advanceTimersByTime(offsetMs);
        const creates = setInterval(() => {
          sizing.created(0);
        }, intervalMs);
        const seen = new Set<number>();
        const checks = setInterval(() => {
          sizing.check(0);
          seen.add(sizing.target);
        }, sizing.checkMs);
        vi.advanceTimersByTime(60_000);
        seen.clear();
        vi.advanceTimersByTime(200_000);
        clearInterval(creates);
        clearInterval(checks);
        expect(seen.size).toBe(1);
      },
    ),
    { numRuns: 30 },
  );
});

it("measures the idle CPU of the machine as a share", () => {
  vi.useRealTimers();
  const share = new CpuIdle().idleShare();
  expect(share).toBeGreaterThanOrEqual(0);
  expect(share).toBeLessThanOrEqual(1);
});
