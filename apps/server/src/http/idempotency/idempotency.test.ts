import { CreatedApiKey } from "@shoal/schemas";
import { sql } from "kysely";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { createSecrets } from "../../storage/secrets.ts";
import { startTestServer, type TestRequest, type TestServer } from "../../testing/test-server.ts";
import { ClaimedWork, type ClaimedWorkParts as WorkParts } from "./claimed-work.ts";
import { createRowWork } from "./row-work.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

function claimedWorkOf(parts: WorkParts) {
  const work = new ClaimedWork(parts);
  return work.run.bind(work);
}

const post = (path: string, idempotencyKey: string, request: TestRequest = {}) =>
  server.request("POST", path, { ...request, headers: { "idempotency-key": idempotencyKey } });

it("returns the first answer again, including status and secret, and stores it encrypted", async () => {
  const key = randomUUID();
  const first = await post("/org/api_keys", key, { body: { name: "twice" } });
  const second = await post("/org/api_keys", key, { body: { name: "twice" } });
  expect(first.status).toBe(201);
  expect(second).toMatchObject({ status: 201, body: first.body });
  const { key: secret } = CreatedApiKey.parse(first.body);
  const [row] = await server.database.query.selectFrom("idempotency_keys").selectAll().where("key", "=", key).execute();
  expect(row?.response?.toString("latin1")).not.toContain(secret);
  expect(row?.response?.toString("latin1")).not.toContain("twice");
});

it("does the work once for many concurrent requests", async () => {
  const key = randomUUID();
  const replies = await Promise.all(
    Array.from({ length: 10 }, () => post("/profiles", key, { body: { name: "once only" } })),
  );
  expect(new Set(replies.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
  expect(replies[0]?.status).toBe(201);
});

it("refuses the key for another request: body, operation or project", async () => {
  const key = randomUUID();
  await post("/profiles", key, { body: { name: "mine" } });
  for (const [path, request] of [
    ["/profiles", { body: { name: "other" } }],
    ["/org/api_keys", { body: { name: "mine" } }],
  ] as const) {
    expect(await post(path, key, request)).toMatchObject({ status: 422, body: { code: "idempotency_conflict" } });
  }
  const project = await server.addProject("idempotent");
  const elsewhere = await server.request("POST", "/profiles", {
    body: { name: "mine" },
    headers: { "idempotency-key": key, "x-shoal-project": project.id },
  });
  expect(elsewhere).toMatchObject({ status: 422, body: { code: "idempotency_conflict" } });
});

it("treats the same key of another API key as another request", async () => {
  const key = randomUUID();
  const project = await server.addProject("apart");
  expect((await post("/profiles", key, { body: { name: "apart" } })).status).toBe(201);
  expect((await post("/profiles", key, { key: project.key, body: { name: "other body" } })).status).toBe(201);
});

it("remembers a refusal, but not a check that failed", async () => {
  await server.request("POST", "/profiles", { body: { name: "taken" } });
  const key = randomUUID();
  const refused = await post("/profiles", key, { body: { name: "taken" } });
  expect(refused.status).toBe(409);
  await server.request("DELETE", "/profiles/taken");
  expect(await post("/profiles", key, { body: { name: "taken" } })).toMatchObject({ status: 409, body: refused.body });
  const unchecked = randomUUID();
  expect((await post("/profiles", unchecked, { body: { name: "" } })).status).toBe(400);
  expect((await post("/profiles", unchecked, { body: { name: "now good" } })).status).toBe(201);
});

it("does not remember a failure of the service", async () => {
  const key = randomUUID();
  await server.database.query.schema.alterTable("profiles").renameTo("profiles_away").execute();
  try {
    expect((await post("/profiles", key, { body: { name: "later" } })).status).toBe(500);
  } finally {
    await server.database.query.schema.alterTable("profiles_away").renameTo("profiles").execute();
  }
  expect((await post("/profiles", key, { body: { name: "later" } })).status).toBe(201);
});

it("is not blocked forever by a server that died during the request", async () => {
  const key = randomUUID();
  await post("/profiles", key, { body: { name: "abandoned" } });
  await server.request("DELETE", "/profiles/abandoned");
  const claim = (ageMs: number) =>
    server.database.query
      .updateTable("idempotency_keys")
      .set({ status: 0, response: null, created_at: new Date(Date.now() - ageMs).toISOString() })
      .where("key", "=", key)
      .execute();
  await claim(10 * 60_000);
  expect((await post("/profiles", key, { body: { name: "abandoned" } })).status).toBe(201);
});

it.each([
  ["effects outside of the database", claimedWorkOf],
  ["changes of rows", createRowWork],
])("holds a key while the server of its request runs, however long it takes: %s", async (_title, workOf) => {
  const key = randomUUID();
  await post("/profiles", key, { body: { name: key } });
  const { query } = server.database;
  const rows = query.selectFrom("idempotency_keys").selectAll().where("key", "=", key);
  const { fingerprint, scope, server_id: owner } = await rows.executeTakeFirstOrThrow();
  const running = await query.selectFrom("servers").select("id").execute();
  expect(running.map(({ id }) => id)).toContain(owner);
  const dayAgo = sql<string>`clock_timestamp() - interval '1 day'`;
  const update = query.updateTable("idempotency_keys").where("key", "=", key);
  await update.set({ status: 0, response: null, created_at: dayAgo }).execute();
  const parts = {
    database: server.database,
    secrets: createSecrets("a secret of the test"),
    log: pino({ level: "silent" }),
  };
  const run = workOf({ ...parts, retentionMs: 1e9, serverId: "another" });
  const repeated = () => run({ scope, key, fingerprint }, 201, () => "done again");
  expect(await repeated()).toBeUndefined();
  // As after the loss of its server.
  await update.set({ server_id: "gone" }).execute();
  expect(await repeated()).toEqual({ value: "done again" });
});

it("waits for the first request on another server, and answers with its answer", async () => {
  const key = randomUUID();
  const first = await post("/profiles", key, { body: { name: "elsewhere" } });
  const [row] = await server.database.query.selectFrom("idempotency_keys").selectAll().where("key", "=", key).execute();
  if (row === undefined) throw new Error("no row");
  await server.database.query
    .updateTable("idempotency_keys")
    .set({ status: 0, response: null })
    .where("key", "=", key)
    .execute();
  const repeated = post("/profiles", key, { body: { name: "elsewhere" } });
  // An answer that does not wait arrives within milliseconds.
  const unansweredMs = 300;
  expect(await Promise.race([repeated, delay(unansweredMs, "waits")])).toBe("waits");
  // The clock of the machine may be set meanwhile.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  expect(await Promise.race([repeated, delay(unansweredMs, "waits")])).toBe("waits");
  await server.database.query
    .updateTable("idempotency_keys")
    .set({ status: row.status, response: row.response })
    .where("key", "=", key)
    .execute();
  expect(await repeated).toMatchObject({ status: 201, body: first.body });
});

it("forgets an answer after its retention", async () => {
  const key = randomUUID();
  await post("/profiles", key, { body: { name: "old" } });
  await server.database.query
    .updateTable("idempotency_keys")
    .set({ created_at: new Date(Date.now() - 25 * 3_600_000).toISOString() })
    .where("key", "=", key)
    .execute();
  expect((await post("/profiles", key, { body: { name: "new" } })).status).toBe(201);
});

it.each(["", "x".repeat(256), "tab\tinside"])("refuses the key %j", async (key) => {
  expect((await post("/profiles", key, { body: {} })).status).toBe(400);
});
