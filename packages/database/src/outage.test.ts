import { randomInt } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDatabase } from "./open-database.ts";
import { outageOf } from "./outage.ts";
import { recordingLog } from "./testing/logs.ts";
import { startBundledServer, type TestServer } from "./testing/servers.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startBundledServer();
});
afterAll(() => server.stop());

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

it("classifies errors that a retry may solve", async () => {
  const url = await server.createDatabase();
  const database = await openDatabase({ url, dataDir: "", log: recordingLog() });
  const { query } = database;
  try {
    expect(outageOf(await failure(sql`select 1/0`.execute(query)))).toBeUndefined();
    expect(outageOf(await failure(sql`select * from nowhere`.execute(query)))).toBeUndefined();
    expect(
      outageOf(
        await failure(
          query.transaction().execute(async (transaction) => {
            await sql`set local statement_timeout = 50`.execute(transaction);
            await sql`select pg_sleep(10)`.execute(transaction);
          }),
        ),
      ),
    ).toBe("slow");
    const sleeping = failure(sql`select pg_sleep(30) as victim`.execute(query));
    await expect
      .poll(
        async () =>
          (
            await sql<{
              cut: boolean;
            }>`select pg_terminate_backend(pid) as cut from pg_stat_activity where state = 'active' and query like 'select pg_sleep(30)%'`.execute(
              query,
            )
          ).rows.length,
      )
      .toBeGreaterThan(0);
    expect(outageOf(await sleeping)).toBe("unreachable");
    expect((await sql<{ one: number }>`select 1 as one`.execute(query)).rows).toEqual([{ one: 1 }]);
  } finally {
    await database.close();
  }
  for (const value of [
    undefined,
    null,
    "53100",
    new Error("connection"),
    { code: "53100" },
    Object.assign(new Error("x"), { code: "ENOENT", syscall: "connect" }),
  ])
    expect(outageOf(value)).toBeUndefined();
  expect(outageOf(Object.assign(new Error("could not extend file"), { severity: "ERROR", code: "53100" }))).toBe(
    "full",
  );
  expect(outageOf(Object.assign(new Error("x"), { severity: "FATAL", code: "08006" }))).toBe("unreachable");
});

it("reports an unreachable server at once, and recovers with it", async () => {
  const target = new URL(await server.createDatabase());
  const sockets = new Set<Socket>();
  const proxy = createServer((inside) => {
    const outside = connect(Number(target.port), "127.0.0.1");
    for (const [socket, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  // Other programs do not take a port of this address while the proxy is down.
  const host = process.platform === "linux" ? `127.${[0, 0, 0].map(() => randomInt(1, 255)).join(".")}` : "127.0.0.1";
  proxy.listen(0, host);
  await once(proxy, "listening");
  const { port } = proxy.address() as { port: number };
  const url = new URL(target);
  url.host = `${host}:${String(port)}`;
  const database = await openDatabase({ url: url.href, dataDir: "", log: recordingLog() });
  try {
    const sleeping = failure(sql`select pg_sleep(30)`.execute(database.query));
    await expect.poll(() => sockets.size).toBeGreaterThan(2);
    proxy.close();
    cut();
    expect(outageOf(await sleeping)).toBe("unreachable");
    expect(outageOf(await failure(sql`select 1`.execute(database.query)))).toBe("unreachable");
    proxy.listen(port, host);
    await once(proxy, "listening");
    await expect.poll(() => failure(sql`select 1`.execute(database.query))).toBeUndefined();
  } finally {
    await database.close();
    cut();
    proxy.close();
  }
});
