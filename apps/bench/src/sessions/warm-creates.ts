import { startService } from "@shoal/cli/service";
import { type Browser, Shoal } from "@shoal/client";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Figure, percentile } from "../measuring/figures.ts";
import { settled } from "../measuring/processes.ts";

/** Calls `work` concurrently. @returns the duration of each call in milliseconds. */
async function atOnce(callers: number, work: () => Promise<unknown>): Promise<number[]> {
  return Promise.all(
    Array.from({ length: callers }, async () => {
      const began = performance.now();
      await work();
      return performance.now() - began;
    }),
  );
}

/** Measures `browsers.create` with as many warm browsers as callers: 1, 8 and 32. */
async function measureCreates(rounds: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  let alone: number | undefined;
  for (const callers of [1, 8, 32]) {
    const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
    const service = await startService(folder, [
      "--warm",
      String(callers),
      "--max-sessions",
      "100",
      "--max-sessions-per-project",
      "100",
      "--log-level",
      "warn",
    ]);
    const samples: number[] = [];
    try {
      const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
      for (let round = -1; round < rounds; round++) {
        await settled(service.pid, callers);
        const made: Browser[] = [];
        const took = await atOnce(callers, async () => made.push(await shoal.browsers.create()));
        if (round >= 0) samples.push(...took);
        await Promise.all(made.map(({ session_id }) => shoal.browsers.delete(session_id)));
      }
    } finally {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    }
    const median = percentile(samples, 0.5);
    alone ??= median;
    figures.push({
      name: `create from warm, ${String(callers)} at once, p50`,
      unit: "ms",
      ours: median,
      ...(callers > 1 && { peer: alone, peerName: "one at a time" }),
    });
    figures.push({
      name: `create from warm, ${String(callers)} at once, p99`,
      unit: "ms",
      ours: percentile(samples, 0.99),
    });
  }
  return figures;
}

/** Measures leases of a pool with reuse, next to sessions without a pool. */
async function measureLeases(rounds: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const service = await startService(folder, ["--warm", "1", "--log-level", "warn"]);
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    const { id } = await shoal.browserPools.create({ name: "bench", size: 2, fill_rate_per_minute: 1000 });
    const acquires: number[] = [];
    const releases: number[] = [];
    const creates: number[] = [];
    const timed = async <T>(samples: number[], round: number, work: () => Promise<T>): Promise<T> => {
      const began = performance.now();
      const result = await work();
      if (round >= 0) samples.push(performance.now() - began);
      return result;
    };
    for (let round = -2; round < rounds; round++) {
      // Two in the pool, and one for the next session.
      await settled(service.pid, 3);
      const lease = await timed(acquires, round, () => shoal.browserPools.acquire(id, { acquire_timeout_seconds: 60 }));
      if (lease === undefined) throw new Error("The pool had no browser within a minute.");
      await timed(releases, round, () => shoal.browserPools.release(id, { session_id: lease.session_id }));
      await settled(service.pid, 3);
      const session = await timed(creates, round, () => shoal.browsers.create());
      await shoal.browsers.delete(session.session_id);
    }
    await shoal.browserPools.delete(id, { force: true });
    const peer = percentile(creates, 0.5);
    return [
      { name: "pool acquire, p50", unit: "ms", ours: percentile(acquires, 0.5), peer, peerName: "create from warm" },
      {
        name: "pool release to be used again, p50",
        unit: "ms",
        ours: percentile(releases, 0.5),
        peer,
        peerName: "create from warm",
      },
    ];
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Measures the waiting time for warm browsers. */
export async function measureWarmCreates(rounds: number): Promise<Figure[]> {
  return [...(await measureCreates(rounds)), ...(await measureLeases(rounds * 2))];
}
