import { readdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Figure } from "../measuring/figures.ts";
import { residentBytes } from "../measuring/processes.ts";
import { startBenchDatabase } from "./bench-database.ts";
import { KeyedCalls } from "./keyed-calls.ts";
import { startStandInServer } from "./start-stand-in-server.ts";

const megabyte = 1024 * 1024;
const atOnce = 4;

/** A server on a busy machine may refuse a create for some seconds. */
async function created(calls: KeyedCalls): Promise<string> {
  for (;;) {
    try {
      return await calls.create();
    } catch (error) {
      if (!(error instanceof Error && error.message.includes(": 503 "))) throw error;
      await delay(1_000);
    }
  }
}

export interface AtRestOptions {
  /** Sessions at rest; in growing order. */
  readonly steps: readonly number[];
  readonly restSeconds: number;
  /** Sessions that are created and ended, between the figures of flatness. */
  readonly lives: number;
}

/** Measures CPU, memory and file descriptors of a server at rest, with stand-in sessions, and after many lives. */
export async function measureAtRest({ lives, restSeconds, steps }: AtRestOptions): Promise<Figure[]> {
  await using database = await startBenchDatabase(60);
  const server = await startStandInServer(database, "rest");
  try {
    const calls = new KeyedCalls(server.baseUrl, server.apiKey);
    const figures: Figure[] = [];
    const state = () => ({
      descriptors: readdirSync(`/proc/${String(server.pid)}/fd`).length,
      memory: residentBytes(server.pid),
    });
    const live = async (count: number): Promise<void> => {
      const ids = await calls.many(count, atOnce, () => created(calls));
      await calls.many(ids.length, atOnce, (index) => calls.end(ids[index] ?? ""));
    };
    // All code is loaded, and every pool is full.
    await live(200);
    const empty = state();
    const running: string[] = [];
    for (const step of steps) {
      running.push(...(await calls.many(step - running.length, atOnce, () => created(calls))));
      await delay(2_000);
      const from = await server.report();
      await delay(restSeconds * 1000);
      const to = await server.report();
      const now = state();
      const name = `with ${String(step)} sessions`;
      figures.push(
        { name: `CPU at rest ${name}`, unit: "% of a core", ours: (to.cpuMs - from.cpuMs) / restSeconds / 10 },
        { name: `memory ${name} (RSS)`, unit: "MB", ours: now.memory / megabyte },
        { name: `file descriptors ${name}`, unit: "", ours: now.descriptors },
      );
    }
    await calls.many(running.length, atOnce, (index) => calls.end(running[index] ?? ""));
    const third = Math.ceil(lives / 3);
    await live(third);
    const first = state();
    await live(third);
    await live(third);
    const last = state();
    figures.push(
      {
        name: `memory after ${String(3 * third)} lives (RSS)`,
        unit: "MB",
        ours: last.memory / megabyte,
        peer: first.memory / megabyte,
        peerName: `after ${String(third)}`,
        target: "<= 1.05",
      },
      {
        name: `file descriptors after ${String(3 * third)} lives`,
        unit: "",
        ours: last.descriptors,
        peer: empty.descriptors,
        peerName: "before",
      },
    );
    return figures;
  } finally {
    await server.stop();
  }
}
