import type { Invocation, Schedule } from "@shoal/schemas";
import { createId } from "@shoal/primitives";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunningServer } from "../../main/running-server.ts";
import { invocationRow } from "../../testing/invocation-row.ts";
import { forever, ScriptedApps } from "../../testing/scripted-apps.ts";
import { sharedSecret, startSecondServer } from "../../testing/second-server.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

const runs = new Map<string, number>();
const apps = new ScriptedApps({
  hang: forever,
  "open a browser and hang": async (call) => {
    const answer = await fetch(`${second.baseUrl}/browsers`, {
      method: "POST",
      headers: { authorization: `Bearer ${call.api_key}`, "content-type": "application/json" },
      body: JSON.stringify({ invocation_id: call.invocation_id, timeout_seconds: 600 }),
    });
    call.print(((await answer.json()) as { session_id: string }).session_id);
    return forever(call);
  },
  count: ({ invocation_id }) => {
    runs.set(invocation_id, (runs.get(invocation_id) ?? 0) + 1);
  },
  "show the key": ({ api_key }) => api_key,
});

let first: TestServer;
let second: RunningServer;
let project: { id: string; key: string };

beforeAll(async () => {
  const settings = { secret_key: sharedSecret, max_invocations_per_project: 5, min_schedule_seconds: 1 };
  first = await startTestServer(settings, { appRuntime: apps });
  second = await startSecondServer(first, settings, { appRuntime: apps });
  project = await first.addProject("shop");
  await apps.deploy(first, project.id, "shop", sharedSecret);
});
afterAll(async () => {
  await second.close();
  await first.close();
  expect([...apps.alive]).toEqual([]);
});

async function send(server: { readonly baseUrl: string }, target: string, body?: object): Promise<Response> {
  const [method = "", path = ""] = target.split(" ");
  return fetch(server.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${project.key}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
}

const invoke = (server: { readonly baseUrl: string }, action_name: string, more: object = {}): Promise<Response> =>
  send(server, "POST /invocations", { app_name: "shop", action_name, ...more });

async function start(action: string, more: object = {}): Promise<string> {
  const answer = await invoke(first, action, { async: true, ...more });
  expect(answer.status).toBe(202);
  return ((await answer.json()) as Invocation).id;
}

const read = async (id: string): Promise<Invocation> =>
  (await (await send(second, `GET /invocations/${id}`)).json()) as Invocation;

it("follows and cancels an invocation of another server, with its browser", async () => {
  const id = await start("open a browser and hang");
  let text = "";
  const following = (async () => {
    const { body } = await send(second, `GET /invocations/${id}/events`);
    for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) text += part;
  })();
  const sessions = async () =>
    first.database.query.selectFrom("sessions").select(["id", "ended_at"]).where("invocation_id", "=", id).execute();
  await expect.poll(async () => (await sessions()).length).toBe(1);
  await expect.poll(() => text).toContain('"message":"imported"');
  await expect.poll(() => text).toContain('"status":"running"');
  expect((await send(second, `PATCH /invocations/${id}`, { status: "failed" })).status).toBe(200);
  await expect.poll(async () => (await sessions())[0]?.ended_at).toEqual(expect.any(String));
  await expect.poll(() => apps.alive.size).toBeLessThanOrEqual(1);
  await following;
  expect(text.trim().split("\n").at(-1)).toContain('"status":"failed"');
});

it("uses one key on both servers", async () => {
  const answers = await Promise.all(
    [first, second].map(async (server) => ((await (await invoke(server, "show the key")).json()) as Invocation).output),
  );
  expect(answers[0]).toMatch(/sk_shoal_/);
  expect(answers[1]).toBe(answers[0]);
});

it("returns to an earlier deployment on one server and runs it on the other", async () => {
  const earlier = await apps.deploy(first, project.id, "returning", sharedSecret);
  const { query } = first.database;
  await query.updateTable("app_versions").set({ is_current: false }).where("deployment_id", "=", earlier).execute();
  await query.updateTable("deployments").set({ status: "stopped" }).where("id", "=", earlier).execute();
  const later = await apps.deploy(first, project.id, "returning", sharedSecret);
  const call = async () =>
    (await (await invoke(first, "show the key", { app_name: "returning" })).json()) as Invocation;
  const key = (await call()).output;
  const answers = await Promise.all(
    [first, second].map(async (server) => (await send(server, `POST /deployments/${earlier}/rollback`)).status),
  );
  expect(answers.toSorted()).toEqual([200, 409]);
  const { id, output } = await call();
  expect(output).not.toBe(key);
  const listed: unknown = await (await send(second, `GET /invocations?deployment_id=${earlier}`)).json();
  expect(listed).toMatchObject([{ id }]);
  expect(await (await send(second, `GET /deployments/${later}`)).json()).toMatchObject({ status: "stopped" });
});

it("runs a due time of a schedule once, whichever server sees it", async () => {
  const made = await send(first, "POST /schedules", { app_name: "shop", action_name: "count", cron: "* * * * * *" });
  const { id } = (await made.json()) as Schedule;
  await expect.poll(() => runs.size).toBeGreaterThan(4);
  const paused = (await (await send(second, `POST /schedules/${id}/pause`)).json()) as Schedule;
  const listed = (await (
    await send(second, "GET /invocations?action_name=count&limit=100")
  ).json()) as readonly Invocation[];
  const times = listed.map(({ started_at }) => Date.parse(started_at));
  const dueTimes = (Math.max(...times) - Math.min(...times)) / 1000 + 2;
  expect(listed.length).toBeLessThanOrEqual(dueTimes);
  expect(listed.map((each) => each.id)).toContain(paused.last_invocation_id);
  await expect.poll(async () => (await read(paused.last_invocation_id ?? "")).status).toBe("succeeded");
  expect([...runs.values()].every((count) => count === 1)).toBe(true);
  runs.clear();
});

it("fails the invocations of a dead server and ends their browsers", async () => {
  const [id, dead] = [createId(), createId()];
  const { query } = first.database;
  await query
    .insertInto("servers")
    .values({ id: dead, life: createId(), address: null, version: null, region: null, secret_check: null })
    .execute();
  await query
    .insertInto("invocations")
    .values(invocationRow({ id, project_id: project.id, server_id: dead }))
    .execute();
  const made = await send(second, "POST /browsers", { invocation_id: id, timeout_seconds: 600 });
  const { session_id } = (await made.json()) as { session_id: string };
  await expect.poll(async () => (await read(id)).status).toBe("failed");
  expect((await read(id)).status_reason).toBe("The server that ran the invocation was lost.");
  await expect.poll(async () => (await send(second, `GET /browsers/${session_id}`)).status).toBe(404);
});

it("runs each of 50 invocations once under a limit of 5", async () => {
  const one = async (index: number): Promise<void> => {
    for (;;) {
      const answer = await invoke(index % 2 === 0 ? first : second, "count");
      if (answer.status === 200) {
        expect(((await answer.json()) as Invocation).status).toBe("succeeded");
        return;
      }
      expect(answer.status).toBe(429);
      await answer.text();
      const retryMs = 50;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  };
  await Promise.all(Array.from({ length: 50 }, (_, index) => one(index)));
  expect([...runs.values()]).toEqual(Array.from({ length: 50 }, () => 1));
});

it("ends an invocation at its timeout", async () => {
  const id = await start("hang", { async_timeout_seconds: 10 });
  await expect.poll(async () => (await read(id)).status).toBe("failed");
  expect((await read(id)).status_reason).toBe("The action took longer than 10 s (async_timeout_seconds).");
});
