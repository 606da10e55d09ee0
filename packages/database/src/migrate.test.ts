import { eventuallyPasses } from "@shoal/testkit";
import { Kysely, PostgresDialect, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { type ClosablePool, createPool } from "./connect.ts";
import { migrate } from "./migrate.ts";
import { migrations } from "./migrations/all.ts";
import { recordingLog } from "./testing/logs.ts";
import { startBundledServer, type TestServer } from "./testing/servers.ts";

let server: TestServer;
let url: string;
let opened: ClosablePool;
let query: Kysely<unknown>;
const log = recordingLog();

beforeAll(async () => {
  server = await startBundledServer();
});
afterAll(async () => {
  await server.stop();
});
beforeEach(async () => {
  url = await server.createDatabase();
  opened = createPool({ url }, log);
  query = new Kysely({ dialect: new PostgresDialect({ pool: opened.pool }) });
});
afterEach(async () => {
  await opened.close();
});

function creates(table: string): Migration {
  return {
    async up(transaction: Kysely<unknown>) {
      await sql`create table ${sql.ref(table)} (id int)`.execute(transaction);
    },
  };
}

const one = { "0001_one": creates("one") };
const two = { "0002_two": creates("two") };
const three = { "0003_three": creates("three") };
const broken = {
  "0002_broken": {
    async up(transaction: Kysely<unknown>) {
      await sql`create table half (id int)`.execute(transaction);
      await sql`insert into missing values (1)`.execute(transaction);
    },
  },
};

async function exists(table: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select to_regclass(${table}) is not null as found`.execute(query);
  return rows[0]?.found === true;
}

it("runs missing migrations once, in order", async () => {
  expect(await migrate(query, one, log)).toEqual(["0001_one"]);
  expect(await migrate(query, one, log)).toEqual([]);
  expect(await migrate(query, { ...three, ...two, ...one }, log)).toEqual(["0002_two", "0003_three"]);
  expect(await exists("two")).toBe(true);
});

it("rolls back every pending migration when one fails, and runs them on the next start", async () => {
  await migrate(query, one, log);
  const failure = migrate(query, { ...one, ...broken, ...three }, log);
  await expect(failure).rejects.toMatchObject({
    code: "migration_failed",
    message: 'Migration 0002_broken failed and was rolled back: relation "missing" does not exist.',
  });
  expect([await exists("one"), await exists("half"), await exists("three")]).toEqual([true, false, false]);
  expect(await migrate(query, { ...one, ...two, ...three }, log)).toEqual(["0002_two", "0003_three"]);
});

it("refuses a database with migrations that it does not include, and leaves it unchanged", async () => {
  await migrate(query, { ...one, ...two }, log);
  await expect(migrate(query, { ...one, ...three }, log)).rejects.toMatchObject({
    code: "schema_newer",
    message:
      "A newer Shoal migrated this database: it has 0002_two, but this version only includes migrations up to 0003_three.",
  });
  expect(await exists("three")).toBe(false);
});

it("refuses a database that a newer server migrated while this one waited for the lock", async () => {
  const [started, finished] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const newer = { "0001_newer": heldUntil("newer", started, finished) };
  const first = migrate(query, newer, log);
  await started.promise;
  const refused = expect(migrate(query, one, log)).rejects.toMatchObject({ code: "schema_newer" });
  await eventuallyPasses(async () => {
    expect(await waitingForLock()).toBe(1);
  });
  finished.resolve(undefined);
  await first;
  await refused;
  expect(await exists("one")).toBe(false);
});

it("waits for another server, logs a notice, and runs nothing twice", async () => {
  const [started, finished] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const slow = { "0001_slow": heldUntil("slow", started, finished) };
  const first = migrate(query, slow, log);
  await started.promise;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const second = migrate(query, slow, log);
  await eventuallyPasses(() => {
    vi.advanceTimersByTime(1_000);
    expect(log.lines).toContain("info waiting for another server to finish its migrations {}");
  });
  finished.resolve(undefined);
  expect(await Promise.all([first, second])).toEqual([["0001_slow"], []]);
});

it("creates the tables once when several servers start on an empty database", async () => {
  const pools = Array.from({ length: 4 }, () => createPool({ url }, log));
  try {
    const results = await Promise.all(
      pools.map(({ pool }) => migrate(new Kysely({ dialect: new PostgresDialect({ pool }) }), migrations, log)),
    );
    expect(results.flat()).toEqual(Object.keys(migrations));
    const { rows } = await sql<{ projects: number }>`select count(*)::int as projects from projects`.execute(query);
    expect(rows).toEqual([{ projects: 1 }]);
  } finally {
    await Promise.all(pools.map((pool) => pool.close()));
  }
});

it("adds the sites of credentials to a database of the first release, without sites", async () => {
  await migrate(query, { "0001_foundation": migrations["0001_foundation"] ?? one["0001_one"] }, log);
  await sql`insert into credentials (id, project_id, name, domain)
    select 'old', id, 'shop', 'shop.example.com' from projects`.execute(query);
  expect(await migrate(query, migrations, log)).toContain("0002_credential_sites");
  const { rows } = await sql`select domain, sites from credentials`.execute(query);
  expect(rows).toEqual([{ domain: "shop.example.com", sites: [] }]);
});

it("ignores the tables of another Shoal in another schema of the same database", async () => {
  await sql`create schema other`.execute(query);
  const apart = createPool({ url: `${url}?options=-c%20search_path=other` }, log);
  try {
    const inOther = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: apart.pool }) });
    expect(await migrate(inOther, one, log)).toEqual(["0001_one"]);
    expect(await migrate(query, one, log)).toEqual(["0001_one"]);
  } finally {
    await apart.close();
  }
});

function heldUntil(
  table: string,
  started: PromiseWithResolvers<undefined>,
  finished: PromiseWithResolvers<undefined>,
): Migration {
  return {
    async up(transaction: Kysely<unknown>) {
      await sql`create table ${sql.ref(table)} (id int)`.execute(transaction);
      started.resolve(undefined);
      await finished.promise;
    },
  };
}

async function waitingForLock(): Promise<number | undefined> {
  const { rows } = await sql<{
    waiting: number;
  }>`select count(*)::int as waiting from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`.execute(
    query,
  );
  return rows[0]?.waiting;
}
