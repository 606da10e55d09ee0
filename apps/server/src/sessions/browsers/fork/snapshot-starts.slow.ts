import { createId } from "@shoal/primitives";
import { Browser, type CreatedApiKey, Snapshot } from "@shoal/schemas";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { invocationRow } from "../../../testing/invocation-row.ts";
import { startTestServer, type TestServer } from "../../../testing/test-server.ts";

let server: TestServer;
let project: { id: string; key: string };
beforeAll(async () => {
  server = await startTestServer({ max_sessions: 3, dialects: ["webdriver"] });
  project = await server.addProject("shop");
});
afterAll(() => server.close());

async function create(body: object = {}): Promise<string> {
  const answer = await server.request("POST", "/browsers", {
    body: { timeout_seconds: 3600, ...body },
    key: project.key,
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return Browser.parse(answer.body).session_id;
}

const snapshotOf = (id: string, body: object = {}, key = project.key) =>
  server.request("POST", `/browsers/${id}/snapshots`, { body, key });

async function take(id: string, body: object = {}): Promise<string> {
  const answer = await snapshotOf(id, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return Snapshot.parse(answer.body).id;
}

const start = (id: string, key = project.key) =>
  server.request("POST", "/browsers", { body: { snapshot: { id }, timeout_seconds: 3600 }, key });

const remove = async (id: string) => (await server.request("DELETE", `/browsers/${id}`, { key: project.key })).status;

/** A key of the organization, whose resources begin with the project. */
async function keyOf(...statements: readonly (readonly [action: string, place: string])[]): Promise<string> {
  const policy = {
    statements: statements.map(([action, place]) => ({ action, resource: `projects/${project.id}/${place}` })),
  };
  const made = await server.request("POST", "/org/api_keys", { body: { name: "limited", policy } });
  expect(made.status, JSON.stringify(made.body)).toBeLessThan(300);
  return (made.body as CreatedApiKey).key;
}

async function setOptions(snapshot: string, options: object): Promise<void> {
  await server.database.query
    .updateTable("snapshots")
    .set({ settings: sql`jsonb_set(settings::jsonb, '{row,options}', ${JSON.stringify(options)}::jsonb)` as never })
    .where("id", "=", snapshot)
    .execute();
}

it("refuses a key with a right to one session the snapshots of other sessions", async () => {
  const [own, other] = [await create(), await create()];
  const [ofOwn, ofOther] = [await take(own, { stop: true }), await take(other, { stop: true })];
  const key = await keyOf(["operation:browsers.create", "*"], ["role:operator", `browsers/${own}`]);
  expect(await start(ofOther, key)).toMatchObject({
    status: 403,
    body: { code: "insufficient_scope", message: expect.stringContaining("body.snapshot") as unknown },
  });
  const started = await start(ofOwn, key);
  expect(started.status, JSON.stringify(started.body)).toBe(200);
  expect(await remove(Browser.parse(started.body).session_id)).toBe(204);
});

it("asks clients of WebDriver for the same rights", async () => {
  const withOptions = (options: object, key: string) =>
    server.request("POST", "/wd/hub/session", {
      body: { capabilities: { alwaysMatch: { "shoal:options": options } } },
      key,
    });
  const [own, other] = [await create(), await create()];
  const [ofOwn, ofOther] = [await take(own, { stop: true }), await take(other, { stop: true })];
  const creates = ["operation:browsers.create", "*"] as const;
  const connects = ["operation:browsers.cdp.connect", "*"] as const;
  const refused = { status: 403, body: { value: { message: expect.stringContaining("body.snapshot") as unknown } } };
  const without = await keyOf(creates, connects);
  expect(await withOptions({ snapshot: { id: ofOwn } }, without)).toMatchObject(refused);
  const narrow = await keyOf(creates, connects, ["operation:browsers.snapshot", `browsers/${own}`]);
  expect(await withOptions({ snapshot: { id: ofOther } }, narrow)).toMatchObject(refused);
  // The key of the project passes the check of rights, so that its vault is looked up.
  const vaults = { vaults: [{ name: "none" }] };
  expect(await withOptions(vaults, without)).toMatchObject({ status: 403 });
  expect(await withOptions(vaults, project.key)).toMatchObject({
    body: { value: { message: expect.stringContaining("none") as unknown } },
  });
});

it("refuses snapshots to a key that cannot start sessions", async () => {
  const id = await create();
  const key = await keyOf(["role:operator", `browsers/${id}`]);
  expect(await snapshotOf(id, {}, key)).toMatchObject({ status: 403, body: { code: "insufficient_scope" } });
  expect(await remove(id)).toBe(204);
});

it("refuses stop to a key that cannot end the session, before a snapshot is stored", async () => {
  const id = await create();
  const key = await keyOf(["operation:browsers.create", "*"], ["operation:browsers.snapshot", "*"]);
  expect(await snapshotOf(id, { stop: true }, key)).toMatchObject({
    status: 403,
    body: { code: "insufficient_scope", message: expect.stringContaining("body.stop") as unknown },
  });
  const list = await server.request("GET", `/snapshots?session_id=${id}`, { key: project.key });
  expect(list).toMatchObject({ status: 200, body: [] });
  expect((await snapshotOf(id, {}, key)).status).toBe(201);
  expect(await remove(id)).toBe(204);
});

it("starts a session of an invocation that has ended", async () => {
  const invocation = createId();
  await server.database.query
    .insertInto("invocations")
    .values(invocationRow({ id: invocation, project_id: project.id }))
    .execute();
  const snapshot = await take(await create({ invocation_id: invocation }), { stop: true });
  await server.database.query
    .updateTable("invocations")
    .set({ status: "succeeded", finished_at: sql`now()` })
    .where("id", "=", invocation)
    .execute();
  const started = await start(snapshot);
  expect(started.status, JSON.stringify(started.body)).toBe(200);
  expect(await remove(Browser.parse(started.body).session_id)).toBe(204);
});

it("starts a restored snapshot of a forkable session on a server that cannot fork, and names settings it lacks", async () => {
  const snapshot = await take(await create(), { stop: true });
  await setOptions(snapshot, { forkable: true, sleep_after_seconds: 60 });
  const started = await start(snapshot);
  expect(started.status, JSON.stringify(started.body)).toBe(200);
  expect(await remove(Browser.parse(started.body).session_id)).toBe(204);
  await setOptions(snapshot, { private_hosts: ["127.0.0.1"] });
  expect(await start(snapshot)).toMatchObject({
    status: 409,
    body: { code: "snapshot_incompatible", message: expect.stringContaining("network.private_hosts") as unknown },
  });
});

it("takes a snapshot on a server at its limit of sessions", async () => {
  const ids = [await create(), await create(), await create()];
  expect((await start(await take(ids[0] ?? ""))).status).toBe(529);
  for (const id of ids) expect(await remove(id)).toBe(204);
});
