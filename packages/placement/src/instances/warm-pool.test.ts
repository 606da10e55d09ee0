import { type Warmable, WarmPool, type WarmPoolOptions } from "./warm-pool.ts";
import { FixedWarmSize } from "./warm-sizing.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it, vi } from "vitest";

interface Thing extends Warmable {
  readonly number: number;
  readonly die: () => void;
  isRehearsed: boolean;
}

const pools: WarmPool<Thing>[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close();
});

function openPool({ size = 0, ...options }: Partial<WarmPoolOptions<Thing>> & { readonly size?: number } = {}) {
  const alive = new Set<number>();
  const counts = { started: 0, starting: 0, mostStarting: 0 };
  const lines: string[] = [];
  const note = (_fields: object, message: string) => void lines.push(message);
  const pool = new WarmPool<Thing>({
    sizing: new FixedWarmSize(size),
    maxStarting: 4,
    quietMs: 5,
    log: { debug: note, info: note, warn: note, error: note },
    async start(signal) {
      const number = ++counts.started;
      counts.mostStarting = Math.max(counts.mostStarting, ++counts.starting);
      try {
        const startMs = 1;
        await sleep(startMs, undefined, { signal });
      } finally {
        counts.starting -= 1;
      }
      alive.add(number);
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      const die = (): void => {
        alive.delete(number);
        resolve();
      };
      const thing: Thing = {
        number,
        ended,
        die,
        isRehearsed: false,
        rehearse: async () => {
          thing.isRehearsed = true;
        },
        stop: async () => {
          die();
        },
      };
      return thing;
    },
    ...options,
  });
  pools.push(pool);
  return { pool, alive, counts, lines };
}

it("never hands an instance to two concurrent callers", async () => {
  const { pool, counts } = openPool({ size: 3 });
  const taken = await Promise.all(Array.from({ length: 50 }, () => pool.take()));
  expect(new Set(taken.map(({ number }) => number)).size).toBe(50);
  expect(counts.mostStarting).toBeLessThanOrEqual(4);
});

it("rehearses the assignment of instances that wait, and not for callers that wait", async () => {
  const { pool } = openPool({ size: 1 });
  expect((await pool.take()).isRehearsed).toBe(false);
  await pool.full();
  expect((await pool.take()).isRehearsed).toBe(true);
});

it("starts no more instances than needed", async () => {
  const { pool, alive } = openPool({ size: 2 });
  await pool.full();
  const taken = await Promise.all([pool.take(), pool.take(), pool.take()]);
  await pool.full();
  expect(alive.size).toBe(5);
  for (const each of taken) each.die();
  pool.refill();
  await pool.full();
  expect(alive.size).toBe(2);
});

it("delays a replacement until the quiet time has passed or refill is called", async () => {
  const { pool, counts } = openPool({ size: 1, quietMs: 60_000 });
  await pool.full();
  await pool.take();
  expect([pool.hasWaiting, counts.started]).toEqual([false, 1]);
  pool.refill();
  await pool.full();
  expect(counts.started).toBe(2);
});

it("replaces an instance that dies while it waits", async () => {
  const things: Thing[] = [];
  const { pool, alive, lines } = openPool({ size: 1 });
  await pool.full();
  things.push(await pool.take());
  await pool.full();
  const [waiting] = [...alive].filter((number) => number !== things[0]?.number);
  expect(waiting).toBe(2);
  const second = await pool.take();
  second.die();
  await pool.full();
  expect(lines).toEqual([]);
});

it("reports a failed start to one caller, and retries for the others", async () => {
  let attempts = 0;
  const { pool } = openPool({
    async start() {
      attempts += 1;
      if (attempts === 1) throw new Error("no luck");
      return {
        number: attempts,
        ended: new Promise(() => undefined),
        die: () => undefined,
        isRehearsed: false,
        rehearse: async () => undefined,
        stop: async () => undefined,
      };
    },
  });
  const results = await Promise.allSettled([pool.take(), pool.take(), pool.take()]);
  expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "fulfilled", "rejected"]);
});

it("retries with growing delays while starts fail, and logs each failure", async () => {
  vi.useFakeTimers();
  try {
    let attempts = 0;
    const { pool, lines } = openPool({
      size: 1,
      async start() {
        attempts += 1;
        throw new Error("no luck");
      },
    });
    for (const [afterMs, expected] of [
      [0, 1],
      [499, 1],
      [1, 2],
      [999, 2],
      [1, 3],
      [2_000, 4],
      [4_000, 5],
      [60_000, 8],
    ] as const) {
      await vi.advanceTimersByTimeAsync(afterMs);
      expect(attempts, `after ${afterMs} ms more`).toBe(expected);
    }
    expect(lines).toHaveLength(8);
    await pool.close();
  } finally {
    vi.useRealTimers();
  }
});

it("ends the start for a caller that aborts, and no other", async () => {
  const aborted: boolean[] = [];
  const { pool } = openPool({
    start: (signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          aborted.push(true);
          reject(new Error("ended"));
        });
      }),
  });
  const patience = new AbortController();
  const impatient = pool.take(patience.signal);
  const patient = pool.take();
  patient.catch(() => undefined);
  patience.abort(new Error("enough"));
  await expect(impatient).rejects.toThrow("enough");
  expect(aborted).toHaveLength(1);
  await expect(pool.take(AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
  await pool.close();
  await expect(patient).rejects.toMatchObject({ code: "closed" });
  expect(aborted).toHaveLength(2);
});

it("ends waiting instances and rejects waiting callers on close", async () => {
  const { pool, alive } = openPool({ size: 3 });
  await pool.full();
  const taken = await pool.take();
  const refused = expect(pool.full()).rejects.toMatchObject({ code: "closed" });
  await pool.close();
  await refused;
  expect([...alive]).toEqual([taken.number]);
  await expect(pool.take()).rejects.toMatchObject({ code: "closed" });
});
