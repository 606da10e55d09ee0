import { Kysely, PostgresDialect, sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { type ClosablePool, createPool } from "./connect.ts";
import { migrate, type Migration } from "./migrate.ts";
import { recordingLog } from "./testing/logs.ts";
import { startBundledServer, type TestServer } from "./testing/servers.ts";

let server: TestServer;
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
  opened = createPool({ url: await server.createDatabase() }, log);
  query = new Kysely({ dialect: new PostgresDialect({ pool: opened.pool }) });
});
afterEach(async () => {
  await opened.close();
});

function creates(id: string, table = `t_${id}`): Migration {
  return {
    id,
    async up(transaction) {
      await sql`create table ${sql.ref(table)} (id int)`.execute(transaction);
    },
  };
}

const one = creates("0001_one");
const two = creates("0002_two");
const broken: Migration = {
  id: "0002_broken",
  async up(transaction) {
    await sql`create table half (id int)`.execute(transaction);
    await sql`insert into missing values (1)`.execute(transaction);
  },
};

async function exists(table: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select to_regclass(${table}) is not null as found`.execute(query);
  return rows[0]?.found === true;
}

it("runs what is missing, in order, once", async () => {
  expect(await migrate(query, [one], log)).toEqual(["0001_one"]);
  expect(await migrate(query, [one], log)).toEqual([]);
  expect(await migrate(query, [one, two], log)).toEqual(["0002_two"]);
  expect(await exists("t_0002_two")).toBe(true);
});

it("keeps nothing of a migration that fails, and all of those before it", async () => {
  const failure = migrate(query, [one, broken, creates("0003_three")], log);
  await expect(failure).rejects.toMatchObject({
    code: "migration_failed",
    message: 'Migration 0002_broken failed, and nothing of it was kept: relation "missing" does not exist.',
  });
  expect([await exists("t_0001_one"), await exists("half"), await exists("t_0003_three")]).toEqual([true, false, false]);
  expect(await migrate(query, [one, two], log)).toEqual(["0002_two"]);
});

it("changes nothing in a database that knows more than the program", async () => {
  await migrate(query, [one, two], log);
  await expect(migrate(query, [one, creates("0003_three")], log)).rejects.toMatchObject({ code: "schema_newer" });
  expect(await exists("t_0003_three")).toBe(false);
});

it("waits for another replica, says so, and runs nothing twice", async () => {
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let entered = false;
  const slow: Migration = {
    id: "0001_slow",
    async up(transaction) {
      entered = true;
      await sql`create table slow (id int)`.execute(transaction);
      await finished;
    },
  };
  const first = migrate(query, [slow], log);
  await vi.waitFor(
    () => {
      expect(entered).toBe(true);
    },
    { timeout: 15_000 },
  );
  const second = migrate(query, [slow], log);
  await vi.waitFor(
    () => {
      expect(log.lines).toContain("info waiting for another replica to finish its migrations {}");
    },
    { timeout: 10_000 },
  );
  finish();
  expect(await Promise.all([first, second])).toEqual([["0001_slow"], []]);
});
