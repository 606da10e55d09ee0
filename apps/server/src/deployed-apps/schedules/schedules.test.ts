import type { Invocation, Schedule } from "@shoal/schemas";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { forever, ScriptedApps } from "../../testing/scripted-apps.ts";
import { startTestServer, type TestReply, type TestServer } from "../../testing/test-server.ts";

const apps = new ScriptedApps({ echo: ({ payload }) => payload, hang: forever });
let server: TestServer;
let project: { id: string; key: string };

beforeAll(async () => {
  server = await startTestServer({ min_schedule_seconds: 1, max_invocations_per_app: 1 }, { appRuntime: apps });
});
afterAll(async () => {
  await server.close();
  expect([...apps.alive]).toEqual([]);
});

let count = 0;
async function newProject(): Promise<string> {
  project = await server.addProject(`scheduled ${String(++count)}`);
  return apps.deploy(server, project.id);
}

const request = (method: string, path: string, body?: unknown): Promise<TestReply> =>
  server.request(method, path, { key: project.key, ...(body !== undefined && { body }) });

async function schedule(more: Readonly<Record<string, unknown>> = {}): Promise<Schedule> {
  const given = { app_name: "shop", action_name: "echo", cron: "* * * * * *", payload: "7", ...more };
  const { body, status } = await request("POST", "/schedules", given);
  expect([status, body]).toMatchObject([201, { status: "active" }]);
  return body as Schedule;
}

const listed = async () => (await request("GET", "/schedules")).body as Schedule[];
const invocations = async () => (await request("GET", "/invocations?limit=100")).body as Invocation[];
/** Makes it due since `seconds`. */
const makeDue = (id: string, seconds: number) =>
  sql`update schedules set next_at = now() - make_interval(secs => ${seconds}) where id = ${id}`.execute(
    server.database.query,
  );
const yearly = "0 0 1 1 *";

it("invokes the action at each due time, until it is paused, and again after it is resumed", async () => {
  await newProject();
  const made = await schedule();
  await expect.poll(async () => (await invocations()).length).toBeGreaterThan(1);
  expect(await request("POST", `/schedules/${made.id}/pause`)).toMatchObject({
    status: 200,
    body: { status: "paused", next_run_at: null },
  });
  const paused = (await invocations()).length;
  await expect.poll(async () => (await invocations()).every(({ status }) => status === "succeeded")).toBe(true);
  expect((await invocations())[0]).toMatchObject({ action_name: "echo", payload: "7", output: "7" });
  const resumed = await request("POST", `/schedules/${made.id}/resume`);
  expect(resumed.body).toMatchObject({ status: "active", next_run_at: expect.any(String) as unknown });
  await expect.poll(async () => (await invocations()).length).toBeGreaterThan(paused);
  expect((await listed())[0]?.last_invocation_id).toEqual(expect.any(String));
  expect((await request("DELETE", `/schedules/${made.id}`)).status).toBe(204);
  expect(await listed()).toEqual([]);
});

it("runs once for all the times that passed during an outage", async () => {
  await newProject();
  const { id } = await schedule({ cron: yearly });
  await makeDue(id, 3 * 365 * 86_400);
  await expect.poll(async () => (await invocations()).length).toBe(1);
  const [after] = await listed();
  expect(Date.parse(after?.next_run_at ?? "")).toBeGreaterThan(Date.now());
  expect((await invocations()).length).toBe(1);
});

it("answers 429 at the limit of an app, at once, and admits another app", async () => {
  await newProject();
  await apps.deploy(server, project.id, "bank");
  const call = (app_name: string, action_name: string, more: object = {}) =>
    request("POST", "/invocations", { app_name, action_name, ...more });
  const running = (await call("shop", "hang", { async: true })).body as Invocation;
  const refused = await call("shop", "echo");
  expect(refused).toMatchObject({ status: 429, body: { limit: 1, used: 1, remaining: 0 } });
  expect((refused.body as { message: string }).message).toContain("max_invocations_per_app");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await call("bank", "echo")).status).toBe(200);
  const waiting = (await call("shop", "echo", { async: true, queue: true })).body as Invocation;
  expect(waiting).toMatchObject({ status: "queued", queue_position: 1 });
  await request("PATCH", `/invocations/${running.id}`, { status: "failed" });
  await expect
    .poll(async () => ((await request("GET", `/invocations/${waiting.id}`)).body as Invocation).status)
    .toBe("succeeded");
});

it("waits at a limit of invocations, and skips a time while the previous invocation waits", async () => {
  await newProject();
  const running = (await request("POST", "/invocations", { app_name: "shop", action_name: "hang", async: true }))
    .body as Invocation;
  const { id } = await schedule({ cron: yearly });
  await makeDue(id, 1);
  await expect.poll(async () => (await listed())[0]?.last_invocation_id).toBeDefined();
  await makeDue(id, 1);
  await expect.poll(async () => (await listed())[0]?.last_problem).toMatch(/still waits/);
  await expect
    .poll(async () => (await invocations()).map(({ status }) => status).toSorted())
    .toEqual(["queued", "running"]);
  await request("PATCH", `/invocations/${running.id}`, { status: "failed" });
  await expect.poll(async () => (await invocations())[0]?.status).toBe("succeeded");
});

it("moves to the deployment that takes over the label, and ends with the last one", async () => {
  const first = await newProject();
  const { id } = await schedule({ cron: yearly });
  const { query } = server.database;
  await query.updateTable("app_versions").set({ is_current: false }).where("deployment_id", "=", first).execute();
  await query.updateTable("deployments").set({ status: "stopped" }).where("id", "=", first).execute();
  await makeDue(id, 1);
  await expect.poll(async () => (await listed())[0]?.last_problem).toMatch(/no running version/);
  const second = await apps.deploy(server, project.id);
  await makeDue(id, 1);
  await expect.poll(async () => (await invocations()).length).toBe(1);
  expect((await request("GET", `/invocations?deployment_id=${second}`)).body).toHaveLength(1);
  await request("DELETE", `/deployments/${second}`);
  expect(await listed()).toEqual([]);
});

it("refuses unknown actions, invalid times, and more than 20 schedules of an app", async () => {
  await newProject();
  const post = (more: object) =>
    request("POST", "/schedules", { app_name: "shop", action_name: "echo", cron: yearly, ...more });
  expect(await post({ action_name: "none" })).toMatchObject({ status: 404, body: { field: "body.action_name" } });
  expect((await post({ app_name: "none" })).status).toBe(404);
  expect(await post({ cron: "61 * * * *" })).toMatchObject({ status: 400, body: { field: "body.cron" } });
  expect(await post({ cron: "daily" })).toMatchObject({ status: 400, body: { field: "body.cron" } });
  expect(await post({ time_zone: "Mars/Base" })).toMatchObject({ status: 400, body: { field: "body.time_zone" } });
  expect(await post({ payload: "{" })).toMatchObject({ status: 400, body: { field: "body.payload" } });
  for (let made = 0; made < 20; made++) await schedule({ cron: yearly });
  expect(await post({})).toMatchObject({ status: 409, body: { limit: 20 } });
});
