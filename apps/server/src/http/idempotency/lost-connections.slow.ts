import { contract } from "@shoal/contract";
import { openDatabase } from "@shoal/database";
import { repeatable } from "@shoal/router";
import { CreatedApiKey } from "@shoal/schemas";
import { randomUUID } from "node:crypto";
import { dirname } from "node:path";
import { PassThrough } from "node:stream";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLog } from "../../log/log.ts";
import type { Access } from "../auth/access.ts";
import { createSecrets } from "../../storage/secrets.ts";
import { blockedStatements } from "../../testing/blocked-statements.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../testing/database-proxy.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { createIdempotency } from "./idempotency.ts";

let server: TestServer;
let proxy: DatabaseProxy;
beforeAll(async () => {
  server = await startTestServer({}, { proxied: true });
  if (server.proxy === undefined) throw new Error("unreachable");
  ({ proxy } = server);
  await server.request("POST", "/profiles", { body: { name: "original" } });
  originalKey = CreatedApiKey.parse(
    (await server.request("POST", "/org/api_keys", { body: { name: "original" } })).body,
  ).id;
});
afterAll(() => server.close());
let originalKey: string;

const post = (path: string, key: string, body: unknown) =>
  server.request("POST", path, { body, headers: { "idempotency-key": key } });
const countOf = async (table: string) =>
  (await sql<{ count: number }>`select count(*)::int as count from ${sql.table(table)}`.execute(server.database.query))
    .rows[0]?.count ?? NaN;
const address = (host: string) => ({ type: "custom", protocol: "http", config: { host, port: 3128 } });

/** Operations that only change rows: path, body, and the table whose rows count the effect. */
const operations: readonly (readonly [
  string,
  (name: string) => { readonly path: string; readonly body: unknown; readonly table: string },
])[] = [
  ["profiles.create", (name) => ({ path: "/profiles", body: { name }, table: "profiles" })],
  ["profiles.clone", (name) => ({ path: "/profiles/original/clone", body: { name }, table: "profiles" })],
  ["apiKeys.create", (name) => ({ path: "/org/api_keys", body: { name }, table: "api_keys" })],
  ["apiKeys.rotate", () => ({ path: `/org/api_keys/${originalKey}/rotate`, body: {}, table: "api_keys" })],
  ["projects.create", (name) => ({ path: "/org/projects", body: { name }, table: "projects" })],
  ["proxies.create", (name) => ({ path: "/proxies", body: { name, ...address("proxy.example") }, table: "proxies" })],
  [
    "telemetry.destinations.create",
    (name) => ({
      path: "/telemetry/destinations",
      body: { name, endpoint: "https://otlp.example" },
      table: "telemetry_destinations",
    }),
  ],
  [
    "browserPools.create",
    (name) => ({ path: "/browser_pools", body: { name, size: 1, fill_rate_per_minute: 0 }, table: "browser_pools" }),
  ],
];

it.each(operations)("returns the answer that was lost after the commit: %s", async (operation, request) => {
  const { body, path, table } = request(`after-${operation}`);
  const key = randomUUID();
  const before = await countOf(table);
  const cut = proxy.cutAt("; commit", "after");
  expect(await post(path, key, body)).toMatchObject({ status: 503, body: { code: "database_unavailable" } });
  await cut;
  const repeated = await post(path, key, body);
  expect(repeated.status).toBeLessThan(300);
  expect(await countOf(table)).toBe(before + 1);
  expect(await post(path, key, body)).toMatchObject({ status: repeated.status, body: repeated.body });
  expect(await countOf(table)).toBe(before + 1);
});

it.each(operations)(
  "repeats all of the work when the connection was lost before the commit: %s",
  async (operation, request) => {
    const { body, path, table } = request(`before-${operation}`);
    const key = randomUUID();
    const before = await countOf(table);
    const cut = proxy.cutAt("; commit", "before");
    expect(await post(path, key, body)).toMatchObject({ status: 503, body: { code: "database_unavailable" } });
    await cut;
    expect(await countOf(table)).toBe(before);
    const repeated = await post(path, key, body);
    expect(repeated.status).toBeLessThan(300);
    expect(await countOf(table)).toBe(before + 1);
    expect(await post(path, key, body)).toMatchObject({ status: repeated.status, body: repeated.body });
  },
);

it("lets a repetition wait for the first request while its outcome is unknown", async () => {
  const key = randomUUID();
  // For the service, the first connection is gone, but its transaction continues in the database.
  const blocked = await server.database.query.transaction().execute(async (transaction) => {
    await transaction
      .insertInto("profiles")
      .values({ id: randomUUID(), project_id: await standardProject(), name: "contended", created_at: new Date() })
      .execute();
    const first = post("/profiles", key, { name: "contended" });
    await expect.poll(() => blockedStatements(server.database, 'insert into "profiles"%')).toBe(1);
    proxy.cut();
    expect((await first).status).toBe(503);
    return [post("/profiles", key, { name: "contended" })];
  });
  // The result of the first request holds for both, or it was rolled back and the second one found the same.
  expect(await blocked[0]).toMatchObject({ status: 409, body: { code: "name_taken" } });
});

it("frees the key of a request with effects outside the database as soon as the database is back", async () => {
  const key = randomUUID();
  const cut = proxy.cutAt('delete from "idempotency_keys"', "before");
  const claim = () =>
    server.database.query.selectFrom("idempotency_keys").select("status").where("key", "=", key).execute();
  // The pools of the earlier tests have more browsers.
  const limits = (max_concurrent_sessions: number) =>
    server.request("PATCH", "/org/projects/default/limits", { body: { max_concurrent_sessions } });
  expect((await limits(1)).status).toBe(200);
  expect((await post("/browsers", key, {})).status).toBe(429);
  await cut;
  await expect.poll(claim).toEqual([]);
  expect((await limits(0)).status).toBe(200);
});

it("stores the answer of this request as soon as the database is back, and returns it to an earlier repetition", async () => {
  const key = randomUUID();
  const cut = proxy.cutAt('update "idempotency_keys"', "before");
  const first = await post("/browsers", key, { name: "once" });
  await cut;
  expect(first.status).toBe(200);
  expect(await post("/browsers", key, { name: "once" })).toMatchObject({ status: 200, body: first.body });
  expect((await server.request("DELETE", "/browsers/once")).status).toBe(204);
});

it("costs three round trips including the handler's one, and two for a repetition", async () => {
  const way = await startDatabaseProxy(server.databaseUrl, dirname(server.dataDir));
  const silent = () => undefined;
  const database = await openDatabase({
    url: way.url,
    dataDir: "",
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
  try {
    const log = await createLog({ log_level: "info", log_format: "json" }, new PassThrough().resume());
    const idempotency = createIdempotency({
      database,
      secrets: createSecrets("a secret of the test"),
      retentionMs: 60_000,
      serverId: "a server",
      region: "here",
      log,
    });
    const project_id = await standardProject();
    const create = repeatable<typeof contract.createProfile, Access>(
      contract.createProfile,
      async () => {
        const row = { id: randomUUID(), name: null, created_at: new Date().toISOString() };
        await database.query
          .insertInto("profiles")
          .values({ ...row, project_id })
          .execute();
        return row;
      },
      idempotency,
    );
    const ask = async (key: string) => {
      const before = way.answers;
      const profile = await create({
        params: {},
        query: {},
        body: {},
        headers: { "idempotency-key": key },
        context: { key: { id: "k" }, projectId: project_id },
      } as unknown as Parameters<typeof create>[0]);
      return { profile, answers: way.answers - before };
    };
    await ask(randomUUID());
    const key = randomUUID();
    const first = await ask(key);
    expect(first.answers).toBe(3);
    expect(await ask(key)).toEqual({ profile: first.profile, answers: 2 });
  } finally {
    await database.close();
    way.close();
  }
});

it("is not stuck when more requests run at once than there are connections", async () => {
  const requests = Array.from({ length: 48 }, (_none, index) => {
    const [operation = "", request] = operations[index % (operations.length - 1)] ?? [];
    if (request === undefined) throw new Error("unreachable");
    const { body, path } = request(`many-${operation}-${String(index)}`);
    return post(path, randomUUID(), body);
  });
  expect(new Set((await Promise.all(requests)).map(({ status }) => status))).toEqual(new Set([201]));
});

async function standardProject(): Promise<string> {
  return (
    await server.database.query
      .selectFrom("projects")
      .select("id")
      .where("is_default", "=", true)
      .executeTakeFirstOrThrow()
  ).id;
}
