import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  nextWarmSize,
  quietChecksToShrink,
  refillsAllowed,
  warmInstanceBytes,
  warmRoom,
  type WarmSizeFacts,
  type WarmSizeState,
} from "./warm-size.ts";

const gib = 2 ** 30;
const ample = { ready: 0, availableBytes: 64 * gib, machineBytes: 64 * gib };
const limits = { floor: 1, max: 16 };
const start: WarmSizeState = { target: 0, quietChecks: 0 };

/** The targets after each check. */
function targets(created: readonly number[], facts: Omit<WarmSizeFacts, "created"> = ample, from = start): number[] {
  let state = from;
  return created.map((each) => {
    state = nextWarmSize(state, { ...facts, created: each }, limits);
    return state.target;
  });
}

const anyFacts = fc.record({
  created: fc.nat(1000),
  ready: fc.nat(200),
  availableBytes: fc.integer({ min: 0, max: 256 * gib }),
  machineBytes: fc.integer({ min: gib, max: 256 * gib }),
});
const anyLimits = fc.tuple(fc.nat(100), fc.nat(400)).map(([floor, more]) => ({ floor, max: floor + more }));

describe("the number of warm browsers", () => {
  it("follows the creates of a refill time at once, from the floor to the maximum", () => {
    expect(targets([0, 3, 10, 400])).toEqual([1, 3, 10, 16]);
  });

  it("stays after a burst for a quiet minute, and then shrinks by one a check, to the floor", () => {
    const after = targets([8, ...Array<number>(quietChecksToShrink + 20).fill(0)]);
    expect(after.slice(0, quietChecksToShrink + 1)).toEqual(Array(quietChecksToShrink + 1).fill(8));
    expect(after.slice(quietChecksToShrink + 1, quietChecksToShrink + 9)).toEqual([7, 6, 5, 4, 3, 2, 1, 1]);
    expect(after.at(-1)).toBe(1);
  });

  it("leaves memory free for running sessions, and shrinks at once when it is short", () => {
    const small = { ready: 0, machineBytes: 2 * gib, availableBytes: 512 * 2 ** 20 + 3 * warmInstanceBytes };
    expect(targets([10], small)).toEqual([3]);
    expect(targets([10], { ...small, availableBytes: 0 })).toEqual([0]);
    expect(targets([0], { ...small, ready: 8, availableBytes: 0 }, { target: 8, quietChecks: 0 })).toEqual([4]);
  });

  it("never exceeds the maximum or the memory after any history", () => {
    fc.assert(
      fc.property(anyLimits, fc.array(anyFacts, { minLength: 1, maxLength: 200 }), (within, all) => {
        let state = start;
        for (const facts of all) {
          state = nextWarmSize(state, facts, within);
          expect(state.target).toBeGreaterThanOrEqual(0);
          expect(state.target).toBeLessThanOrEqual(Math.min(within.max, warmRoom(facts)));
          if (warmRoom(facts) >= within.floor)
            expect(state.target).toBeGreaterThanOrEqual(Math.min(within.floor, within.max));
        }
      }),
    );
  });

  it("returns to the floor when no session is created", () => {
    fc.assert(
      fc.property(anyLimits, fc.nat(500), fc.nat(quietChecksToShrink), (within, target, quietChecks) => {
        let state: WarmSizeState = { target, quietChecks };
        for (let check = 0; check < quietChecksToShrink + 501; check++)
          state = nextWarmSize(state, { ...ample, availableBytes: 512 * gib, created: 0 }, within);
        expect(state.target).toBe(within.floor);
      }),
    );
  });
});

describe("refills", () => {
  const idle = { waitingCalls: 0, ready: 0, idleShare: 1, cores: 4, sinceStartMs: 0 };

  it("start one for each idle core, and at least one", () => {
    expect(refillsAllowed(idle)).toBe(4);
    expect(refillsAllowed({ ...idle, idleShare: 0.5 })).toBe(2);
    expect(refillsAllowed({ ...idle, idleShare: 0.1 })).toBe(1);
  });

  it("yield to waiting calls, and to running sessions on a busy machine", () => {
    expect(refillsAllowed({ ...idle, waitingCalls: 1 })).toBe(0);
    expect(refillsAllowed({ ...idle, idleShare: 0.05, ready: 2 })).toBe(0);
    expect(refillsAllowed({ ...idle, idleShare: 0.05, ready: 0 })).toBe(1);
    expect(refillsAllowed({ ...idle, idleShare: 0.05, ready: 2, sinceStartMs: 5_000 })).toBe(1);
  });
});
