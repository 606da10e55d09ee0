import { contract, type Endpoint } from "@shoal/contract";
import { deployerKeyEnded } from "@shoal/contract/refusals";
import { mayApp } from "@shoal/contract/rights";
import type { Invocation } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { forever, ScriptedApps } from "../../testing/scripted-apps.ts";
import { startTestServer, type TestReply, type TestServer } from "../../testing/test-server.ts";
import { InvocationStore } from "./invocation-store.ts";

let runs = 0;
let stops = 0;
const released = Promise.withResolvers<string>();
const apps = new ScriptedApps({
  echo: ({ payload }) => payload,
  nothing: () => undefined,
  print(call) {
    for (const line of ["one", "two", "three"]) call.print(line);
    return "printed";
  },
  fail: () => {
    throw new Error("sold out\0");
  },
  "fail twice": () => {
    runs += 1;
    if (runs < 3) throw new Error(`run ${String(runs)}`);
    return runs;
  },
  hang: forever,
  "hang here": (call) =>
    forever(call).finally(() => {
      stops += 1;
    }),
  "wait for the test": () => released.promise,
  "open a browser": ({ api_key, invocation_id }) => openBrowser(api_key, invocation_id),
  "open a browser and fail": async ({ api_key, invocation_id }) => {
    throw new Error(await openBrowser(api_key, invocation_id));
  },
  "open a browser and hang": async (call) => {
    call.print(await openBrowser(call.api_key, call.invocation_id));
    return forever(call);
  },
  "show the key": ({ api_key }) => api_key,
});

let server: TestServer;
let project: { id: string; key: string };
let deployment: string;

beforeAll(async () => {
  server = await startTestServer({ max_invocations_per_project: 3 }, { appRuntime: apps });
  project = await server.addProject("shop");
  deployment = await apps.deploy(server, project.id);
});
afterAll(async () => {
  await server.close();
  expect([...apps.alive]).toEqual([]);
});

const request = (method: string, path: string, body?: unknown): Promise<TestReply> =>
  server.request(method, path, { key: project.key, ...(body !== undefined && { body }) });

async function openBrowser(key: string, invocation_id: string): Promise<string> {
  const { body } = await server.request("POST", "/browsers", { key, body: { invocation_id, timeout_seconds: 600 } });
  return (body as { session_id: string }).session_id;
}

const invoke = (action_name: string, more: Readonly<Record<string, unknown>> = {}): Promise<TestReply> =>
  request("POST", "/invocations", { app_name: "shop", action_name, ...more });

async function start(action: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const { body, status } = await invoke(action, { async: true, ...more });
  expect([status, body]).toMatchObject([202, { status: "queued" }]);
  return (body as Invocation).id;
}

const read = async (id: string): Promise<Invocation> => (await request("GET", `/invocations/${id}`)).body as Invocation;
const ended = (id: string): Promise<void> =>
  expect.poll(async () => (await read(id)).finished_at).toEqual(expect.any(String));

async function events(id: string, query = ""): Promise<readonly Record<string, unknown>[]> {
  const response = await fetch(`${server.baseUrl}/invocations/${id}/events${query}`, {
    headers: { authorization: `Bearer ${project.key}` },
  });
  expect(response.status).toBe(200);
  return (await response.text())
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);
}

const sessionStatus = async (id: string): Promise<number> => (await request("GET", `/browsers/${id}`)).status;

it("returns the output of a synchronous invocation", async () => {
  expect(await invoke("echo", { payload: '{"sku":7}' })).toMatchObject({
    status: 200,
    body: { status: "succeeded", action_name: "echo", output: '{"sku":7}' },
  });
  const { body } = await invoke("nothing", { payload: "" });
  expect(body).toMatchObject({ status: "succeeded", output: "null" });
  const { payload, ...invocation } = await read((body as Invocation).id);
  expect(payload).toBeUndefined();
  expect(invocation).toMatchObject({ app_name: "shop", version: "latest", status: "succeeded" });
});

it("answers 200 for an action that fails, with the reason", async () => {
  expect(await invoke("fail")).toMatchObject({
    status: 200,
    body: { status: "failed", status_reason: "sold out\uFFFD", output: JSON.stringify({ error: "sold out\0" }) },
  });
});

it("keeps texts of actions and callers well-formed", async () => {
  const half = "\ud800";
  const { body } = await invoke("echo", { payload: JSON.stringify(half) });
  expect(body).toMatchObject({ status: "succeeded", output: JSON.stringify(half) });
  const id = await start("hang");
  const output = `"a${half}"`;
  expect((await request("PATCH", `/invocations/${id}`, { status: "failed", output })).body).toMatchObject({
    output: '"a\ufffd"',
  });
  for (const [app_name, action_name] of [
    ["shop\0", "echo"],
    ["shop", "echo\0"],
    [`shop${half}`, "echo"],
    ["shop", `echo${half}`],
  ])
    expect((await request("POST", "/invocations", { app_name, action_name })).status).toBe(404);
});

it("answers 404 for an unknown app, version and action", async () => {
  for (const [app_name, version, action_name] of [
    ["other", "latest", "echo"],
    ["shop", "v2", "echo"],
    ["shop", "latest", "other"],
  ])
    expect(await request("POST", "/invocations", { app_name, version, action_name })).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
});

it("takes payloads of 4.5 MiB and refuses larger ones", async () => {
  const text = (bytes: number) => JSON.stringify("x".repeat(bytes - 2));
  const { body } = await invoke("echo", { payload: text(4.5 * 2 ** 20) });
  expect((body as Invocation).output?.length).toBe(4.5 * 2 ** 20);
  expect(await invoke("echo", { payload: text(4.5 * 2 ** 20 + 1) })).toMatchObject({ status: 400 });
  const { body: page } = await request("GET", "/invocations?limit=1");
  expect(page).toMatchObject([{ status: "succeeded" }]);
  expect(JSON.stringify(page).length).toBeLessThan(2000);
});

it("follows an invocation: its state, its lines, then its last state", async () => {
  const id = await start("print");
  const live = await events(id, "?since=");
  const texts = (seen: readonly Record<string, unknown>[]) =>
    seen.filter(({ event }) => event === "log").map(({ message }) => message);
  expect(texts(live)).toEqual(["imported", "one", "two", "three"]);
  expect(live.find(({ event }) => event === "log")).toMatchObject({ source: "stdout" });
  expect(live.at(-1)).toMatchObject({
    event: "invocation_state",
    invocation: { status: "succeeded", output: '"printed"' },
  });
  const replay = await events(id);
  expect(texts(replay)).toEqual(texts(live));
  expect(replay.at(-1)).toMatchObject({ invocation: { status: "succeeded" } });
});

it("lists and filters invocations", async () => {
  const id = await start("nothing");
  await ended(id);
  const list = async (query: string) =>
    ((await request("GET", `/invocations?limit=100&${query}`)).body as Invocation[]).map((invocation) => invocation.id);
  for (const query of [
    "",
    "app_name=shop&action_name=nothing&version=latest&status=succeeded",
    `deployment_id=${deployment}`,
    "query=NOTH",
    `query=${id}`,
    "since=1h",
    "since=",
  ])
    expect(await list(query)).toContain(id);
  for (const query of ["app_name=other", "status=failed", "query=zzz", "since=2100-01-01", "deployment_id=x"])
    expect(await list(query)).not.toContain(id);
});

it("cancels a running invocation with its browsers", async () => {
  const id = await start("open a browser and hang");
  const browsers = async () =>
    (await request("GET", `/invocations/${id}/browsers`)).body as { browsers: { session_id: string }[] };
  await expect.poll(async () => (await browsers()).browsers.length).toBe(1);
  const session = (await browsers()).browsers[0]?.session_id ?? "";
  expect(await sessionStatus(session)).toBe(200);
  expect(
    await request("PATCH", `/invocations/${id}`, { status: "failed", output: '{"error":"enough"}' }),
  ).toMatchObject({
    status: 200,
    body: { status: "failed", output: '{"error":"enough"}', status_reason: "The invocation was cancelled." },
  });
  await expect.poll(() => sessionStatus(session)).toBe(404);
  await expect.poll(browsers).toEqual({ browsers: [] });
  expect(await request("PATCH", `/invocations/${id}`, { status: "succeeded" })).toMatchObject({
    status: 200,
    body: { status: "failed", output: '{"error":"enough"}' },
  });
  expect((await request("DELETE", `/invocations/${id}/browsers`)).status).toBe(204);
});

it("lets running invocations of a deleted deployment end, and refuses new ones", async () => {
  const doomed = await apps.deploy(server, project.id, "doomed");
  const id = await start("wait for the test", { app_name: "doomed" });
  await expect.poll(async () => (await read(id)).status).toBe("running");
  expect((await request("DELETE", `/deployments/${doomed}`)).status).toBe(204);
  expect((await invoke("echo", { app_name: "doomed" })).status).toBe(404);
  expect((await read(id)).status).toBe("running");
  released.resolve("done");
  await expect.poll(async () => (await read(id)).status).toBe("succeeded");
  await expect
    .poll(() =>
      server.database.query
        .selectFrom("deployment_keys")
        .select("key_id")
        .where("deployment_id", "=", doomed)
        .execute(),
    )
    .toEqual([]);
});

it("runs an earlier deployment again with a new key, while invocations of the replaced one finish", async () => {
  const keyNow = async () =>
    JSON.parse(((await invoke("show the key", { app_name: "returning" })).body as Invocation).output ?? "") as string;
  const opens = async (key: string) => (await server.request("GET", "/browsers", { key })).status;
  const [first, oldKey] = [await apps.deploy(server, project.id, "returning"), await keyNow()];
  const { query } = server.database;
  await query.updateTable("app_versions").set({ is_current: false }).where("deployment_id", "=", first).execute();
  await query.updateTable("deployments").set({ status: "stopped" }).where("id", "=", first).execute();
  await expect.poll(() => opens(oldKey)).toBe(401);
  const [second, replacedKey] = [await apps.deploy(server, project.id, "returning"), await keyNow()];
  const running = await start("hang", { app_name: "returning" });
  await expect.poll(async () => (await read(running)).status).toBe("running");
  const answer = await request("POST", `/deployments/${first}/rollback`);
  expect(answer).toMatchObject({ status: 200, body: { status: "running" } });
  expect((await request("GET", `/deployments/${second}`)).body).toMatchObject({ status: "stopped" });
  const newKey = await keyNow();
  expect([oldKey, replacedKey]).not.toContain(newKey);
  expect([await opens(newKey), await opens(replacedKey), (await read(running)).status]).toEqual([200, 200, "running"]);
  await request("PATCH", `/invocations/${running}`, { status: "failed" });
  await expect.poll(() => opens(replacedKey)).toBe(401);
  expect(await opens(newKey)).toBe(200);
});

it("keeps the browsers of a successful invocation until they are deleted, and ends those of a failed one", async () => {
  const { body } = await invoke("open a browser");
  const { id, output = "" } = body as Invocation;
  const session = JSON.parse(output) as string;
  expect(await sessionStatus(session)).toBe(200);
  expect((await request("DELETE", `/invocations/${id}/browsers`)).status).toBe(204);
  expect(await sessionStatus(session)).toBe(404);
  const { body: failure } = await invoke("open a browser and fail");
  const left = (JSON.parse((failure as Invocation).output ?? "") as { error: string }).error;
  await expect.poll(() => sessionStatus(left)).toBe(404);
});

it("answers 429 at the limit of the project, at once", async () => {
  const ids = await Promise.all([start("hang"), start("hang"), start("hang")]);
  const refused = await invoke("echo");
  expect(refused).toMatchObject({ status: 429, body: { code: "too_many_requests", limit: 3, used: 3, remaining: 0 } });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  for (const id of ids) await request("PATCH", `/invocations/${id}`, { status: "failed" });
  expect((await invoke("echo")).status).toBe(200);
});

it("lets invocations with queue wait in their order instead of refusing them", async () => {
  const running = await Promise.all([start("hang"), start("hang"), start("hang")]);
  const [first, second] = [await invoke("echo", { async: true, queue: true }), await start("print", { queue: true })];
  expect(first).toMatchObject({ status: 202, body: { status: "queued", queue_position: 1 } });
  expect(await read(second)).toMatchObject({ status: "queued", queue_position: 2 });
  const cancelled = await start("echo", { queue: true });
  expect(await request("PATCH", `/invocations/${cancelled}`, { status: "failed" })).toMatchObject({ status: 200 });
  for (const id of running) await request("PATCH", `/invocations/${id}`, { status: "failed" });
  // Both have a place now: they may end in either order.
  await Promise.all([ended((first.body as Invocation).id), ended(second)]);
  expect(await read(second)).toMatchObject({ status: "succeeded", output: '"printed"' });
  expect(await read((first.body as Invocation).id)).toMatchObject({ status: "succeeded" });
  expect(await read(cancelled)).toMatchObject({ status: "failed", status_reason: "The invocation was cancelled." });
  expect(await invoke("echo", { queue: true })).toMatchObject({ status: 400, body: { field: "body.queue" } });
});

it("holds the limit of waiting invocations when requests come together", async () => {
  const running = await Promise.all([start("hang"), start("hang"), start("hang")]);
  const store = new InvocationStore(server.database, 10);
  const waiting = {
    ...{ project_id: project.id, deployment_id: deployment, app_name: "shop", version: "latest" },
    ...{ action_name: "echo", payload: null, is_async: true, timeout_seconds: 60, max_retries: 0 },
  };
  const inserted = await Promise.allSettled(Array.from({ length: 20 }, () => store.insertWaiting(waiting)));
  expect(inserted.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
  expect(inserted.find((each) => each.status === "rejected")?.reason).toMatchObject({ status: 429 });
  const { query } = server.database;
  await query.deleteFrom("invocations").where("project_id", "=", project.id).where("server_id", "is", null).execute();
  for (const id of running) await request("PATCH", `/invocations/${id}`, { status: "failed" });
});

it("repeats a failed action with max_retries, and shows the failed attempts", async () => {
  const id = await start("fail twice", { max_retries: 3 });
  await expect.poll(async () => (await read(id)).status).toBe("succeeded");
  expect((await read(id)).attempts).toMatchObject([{ status_reason: "run 1" }, { status_reason: "run 2" }]);
  expect((await events(id)).at(-1)).toMatchObject({ invocation: { status: "succeeded", output: "3" } });
  const hopeless = await start("fail", { max_retries: 1 });
  await ended(hopeless);
  expect(await read(hopeless)).toMatchObject({ status: "failed", attempts: [{ status_reason: "sold out\uFFFD" }] });
});

it("leaves an invocation to the server that took it over", async () => {
  const earlier = stops;
  const id = await start("hang here", { max_retries: 1 });
  await expect.poll(async () => (await read(id)).status).toBe("running");
  const { query } = server.database;
  await query.updateTable("invocations").set({ server_id: "other" }).where("id", "=", id).execute();
  // The program of this server ends, and its failure is not a failed attempt of the other one.
  await expect.poll(() => stops).toBe(earlier + 1);
  expect(await new InvocationStore(server.database).retry(id, "killed", "here")).toBe(false);
  expect(await read(id)).toMatchObject({ status: "running" });
  expect(await read(id)).not.toHaveProperty("attempts");
  await query
    .updateTable("invocations")
    .set({ status: "failed", finished_at: new Date() })
    .where("id", "=", id)
    .execute();
});

it("names the ended key of a deployment, and does not try again", async () => {
  const { body: key } = await server.request("POST", "/org/api_keys", {
    body: { name: "limited", project_id: project.id },
  });
  const other = await apps.deploy(server, project.id, "orphaned");
  await server.request("DELETE", `/org/api_keys/${(key as { id: string }).id}`);
  await server.database.query
    .updateTable("deployments")
    .set({ issuer_key_id: (key as { id: string }).id })
    .where("id", "=", other)
    .execute();
  const { body } = await request("POST", "/invocations", {
    app_name: "orphaned",
    action_name: "echo",
    async: true,
    max_retries: 2,
  });
  const { id } = body as Invocation;
  await ended(id);
  const { hint = "", problem } = deployerKeyEnded(other);
  expect(await read(id)).toMatchObject({ status: "failed", status_reason: `${problem} ${hint}` });
  expect(await read(id)).not.toHaveProperty("attempts");
});

it("provides one key for each deployment, limited to its project and for what apps need", async () => {
  const { body } = await invoke("show the key");
  const key = JSON.parse((body as Invocation).output ?? "") as string;
  expect(JSON.parse(((await invoke("show the key")).body as Invocation).output ?? "")).toBe(key);
  const status = async (method: string, path: string) =>
    (await server.request(method, path, { key, body: method === "POST" ? {} : undefined })).status;
  expect(
    await Promise.all([status("GET", "/browsers"), status("GET", "/invocations"), status("GET", "/apps")]),
  ).not.toContain(403);
  for (const [method, path] of [
    ["POST", "/org/api_keys"],
    ["GET", "/org/api_keys"],
    ["GET", "/projects"],
    ["GET", "/audit-logs"],
  ] as const)
    expect([path, await status(method, path)]).toEqual([path, 403]);
  for (const endpoint of Object.values<Endpoint>(contract)) {
    if (endpoint.auth === "none" || mayApp(endpoint)) continue;
    const path = endpoint.path.replaceAll(/\{\w+\}/g, "none");
    expect([endpoint.operationId, await status(endpoint.method, path)]).toEqual([endpoint.operationId, 403]);
  }
  const { body: keys } = await request("GET", "/org/api_keys");
  expect(JSON.stringify(keys)).not.toContain(deployment);
  await server.database.query
    .updateTable("deployments")
    .set({ status: "stopped" })
    .where("id", "=", deployment)
    .execute();
  await expect.poll(() => status("GET", "/browsers")).toBe(401);
  expect((await invoke("echo")).status).toBe(404);
});
