import { Browser, BrowserPool } from "@shoal/schemas";
import { sql } from "kysely";
import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { connectCdp } from "../testing/cdp-client.ts";
import { type ServerProcess, type ServerProcesses, startServerProcesses } from "../testing/server-processes.ts";

let servers: ServerProcesses;
let one: ServerProcess;
let two: ServerProcess;

beforeAll(async () => {
  const started = await startServerProcesses();
  servers = started;
  one = started.one;
  two = await servers.start("two");
});
afterAll(() => servers.close());

/** @param target - method and path: `GET /browsers`. */
async function send(
  server: ServerProcess,
  target: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; body: unknown; headers: Headers }> {
  const [method = "", path = ""] = target.split(" ", 2);
  const response = await fetch(server.baseUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${servers.key}`,
      ...(body && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
}
async function create(server: ServerProcess, body: object = {}): Promise<Browser> {
  const answer = await send(server, "POST /browsers", { timeout_seconds: 600, ...body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return Browser.parse(answer.body);
}
const reasonOf = async (server: ServerProcess, id: string) =>
  Browser.parse((await send(server, `GET /browsers/${id}?include_deleted=true`)).body).ended_reason;
const files = async (server: ServerProcess, id: string) =>
  (await send(server, `GET /browsers/${id}/fs/list_files?path=/`)).status;
const serverOf = async (id: string) =>
  (await servers.database.query.selectFrom("sessions").select("server_id").where("id", "=", id).executeTakeFirst())
    ?.server_id;
const poolCounts = async (server: ServerProcess, id: string) => {
  const { available_count, acquired_count } = BrowserPool.parse((await send(server, `GET /browser_pools/${id}`)).body);
  return { available_count, acquired_count };
};

it("ends the sessions of a paused server once, and lets it register again", async () => {
  const session = await create(two, { name: "frozen" });
  const own = await create(one);
  const client = await connectCdp(
    session.cdp_ws_url.replace(two.baseUrl.replace("http", "ws"), one.baseUrl.replace("http", "ws")),
  );
  expect(await client.send("Browser.getVersion")).toHaveProperty("product");
  expect(await files(one, session.session_id)).toBe(200);

  two.child.kill("SIGSTOP");
  // Requests fail with Retry-After until the server is declared dead.
  const while_ = await send(one, `GET /browsers/${session.session_id}/fs/list_files?path=/`);
  expect([503, 404]).toContain(while_.status);
  if (while_.status === 503) expect(while_.headers.get("retry-after")).not.toBeNull();
  await client.closed;
  await expect.poll(() => reasonOf(one, session.session_id)).toBe("instance_lost");
  // Its name is free again.
  const next = await create(one, { name: "frozen" });

  two.child.kill("SIGCONT");
  // The session must not be reported as running any more.
  const woken = await send(two, `GET /browsers/${session.session_id}/fs/list_files?path=/`);
  expect([503, 404]).toContain(woken.status);
  await expect.poll(() => two.output()).toContain("declared this server dead");
  await expect.poll(() => files(two, session.session_id)).toBe(404);
  expect(await reasonOf(two, session.session_id)).toBe("instance_lost");
  // Both servers answer all requests again.
  expect(await files(two, next.session_id)).toBe(200);
  const again = await create(two);
  expect([await serverOf(again.session_id), await files(one, again.session_id)]).toEqual([two.id, 200]);
  expect(await reasonOf(two, own.session_id)).toBeUndefined();
  for (const id of [own.session_id, next.session_id, again.session_id])
    expect((await send(one, `DELETE /browsers/${id}`)).status).toBe(204);
});

it("cleans up after a server that is killed under load", async () => {
  const pool = BrowserPool.parse(
    (await send(one, "POST /browser_pools", { name: "survives", size: 2, fill_rate_per_minute: 100_000 })).body,
  ).id;
  await expect.poll(() => poolCounts(one, pool)).toEqual({ available_count: 2, acquired_count: 0 });
  const leased = Browser.parse(
    (await send(two, `POST /browser_pools/${pool}/acquire`, { acquire_timeout_seconds: 30 })).body,
  );
  expect(await serverOf(leased.session_id)).toBe(two.id);
  const kept = await create(one);
  const [lost, another] = await Promise.all([create(two, { name: "lost" }), create(two)]);
  let stopped = false;
  const statuses = new Set<number>();
  const ask = async () => {
    statuses.add(await files(one, kept.session_id));
  };
  // An answer whose head the killed server has sent is cut, so that the client cannot mistake it for a complete one.
  const askLost = () =>
    files(one, lost.session_id).then(
      (status) => statuses.add(status),
      (error: unknown) => {
        expect(error).toMatchObject({ message: "terminated" });
      },
    );
  const callers = Promise.allSettled(
    Array.from({ length: 8 }, async (_, index) => {
      while (!stopped) await (index % 2 === 0 ? ask() : askLost());
    }),
  );
  await expect.poll(() => statuses.has(200)).toBe(true);
  // A request that dies with its server, repeated on the other server with the same key.
  const key = { "idempotency-key": "survives" };
  void send(two, "POST /browsers", { name: "again" }, key).catch(() => undefined);
  await expect
    .poll(
      async () =>
        (
          await servers.database.query
            .selectFrom("idempotency_keys")
            .select("key")
            .where("key", "=", "survives")
            .execute()
        ).length,
    )
    .toBe(1);

  // Other operations that change rows, interrupted at any point.
  const profiles = Array.from({ length: 40 }, (_none, index) => ({
    name: `killed-${String(index)}`,
    key: { "idempotency-key": `killed-${String(index)}` },
  }));
  const asked = profiles.map(({ name, key: own }) => send(two, "POST /profiles", { name }, own).catch(() => undefined));
  await Promise.race(asked);

  const ended = once(two.child, "close");
  two.child.kill("SIGKILL");
  await ended;
  const killedAt = performance.now();
  const repeated = send(one, "POST /browsers", { name: "again" }, key);
  // Reported below.
  repeated.catch(() => undefined);
  await expect.poll(() => reasonOf(one, lost.session_id)).toBe("instance_lost");
  const tookMs = performance.now() - killedAt;
  expect(await reasonOf(one, another.session_id)).toBe("instance_lost");
  expect(await reasonOf(one, leased.session_id)).toBe("instance_lost");
  expect(
    await servers.database.query
      .selectFrom("sessions")
      .select("id")
      .where("server_id", "=", two.id)
      .where("ended_at", "is", null)
      .execute(),
  ).toEqual([]);
  process.stdout.write(`taken over after ${(tookMs / 1000).toFixed(1)} s\n`);
  // The session died with its server; 409 means that a retry is required.
  expect([200, 409]).toContain((await repeated).status);
  const firstAnswers = await Promise.all(asked);
  for (const [index, { name, key: own }] of profiles.entries()) {
    const answer = await send(one, "POST /profiles", { name }, own);
    expect(answer.status).toBe(201);
    const first = firstAnswers[index];
    if (first !== undefined) expect(answer.body).toEqual(first.body);
  }
  expect(
    await servers.database.query.selectFrom("profiles").select("name").where("name", "like", "killed-%").execute(),
  ).toHaveLength(profiles.length);
  await expect.poll(() => poolCounts(one, pool)).toEqual({ available_count: 2, acquired_count: 0 });
  stopped = true;
  expect((await callers).filter(({ status }) => status === "rejected")).toEqual([]);
  expect([...statuses].sort().filter((status) => ![200, 404, 503].includes(status))).toEqual([]);
  expect(await files(one, kept.session_id)).toBe(200);

  // The same server, in its own folder, without its earlier sessions.
  two = await servers.start("two");
  expect(await files(two, kept.session_id)).toBe(200);
  expect(await files(two, lost.session_id)).toBe(404);
  expect((await send(two, `DELETE /browser_pools/${pool}?force=true`)).status).toBe(204);
});

it("starts several servers at once, each of which serves the sessions of the others", async () => {
  const [three, four] = await Promise.all([servers.start("three"), servers.start("four")]);
  const session = await create(three);
  expect(await files(four, session.session_id)).toBe(200);
  for (const { child } of [three, four]) {
    const ended = once(child, "close");
    child.kill("SIGTERM");
    await ended;
  }
  expect(await reasonOf(one, session.session_id)).toBe("server_stopped");
});

it("does not start with another secret", async () => {
  await expect(
    servers.start("stranger", { SHOAL_SECRET_KEY: "quite another secret of 32 characters" }),
  ).rejects.toThrow("has a different secret");
});

it("does not start with a database of a newer version", async () => {
  await sql`insert into shoal_migrations (name, timestamp) values ('9999_future', now()::text)`.execute(
    servers.database.query,
  );
  await expect(servers.start("older")).rejects.toThrow("A newer Shoal migrated this database: it has 9999_future");
});
