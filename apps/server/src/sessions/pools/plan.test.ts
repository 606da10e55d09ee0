import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planFor, type PoolBrowser, type PoolState, takeFromRate } from "./plan.ts";

const servers = ["a", "b", "c"];
const browser = fc.record({
  server: fc.constantFrom(...servers),
  state: fc.constantFrom("starting" as const, "warm" as const, "leased" as const),
});
const state: fc.Arbitrary<PoolState> = fc
  .record({
    size: fc.integer({ min: 0, max: 6 }),
    browsers: fc.array(browser, { maxLength: 8 }),
    waiting: fc.array(fc.constantFrom(...servers), { maxLength: 8 }),
  })
  .map(({ size, browsers, waiting }) => ({
    size,
    browsers: browsers.map((one, index) => ({ ...one, id: `s${String(index)}` })),
    waiters: waiting.map((server, index) => ({ id: `w${String(index)}`, server })),
  }));

/** Returns the pool after a server has applied its plan. */
function after(server: string, pool: PoolState, newId: () => string): PoolState {
  const plan = planFor(server, pool);
  const leased = new Set(plan.lease.map(({ browser: id }) => id));
  const served = new Set(plan.lease.map(({ waiter }) => waiter));
  const ended = new Set([...plan.discard, ...plan.replace]);
  return {
    size: pool.size,
    waiters: pool.waiters.filter(({ id }) => !served.has(id)),
    browsers: [
      ...pool.browsers
        .filter(({ id }) => !ended.has(id))
        .map((one): PoolBrowser => (leased.has(one.id) ? { ...one, state: "leased" } : one)),
      ...Array.from({ length: plan.start + plan.replace.length }, (): PoolBrowser => ({
        id: newId(),
        server,
        state: "starting",
      })),
    ],
  };
}

describe("a plan", () => {
  it("leases warm browsers of this server, each once, first come first, ends no leased browser, and stays within the size", () => {
    fc.assert(
      fc.property(state, fc.constantFrom(...servers), (pool, server) => {
        const plan = planFor(server, pool);
        const byId = new Map(pool.browsers.map((one) => [one.id, one]));
        const mine = pool.waiters.filter((waiter) => waiter.server === server).map(({ id }) => id);
        expect(plan.lease.map(({ waiter }) => waiter)).toEqual(mine.slice(0, plan.lease.length));
        const warm = pool.browsers.filter(
          (one) => one.server === server && one.state === "warm" && !plan.discard.includes(one.id),
        );
        expect(plan.lease).toHaveLength(Math.min(mine.length, warm.length));
        const touched = [...plan.lease.map(({ browser: id }) => id), ...plan.discard, ...plan.replace];
        expect(new Set(touched).size).toBe(touched.length);
        for (const id of plan.discard) expect(byId.get(id)?.state).not.toBe("leased");
        for (const id of plan.replace) expect(byId.get(id)?.state).toBe("warm");
        for (const { browser: id } of plan.lease) expect(byId.get(id)?.server).toBe(server);
        for (const id of plan.replace) expect(byId.get(id)?.server).not.toBe(server);
        expect(after(server, pool, () => "new").browsers.length).toBeLessThanOrEqual(
          Math.max(pool.size, pool.browsers.filter((one) => one.state === "leased").length),
        );
      }),
    );
  });

  it("serves every waiting caller eventually, for any order of servers, while leases end", () => {
    fc.assert(
      fc.property(
        state.filter(({ size }) => size > 0),
        fc.infiniteStream(fc.constantFrom(...servers)),
        (start, turns) => {
          let pool = start;
          let made = 0;
          for (let turn = 0; turn < 400 && pool.waiters.length > 0; turn += 1) {
            const [server = "a"] = [...turns.take(1)];
            pool = after(server, pool, () => `n${String((made += 1))}`);
            // Browsers become warm, and some leased ones are released.
            pool = {
              ...pool,
              browsers: pool.browsers.map((one) => (one.state === "starting" ? { ...one, state: "warm" } : one)),
            };
            const given = turn % 2 === 0 ? pool.browsers.find((one) => one.state === "leased") : undefined;
            pool = { ...pool, browsers: pool.browsers.filter((one) => one !== given) };
          }
          expect(pool.waiters).toEqual([]);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("the fill rate", () => {
  it("allows a burst of one minute, and never exceeds its pace afterwards", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 400 }),
        fc.array(fc.record({ waitMs: fc.integer({ min: 0, max: 30_000 }), wanted: fc.integer({ min: 1, max: 50 }) }), {
          maxLength: 30,
        }),
        (size, percentPerMinute, asks) => {
          const perMinute = (size * percentPerMinute) / 100;
          let [now, fillAtMs, started] = [1_000_000, 0, 0];
          for (const { waitMs, wanted } of asks) {
            now += waitMs;
            const taken = takeFromRate({ size, percentPerMinute, fillAtMs }, wanted, now);
            fillAtMs = taken.fillAtMs;
            started += taken.count;
            expect(started).toBeLessThanOrEqual(
              Math.max(1, Math.floor(perMinute)) + ((now - 1_000_000) / 60_000) * perMinute + 0.01,
            );
            if (taken.count < wanted)
              expect(takeFromRate({ size, percentPerMinute, fillAtMs }, 1, Math.ceil(taken.nextAtMs ?? 0)).count).toBe(
                1,
              );
          }
        },
      ),
    );
  });

  it("starts none at 0, and continues after the clock was set back", () => {
    expect(takeFromRate({ size: 10, percentPerMinute: 0, fillAtMs: 0 }, 5, 1_000)).toEqual({
      count: 0,
      fillAtMs: 0,
      nextAtMs: undefined,
    });
    const ahead = takeFromRate({ size: 4, percentPerMinute: 25, fillAtMs: 10 ** 12 }, 1, 1_000);
    expect(ahead.count).toBe(0);
    expect(ahead.nextAtMs).toBeLessThanOrEqual(61_000);
  });
});
