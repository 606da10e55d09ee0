import { Browser, type CreatedApiKey, Snapshot } from "@shoal/schemas";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/test-server.ts";

let server: TestServer;
let site: Server;
let address: string;
/** Of the admin key. */
let projectId: string;
beforeAll(async () => {
  server = await startTestServer({ allow_private_hosts: ["127.0.0.1"], snapshot_max: 3 });
  const projects = await server.request("GET", "/org/projects");
  projectId = (projects.body as { id: string }[])[0]?.id ?? "";
  site = createServer((request, response) => {
    if (request.url === "/login") response.setHeader("set-cookie", "user=ada; HttpOnly");
    response
      .setHeader("content-type", "text/html")
      .end(`<title>${request.headers.cookie ?? "no cookie"}</title><input name="q">`);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}`;
});
afterAll(async () => {
  site.closeAllConnections();
  site.close();
  await server.close();
});

async function create(body: object, key?: string): Promise<Browser> {
  const answer = await server.request("POST", "/browsers", {
    body: { timeout_seconds: 3600, ...body },
    ...(key && { key }),
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return Browser.parse(answer.body);
}

async function act(id: string, body: object): Promise<void> {
  const answer = await server.request("POST", `/browsers/${id}/act`, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

async function take(id: string, body: object = {}): Promise<Snapshot> {
  const answer = await server.request("POST", `/browsers/${id}/snapshots`, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return Snapshot.parse(answer.body);
}

const remove = async (id: string) => (await server.request("DELETE", `/snapshots/${id}`)).status;
const outlineOf = async (id: string): Promise<unknown> =>
  (await server.request("POST", `/browsers/${id}/observe`, { body: {} })).body;
const blobs = () => readdirSync(join(server.dataDir, "blobs", "snapshots"));

it("starts sessions with the login, the page and the text of a session that has ended", async () => {
  const parent = await create({ tags: { team: "a" }, max_duration_seconds: 3600 });
  await act(parent.session_id, { type: "navigate", url: `${address}/login` });
  await act(parent.session_id, { type: "navigate", url: `${address}/form` });
  await act(parent.session_id, { type: "fill", role: "textbox", text: "half a sentence" });
  const snapshot = await take(parent.session_id, { name: "signed in", stop: true });
  expect(snapshot).toMatchObject({ name: "signed in", engine: "restored", paused_ms: 0 });
  expect(snapshot.not_exact_because).toContain("forkable");
  expect((await server.request("GET", `/browsers/${parent.session_id}`)).status).toBe(404);
  const [blob = ""] = blobs();
  const bytes = readFileSync(join(server.dataDir, "blobs", "snapshots", blob));
  expect(bytes.length).toBe(snapshot.size_bytes);
  expect(bytes.subarray(0, 5).toString()).toBe("shoal");
  const ref = { snapshot: { id: snapshot.id } };
  for (const wishes of [{ name: "again", tags: { team: "b" } }, {}]) {
    const { session_id: id, ...started } = await create({ ...ref, ...wishes });
    expect(started).toMatchObject({
      tags: { team: "a" },
      ...wishes,
      snapshot_id: snapshot.id,
      forked_from: parent.session_id,
      max_duration_seconds: 3600,
    });
    expect(await outlineOf(id)).toMatchObject({
      url: `${address}/form`,
      title: "user=ada",
      outline: expect.stringContaining("half a sentence") as unknown,
    });
  }
  expect((await server.request("GET", `/snapshots?session_id=${parent.session_id}`)).body).toEqual([snapshot]);
  expect((await server.request("GET", `/snapshots/${snapshot.id}`)).body).toEqual(snapshot);
  expect(await remove(snapshot.id)).toBe(204);
  expect(blobs()).toEqual([]);
  expect(await server.request("POST", "/browsers", { body: ref })).toMatchObject({
    status: 404,
    body: { message: expect.stringContaining("body.snapshot") as unknown },
  });
});

it("refuses other settings than those of the snapshot, and names the field", async () => {
  const { id } = await take((await create({})).session_id);
  for (const body of [{ stealth: true }, { start_url: "about:blank" }, { profile: { name: "x" } }, { forkable: true }])
    expect(await server.request("POST", "/browsers", { body: { snapshot: { id }, ...body } })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(`body.${Object.keys(body)[0] ?? ""}: not available with`) as unknown },
    });
  expect(await remove(id)).toBe(204);
});

it("limits the snapshots of a project, before the session is touched", async () => {
  const { session_id: id } = await create({});
  const taken = [await take(id), await take(id), await take(id)];
  expect(await server.request("POST", `/browsers/${id}/snapshots`, { body: { stop: true } })).toMatchObject({
    status: 409,
    body: { code: "conflict", message: expect.stringContaining("snapshot_max") as unknown },
  });
  expect((await server.request("GET", `/browsers/${id}`)).status).toBe(200);
  for (const { id: one } of taken) expect(await remove(one)).toBe(204);
});

it("refuses keys without the right to the files of sessions", async () => {
  const parent = await create({});
  const { id } = await take(parent.session_id);
  const keyOf = async (...statements: readonly (readonly [string, string])[]): Promise<string> => {
    const policy = { statements: statements.map(([action, resource]) => ({ action, resource })) };
    const made = await server.request("POST", "/org/api_keys", { body: { name: "limited", policy } });
    return (made.body as CreatedApiKey).key;
  };
  const start = async (key: string) =>
    (await server.request("POST", "/browsers", { body: { snapshot: { id } }, key })).status;
  const all = `projects/${projectId}/*`;
  const creator = await keyOf(["browsers:use", all], ["browsers:create", all]);
  expect(await start(creator)).toBe(403);
  expect((await server.request("GET", "/snapshots", { key: creator })).status).toBe(403);
  expect((await server.request("POST", `/browsers/${parent.session_id}/snapshots`, { key: creator })).status).toBe(403);
  expect(await start(await keyOf(["role:viewer", `projects/${projectId}/*`]))).toBe(403);
  expect(await start(await keyOf(["role:operator", `projects/${projectId}/*`]))).toBe(200);
  const other = await server.addProject("other");
  expect(await start(other.key)).toBe(404);
  expect(await remove(id)).toBe(204);
});

it("closes a session of a snapshot to programs after a stored value was typed in its original", async () => {
  const stored = { name: "notes", domain: new URL(address).host, values: { code: "stored-value-7" } };
  expect((await server.request("POST", "/credentials", { body: stored })).status).toBe(201);
  const parent = await create({});
  await act(parent.session_id, { type: "navigate", url: `${address}/form` });
  const secret = { credential: "notes", field: "code" };
  await act(parent.session_id, { type: "fill", role: "textbox", secret });
  const { id } = await take(parent.session_id, { stop: true });
  const started = await create({ snapshot: { id } });
  const policy = { statements: [{ action: "role:operator", resource: `projects/${projectId}/*` }] };
  const made = await server.request("POST", "/org/api_keys", { body: { name: "operator", policy } });
  const { key } = made.body as CreatedApiKey;
  const answer = await server.request("GET", `/browsers/${started.session_id}/fs/list_files?path=/`, { key });
  expect(answer).toMatchObject({ status: 403, body: { message: expect.stringContaining("stored value") as unknown } });
  expect(await remove(id)).toBe(204);
});

it("deletes snapshots with their project, and after their time", async () => {
  const { id, key } = await server.addProject("short");
  const { session_id: session } = await create({}, key);
  const taken = await server.request("POST", `/browsers/${session}/snapshots`, { key, body: { stop: true } });
  const snapshot = Snapshot.parse(taken.body);
  await server.database.query
    .updateTable("snapshots")
    .set({ expires_at: new Date(0) })
    .where("id", "=", snapshot.id)
    .execute();
  expect((await server.request("GET", `/snapshots/${snapshot.id}`, { key })).status).toBe(404);
  expect((await server.request("DELETE", `/org/projects/${id}`)).status).toBe(204);
  expect(
    await server.database.query.selectFrom("snapshots").selectAll().where("project_id", "=", id).execute(),
  ).toEqual([]);
});
