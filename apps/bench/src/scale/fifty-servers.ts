import { type Database, openDatabase } from "@shoal/database";
import { loadConfig, type RunningServer, startServer } from "@shoal/server";
import { sql } from "kysely";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Figure } from "../measuring/figures.ts";
import { cpuMs, descendants } from "../measuring/processes.ts";
import { type BenchDatabase, quietLog, startBenchDatabase } from "./bench-database.ts";
import { type ChangeBroker, type ChangeTimes, measureChanges } from "./change-load.ts";
import { countingStatements } from "./counted-statements.ts";
import { startNats } from "./nats.ts";
import { standInInstances } from "./stand-in-instances.ts";

const rates = [100, 500];

interface Measured {
  readonly statementsPerSecond: number;
  readonly cpuPercent: number;
  /** By rate, then as fast as possible. */
  readonly changes: readonly ChangeTimes[];
  /** As fast as possible, of rows that notify no server. */
  readonly writes: ChangeTimes;
}

/** Heartbeats, jobs and change notifications of `count` servers in this process, next to one server and to NATS. */
export async function measureManyServers(count: number, seconds: number): Promise<Figure[]> {
  await using database = await startBenchDatabase(count * 12 + 40);
  const ids = Array.from({ length: 5000 }, () => randomUUID());
  await sql`insert into projects (id, name) select id, id from unnest(${ids}::text[]) as id`.execute(
    database.database.query,
  );
  const one = await measureServers(database, { count: 1, ids, seconds });
  const many = await measureServers(database, { count, ids, seconds });
  await using nats = await startNats(count);
  const figures: Figure[] = [
    {
      name: `statements of ${String(count)} servers at rest`,
      unit: "/s",
      ours: many.statementsPerSecond,
      peer: one.statementsPerSecond,
      peerName: "one server",
    },
    {
      name: `CPU of PostgreSQL, ${String(count)} servers at rest`,
      unit: "% of a core",
      ours: many.cpuPercent,
      peer: one.cpuPercent,
      peerName: "one server",
    },
  ];
  for (const [index, times] of many.changes.entries()) {
    const rate = rates[index];
    const broker = nats && (await measureChanges(nats, ids, { perSecond: rate ?? times.perSecond, seconds }));
    const name = rate === undefined ? "changes as fast as possible" : `${String(rate)} changes a second`;
    if (rate !== undefined)
      figures.push({
        name: `${name}, reached`,
        unit: "/s",
        ours: times.perSecond,
        peer: one.changes[index]?.perSecond ?? Number.NaN,
        peerName: "one server",
      });
    else
      for (const [peerName, peer] of [
        ["one server", one.changes[index]],
        ["writes without NOTIFY", many.writes],
      ] as const)
        figures.push({ name, unit: "/s", ours: times.perSecond, peer: peer?.perSecond ?? Number.NaN, peerName });
    for (const [peerName, peer] of [
      ["one server", one.changes[index]],
      ["NATS", broker],
    ] as const)
      if (peer !== undefined)
        figures.push(
          { name: `${name}, delay p50`, unit: "ms", ours: times.p50Ms, peer: peer.p50Ms, peerName },
          { name: `${name}, delay p99`, unit: "ms", ours: times.p99Ms, peer: peer.p99Ms, peerName },
          { name: `${name}, CPU of the broker a change`, unit: "ms", ours: times.cpuMs, peer: peer.cpuMs, peerName },
        );
  }
  return figures;
}

async function measureServers(
  { database, folder, url }: BenchDatabase,
  { count, ids, seconds }: { readonly count: number; readonly ids: readonly string[]; readonly seconds: number },
): Promise<Measured> {
  const running: { readonly server: RunningServer; readonly own: Database }[] = [];
  try {
    const counts: (() => number)[] = [];
    for (let index = 0; index < count; index++) {
      const counted = countingStatements(await openDatabase({ url, dataDir: "", log: quietLog }));
      counts.push(() => counted.count());
      const dataDir = join(folder, `${String(count)}-${String(index)}`);
      running.push({ server: await startOne(dataDir, counted.database), own: counted.database });
    }
    const statements = () => counts.reduce((sum, of) => sum + of(), 0);
    // The first heartbeats and jobs.
    await delay(5_000);
    const before = { statements: statements(), cpuMs: postgresMs() };
    await delay(seconds * 1000);
    const rest = { statements: statements(), cpuMs: postgresMs() };
    const broker: ChangeBroker = {
      listeners: count,
      send: (id) => sql`update projects set name = ${randomUUID()} where id = ${id}`.execute(database.query),
      cpuMs: postgresMs,
      onArrival: () => undefined,
    };
    for (const { own } of running)
      own.onChange((change) => {
        if (change?.table === "projects") broker.onArrival(change.id);
      });
    const changes: ChangeTimes[] = [];
    for (const perSecond of [...rates, 0]) changes.push(await measureChanges(broker, ids, { perSecond, seconds }));
    await sql`create table if not exists bench_rows as select id, name from projects`.execute(database.query);
    await sql`create unique index if not exists bench_rows_by_id on bench_rows (id)`.execute(database.query);
    const silent: ChangeBroker = {
      ...broker,
      listeners: 0,
      send: (id) => sql`update bench_rows set name = ${randomUUID()} where id = ${id}`.execute(database.query),
    };
    const writes = await measureChanges(silent, ids, { perSecond: 0, seconds });
    return {
      writes,
      statementsPerSecond: (rest.statements - before.statements) / seconds,
      cpuPercent: (rest.cpuMs - before.cpuMs) / seconds / 10,
      changes,
    };
  } finally {
    await Promise.all(running.map(({ server }) => server.close()));
    await Promise.all(running.map(({ own }) => own.close()));
  }
}

async function startOne(dataDir: string, database: Database): Promise<RunningServer> {
  return startServer(
    loadConfig({
      flags: { "data-dir": dataDir, port: "0", placement: "process", warm: "0", "log-level": "fatal" },
      env: { SHOAL_SECRET_KEY: "the same secret on every server of the bench" },
    }),
    { database, aroundPlacement: await standInInstances(`${dataDir}.sock`) },
  );
}

function postgresMs(): number {
  return descendants(process.pid)
    .filter(({ command }) => command.includes("postgres"))
    .reduce((sum, { pid }) => sum + cpuMs(pid), 0);
}
