import { descendants, proportionalBytes, residentBytes } from "../measuring/processes.ts";
import { type Figure, percentile } from "../measuring/figures.ts";
import { startBenchDatabase } from "./bench-database.ts";
import { KeyedCalls } from "./keyed-calls.ts";
import { type StandInServer, startStandInServer } from "./start-stand-in-server.ts";
import { sql } from "kysely";
import { setTimeout as delay } from "node:timers/promises";

const megabyte = 1024 * 1024;
const atOnce = 16;
const restSeconds = 30;

/** Runs `count` sessions at once on one server whose instances are stand-ins: the cost of the control plane alone. */
export async function measureTenThousand(count: number): Promise<Figure[]> {
  await using database = await startBenchDatabase(60);
  const server = await startStandInServer(database, "one");
  try {
    const calls = new KeyedCalls(server.baseUrl, server.apiKey);
    const figures: Figure[] = [];
    // All code is loaded before the first figure.
    await createAndEnd(calls, 200);
    const postgres = () =>
      descendants(process.pid)
        .filter(({ command }) => command.includes("postgres"))
        .reduce((sum, { pid }) => sum + proportionalBytes(pid), 0);
    const memoryBefore = { server: residentBytes(server.pid), postgres: postgres() };
    const few = await measureCalls(calls);

    const { statements: before } = await server.report();
    const began = performance.now();
    const ids = await calls.many(count, atOnce, () => calls.create());
    const seconds = (performance.now() - began) / 1000;
    const { statements: after } = await server.report();
    figures.push(
      { name: `creates, ${String(atOnce)} at a time`, unit: "/s", ours: count / seconds },
      { name: "statements of a create", unit: "", ours: (after - before) / count },
    );
    const many = await measureCalls(calls);
    for (const [index, { name, ours, unit }] of many.entries())
      figures.push({ name, unit, ours, peer: few[index]?.ours ?? Number.NaN, peerName: "with few sessions" });
    figures.push(...(await restFigures(server)));
    const sessions = (await server.report()).sessions;
    const memory = { server: residentBytes(server.pid), postgres: postgres() };
    figures.push(
      {
        name: "memory of the server (RSS)",
        unit: "MB",
        ours: memory.server / megabyte,
        peer: memoryBefore.server / megabyte,
        peerName: "with few sessions",
      },
      {
        name: "memory of the server per session",
        unit: "kB",
        ours: (memory.server - memoryBefore.server) / 1024 / sessions,
      },
      {
        name: "memory of PostgreSQL (PSS)",
        unit: "MB",
        ours: memory.postgres / megabyte,
        peer: memoryBefore.postgres / megabyte,
        peerName: "with few sessions",
      },
    );
    figures.push(...(await endAll(calls, server, ids)));
    const left = await sql<{
      count: number;
    }>`select count(*)::int as count from sessions where ended_at is null`.execute(database.database.query);
    figures.push({
      name: "sessions left, in the server and in the database",
      unit: "",
      ours: (await server.report()).sessions + (left.rows[0]?.count ?? Number.NaN),
    });
    return figures;
  } finally {
    await server.stop();
  }
}

async function createAndEnd(calls: KeyedCalls, count: number): Promise<void> {
  const ids = await calls.many(count, 4, () => calls.create());
  await calls.many(ids.length, 4, (index) => calls.end(ids[index] ?? ""));
}

/** One call at a time, next to the sessions that run. */
async function measureCalls(calls: KeyedCalls): Promise<Figure[]> {
  const id = await calls.create();
  const rounds = 200;
  const created: string[] = [];
  const times = {
    "create, one at a time": await timed(rounds, async () => created.push(await calls.create())),
    "delete, one at a time": await timed(rounds, () => calls.end(created.pop() ?? "")),
    "GET /browsers/{id}": await timed(rounds, () => calls.send("GET", `/browsers/${id}`)),
    "GET /browsers?limit=100": await timed(rounds, () => calls.send("GET", "/browsers?limit=100")),
    "a request forwarded to the instance": await timed(rounds, () =>
      calls.send("GET", `/browsers/${id}/fs/list_files?path=/`),
    ),
  };
  await calls.end(id);
  return Object.entries(times).flatMap(([name, samples]) => [
    { name: `${name}, p50`, unit: "ms", ours: percentile(samples, 0.5) },
    { name: `${name}, p99`, unit: "ms", ours: percentile(samples, 0.99) },
  ]);
}

async function timed(rounds: number, work: () => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    await work();
    samples.push(performance.now() - began);
  }
  return samples;
}

/** Heartbeats, usage and the CPU of a server whose clients do nothing. */
async function restFigures(server: StandInServer): Promise<Figure[]> {
  const from = await server.report();
  await delay(restSeconds * 1000);
  const to = await server.report();
  return [
    { name: "statements at rest", unit: "/s", ours: (to.statements - from.statements) / restSeconds },
    { name: "CPU of the server at rest", unit: "% of a core", ours: (to.cpuMs - from.cpuMs) / restSeconds / 10 },
  ];
}

async function endAll(calls: KeyedCalls, server: StandInServer, ids: readonly string[]): Promise<Figure[]> {
  const { statements: before } = await server.report();
  const began = performance.now();
  await calls.many(ids.length, atOnce, (index) => calls.end(ids[index] ?? ""));
  const seconds = (performance.now() - began) / 1000;
  const { statements: after } = await server.report();
  return [
    { name: `ends, ${String(atOnce)} at a time`, unit: "/s", ours: ids.length / seconds },
    { name: "statements of an end", unit: "", ours: (after - before) / ids.length },
  ];
}
