import { testLimitMs } from "@shoal/testkit";
import { Kysely, PostgresDialect, sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type ClosablePool, createPool } from "./connect.ts";
import { type HeldConnection, joining, type OneTransaction } from "./one-transaction.ts";
import { outageOf } from "./outage.ts";
import { preparing } from "./prepared-statements.ts";
import { recordingLog } from "./testing/logs.ts";
import { runOn, startBundledServer, type TestServer } from "./testing/servers.ts";

interface Notes {
  readonly notes: { readonly text: string };
}

let server: TestServer;
let url: string;
let only: ClosablePool;
let query: Kysely<Notes>;
let one: OneTransaction;
beforeAll(async () => {
  server = await startBundledServer();
  url = await server.createDatabase();
  await runOn(url, "create table notes (text text primary key)");
  only = createPool({ url }, recordingLog(), 1);
  ({ one, query } = patientFor(testLimitMs));
});
/** Queries on the only connection, which wait for each other for the given time. */
function patientFor(ms: number): { readonly one: OneTransaction; readonly query: Kysely<Notes> } {
  const { pool, ...rest } = joining(
    preparing(only.pool, () => testLimitMs),
    ms,
  );
  return { one: rest, query: new Kysely<Notes>({ dialect: new PostgresDialect({ pool }) }) };
}
afterAll(async () => {
  await only.close();
  await server.stop();
});
beforeEach(async () => {
  await query.deleteFrom("notes").execute();
});

const write = (text: string, to: Kysely<Notes> = query) => to.insertInto("notes").values({ text }).execute();
const kept = async () =>
  (await query.selectFrom("notes").select("text").orderBy("text").execute()).map(({ text }) => text);

const together = <Result>(work: () => Result | Promise<Result>) =>
  one.hold(async (connection) => {
    await connection.send("begin");
    const result = await connection.share(work);
    await connection.send("commit");
    return result;
  });

it("runs concurrent queries and nested transactions of the work on one connection", async () => {
  await together(async () => {
    expect(one.isJoined()).toBe(true);
    await write("a");
    await query.transaction().execute(async (part) => {
      await write("b", part);
      await write("c", part);
    });
    await expect(
      query.transaction().execute(async (part) => {
        await write("lost", part);
        await write("a", part);
      }),
    ).rejects.toMatchObject({ code: "23505" });
    await Promise.all(
      Array.from({ length: 20 }, async (_none, index) => {
        if (index % 2 === 0) await write(`many ${String(index).padStart(2, "0")}`);
        else {
          await query
            .transaction()
            .execute(async (part) => {
              await write(`many ${String(index).padStart(2, "0")}`, part);
              if (index % 4 === 1) throw new Error("given up");
            })
            .catch(() => undefined);
        }
      }),
    );
    expect(await kept()).toHaveLength(18);
  });
  expect(one.isJoined()).toBe(false);
  expect(await kept()).toEqual([
    "a",
    "b",
    "c",
    ...[0, 2, 3, 4, 6, 7, 8, 10, 11, 12, 14, 15, 16, 18, 19].map((index) => `many ${String(index).padStart(2, "0")}`),
  ]);
});

it("rolls back work that fails or is not committed, and resets the connection", async () => {
  const failed = together(async () => {
    await write("a");
    await query.transaction().execute((part) => write("b", part));
    throw new Error("no");
  });
  await expect(failed).rejects.toThrow("no");
  await one.hold(async (connection) => {
    await connection.send("begin");
    await connection.share(() => write("c"));
  });
  expect(await kept()).toEqual([]);
});

it("sends several statements at once, and stops at the first failure", async () => {
  const rows = await one.hold((connection) =>
    connection.send("select 1 as a; select 2 as b, 'x' as c; insert into notes values ('sent')"),
  );
  expect(rows).toEqual([[{ a: 1 }], [{ b: 2, c: "x" }], []]);
  await expect(
    one.hold((connection) => connection.send("begin; insert into notes values ('sent'); commit")),
  ).rejects.toMatchObject({
    code: "23505",
  });
  expect(await kept()).toEqual(["sent"]);
});

it("runs queries that the work left running on the pool", async () => {
  const started = Promise.withResolvers<undefined>();
  let left: Promise<unknown> = Promise.resolve();
  await together(async () => {
    await write("in it");
    left = (async () => {
      await started.promise;
      expect(one.isJoined()).toBe(false);
      await query.transaction().execute((transaction) => write("after it", transaction));
      await write("a", query);
    })();
  });
  await one.hold(async (connection) => {
    // Otherwise this rollback would include the next steps.
    await connection.send("begin");
    started.resolve(undefined);
  });
  await left;
  expect(await kept()).toEqual(["a", "after it", "in it"]);
});

it("waits for a nested transaction that the work left open, and runs later queries on the pool", async () => {
  const go = Promise.withResolvers<undefined>();
  const isIn = Promise.withResolvers<undefined>();
  let left: Promise<unknown> = Promise.resolve();
  let late: Promise<unknown> = Promise.resolve();
  const done = together(async () => {
    left = query.transaction().execute(async (part) => {
      await write("part", part);
      isIn.resolve(undefined);
      await go.promise;
      await write("part too", part);
    });
    await isIn.promise;
    late = write("late");
  });
  await isIn.promise;
  go.resolve(undefined);
  await Promise.all([done, left, late]);
  expect(await kept()).toEqual(["late", "part", "part too"]);
});

it("times out a query that waits for itself", async () => {
  const short = patientFor(200);
  const failure: unknown = await short.one
    .hold(async (connection) => {
      await connection.send("begin");
      await connection.share(() =>
        short.query.transaction().execute(() => write("not in the part that it waits for", short.query)),
      );
    })
    .catch((error: unknown) => error);
  expect(outageOf(failure)).toBe("busy");
  expect(await kept()).toEqual([]);
});

it("runs tasks after the end of the transaction, successful or not, and at once outside one", async () => {
  const seen: unknown[] = [];
  const look = async (what: string) => seen.push([what, one.isJoined(), await kept()]);
  await one.afterwards(async () => {
    await look("at once");
  });
  expect(seen).toHaveLength(1);
  await together(async () => {
    await one.afterwards(async () => {
      await look("committed");
    });
    await write("a");
    expect(seen).toHaveLength(1);
  });
  await together(async () => {
    await one.afterwards(async () => {
      await look("rolled back");
    });
    await write("b");
    throw new Error("no");
  }).catch(() => undefined);
  expect(seen).toEqual([
    ["at once", false, []],
    ["committed", false, ["a"]],
    ["rolled back", false, ["a"]],
  ]);
});

it("refuses a nested transaction with an isolation level", async () => {
  await expect(
    together(() =>
      query
        .transaction()
        .setIsolationLevel("serializable")
        .execute(() => Promise.resolve()),
    ),
  ).rejects.toThrow("isolation level");
  expect(await kept()).toEqual([]);
});

it("discards a broken connection", async () => {
  let pid: unknown;
  const broken = one.hold(async (connection: HeldConnection) => {
    [[{ pid } = { pid: 0 }] = []] = await connection.send("select pg_backend_pid() as pid");
    await connection.send("begin");
    await connection.share(() => write("a"));
    await runOn(url, `select pg_terminate_backend(${String(pid)})`);
    await connection.send("commit");
  });
  expect(outageOf(await broken.catch((error: unknown) => error))).toBe("unreachable");
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(query);
  expect(rows[0]?.pid).not.toBe(pid);
  expect(await kept()).toEqual([]);
});
