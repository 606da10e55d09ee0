import type { Tables } from "@shoal/database";
import { Deployment, type DeploymentEvent } from "@shoal/schemas";
import { type Kysely, sql } from "kysely";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { brief, DeploymentCalls, isRunning } from "../../testing/deployment-calls.ts";
import { appNamed, deploymentOf, ScriptedBuilds } from "../../testing/scripted-builds.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { lockVersions } from "./current-versions.ts";

let server: TestServer;
const runtime = new ScriptedBuilds();
const calls = new DeploymentCalls(() => server);

beforeAll(async () => {
  server = await startTestServer({ max_builds: 4 }, { appRuntime: runtime });
});
afterEach(() => {
  runtime.release();
});
afterAll(() => server.close());

it("builds an archive and lists its apps, with the names of the variables only", async () => {
  const id = await calls.deploy(
    { apps: [appNamed("shop", "buy", "sell"), appNamed("bank", "pay")], lines: ["installing"] },
    {
      version: "v1",
      "env_vars[TOKEN]": "secret-value",
      "env_vars[KERNEL_API_KEY]": "mine",
      "env_vars[SHOAL_PUBLIC_URL]": "https://other.example",
    },
  );
  const deployment = await calls.settled(id);
  expect(deployment).toMatchObject({
    status: "running",
    region: "aws.us-east-1a",
    entrypoint_rel_path: "index.ts",
    env_vars: { TOKEN: "" },
    source_type: "file",
    source_checksum: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
  });
  expect(runtime.built.at(-1)?.env).toEqual({ TOKEN: "secret-value" });
  expect(await calls.apps("?version=v1&app_name=shop")).toEqual([
    {
      id: expect.any(String) as unknown,
      app_name: "shop",
      version: "v1",
      region: "aws.us-east-1a",
      deployment: id,
      actions: [{ name: "buy" }, { name: "sell" }],
      env_vars: { TOKEN: "" },
    },
  ]);
  expect((await calls.apps("?query=BAN")).map(({ app_name }) => app_name)).toEqual(["bank"]);
  for (const path of ["?app_name=shop", "?app_name=shop&app_version=v1", "?query=shO", `?query=${id}`])
    expect((await server.request("GET", `/deployments${path}`)).body).toMatchObject([{ id }]);
  for (const path of ["?app_name=none", "?app_name=shop&app_version=v2", "?query=%25"])
    expect((await server.request("GET", `/deployments${path}`)).body).toEqual([]);
  expect(server.log()).not.toContain("secret-value");
});

it("keeps the values of variables sealed and deletes the archive after the build", async () => {
  const id = await calls.deploy({ apps: [appNamed("sealed", "a")] }, { "env_vars[PASSWORD]": "line one\nline two ü" });
  await calls.settled(id);
  expect(runtime.built.at(-1)?.env.PASSWORD?.replaceAll("\r\n", "\n")).toBe("line one\nline two ü");
  const row = await server.database.query
    .selectFrom("deployments")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  expect(row.env.toString("latin1")).not.toContain("line one");
  expect(row.source_blob).toBeNull();
});

it("reports states, lines and versions in this order, and stays open for lines of invocations", async () => {
  const id = await calls.deploy({ apps: [appNamed("events", "a")], lines: ["one", "two"], waits: true });
  await expect.poll(() => runtime.waiting()).toBe(1);
  const seen: DeploymentEvent[] = [];
  const following = calls.events(id, "", (event) => {
    seen.push(event);
    return isRunning(event);
  });
  // The build goes on when the follower has its present state.
  await expect.poll(() => brief(seen)).toContain("in_progress");
  runtime.release();
  const { events } = await following;
  expect(brief(events)).toEqual(["in_progress", "Unpacked 2 files", "one", "two", "events@latest", "running"]);
  expect(events.find(({ event }) => event === "log")).toMatchObject({ source: "build" });
  expect(events.at(-2)).toMatchObject({ event: "app_version_summary", actions: [{ name: "a" }] });

  const late = await calls.events(id, "", isRunning);
  expect(brief(late.events)).toEqual(["Unpacked 2 files", "one", "two", "events@latest", "running"]);
  const resumed = await fetch(`${server.baseUrl}/deployments/${id}/events`, {
    headers: { authorization: `Bearer ${server.key}`, "last-event-id": late.ids[1] ?? "" },
  });
  const reader = resumed.body?.getReader();
  const decoder = new TextDecoder();
  let first = "";
  while (!first.includes('"message":"two"')) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) throw new Error("The stream ended.");
    first += decoder.decode(value, { stream: true });
  }
  await reader?.cancel();
  expect(first).not.toContain('"message":"one"');

  let isOpen = false;
  const stopping = calls.events(id, "", () => {
    isOpen = true;
    return false;
  });
  await expect.poll(() => isOpen).toBe(true);
  await server.request("DELETE", `/deployments/${id}`);
  const { ended, events: last } = await stopping;
  expect(ended).toBe(true);
  expect(brief(last).at(-1)).toBe("stopped");
});

it("ends the stream of a failed deployment with its reason", async () => {
  const id = await calls.deploy({ error: "the entry file throws: boom", lines: ["almost"] });
  const { ended, events } = await calls.events(id);
  expect(ended).toBe(true);
  expect(brief(events).slice(-2)).toEqual(["almost", "failed"]);
  expect(events.at(-1)).toMatchObject({ deployment: { status_reason: "the entry file throws: boom" } });
  for (const query of ["?since=1h", "?since="])
    expect(brief((await calls.events(id, query)).events)).toEqual(["Unpacked 2 files", "almost", "failed"]);
});

it("replaces latest with each deployment, and other labels only with force", async () => {
  const first = await calls.deploy({ apps: [appNamed("moving", "a")] });
  await calls.settled(first);
  const second = await calls.deploy({ apps: [appNamed("moving", "b")] });
  expect((await calls.settled(second)).status).toBe("running");
  expect(await calls.get(first)).toMatchObject({
    status: "stopped",
    status_reason: `Deployment ${second} replaced it.`,
  });
  expect(await calls.apps("?app_name=moving")).toMatchObject([{ deployment: second, actions: [{ name: "b" }] }]);

  const fixed = await calls.deploy({ apps: [appNamed("fixed", "a")] }, { version: "1" });
  await calls.settled(fixed);
  const refused = await calls.settled(await calls.deploy({ apps: [appNamed("fixed", "b")] }, { version: "1" }));
  expect(refused.status).toBe("failed");
  expect(refused.status_reason).toContain("Version 1 of the app fixed already exists");
  await expect.poll(() => runtime.removed).toContain(`artifact of ${refused.id}`);
  expect((await calls.get(fixed)).status).toBe("running");
  const forced = await calls.settled(
    await calls.deploy({ apps: [appNamed("fixed", "c")] }, { version: "1", force: "true" }),
  );
  expect(forced.status).toBe("running");
  expect(await calls.apps("?app_name=fixed&version=1")).toMatchObject([{ deployment: forced.id }]);
});

it("stops a deployment with two apps only after both were replaced", async () => {
  const both = await calls.deploy({ apps: [appNamed("left", "a"), appNamed("right", "a")] });
  await calls.settled(both);
  await calls.settled(await calls.deploy({ apps: [appNamed("left", "b")] }));
  expect((await calls.get(both)).status).toBe("running");
  await calls.settled(await calls.deploy({ apps: [appNamed("right", "b")] }));
  expect((await calls.get(both)).status).toBe("stopped");
});

it("keeps the newer deployment when an older build ends later", async () => {
  const older = await calls.deploy({ apps: [appNamed("raced", "old")], waits: true });
  await expect.poll(() => runtime.waiting()).toBe(1);
  const newer = await calls.deploy({ apps: [appNamed("raced", "new")] });
  expect((await calls.settled(newer)).status).toBe("running");
  runtime.release();
  expect(await calls.settled(older)).toMatchObject({ status: "stopped" });
  expect(await calls.apps("?app_name=raced")).toMatchObject([{ deployment: newer }]);
});

it("removes deleted deployments from every list, also while they build", async () => {
  const running = await calls.deploy({ apps: [appNamed("gone", "a")] });
  await calls.settled(running);
  const building = await calls.deploy({ apps: [appNamed("gone", "b")], waits: true });
  await expect.poll(() => runtime.waiting()).toBe(1);
  for (const id of [running, building]) expect((await server.request("DELETE", `/deployments/${id}`)).status).toBe(204);
  expect(await calls.apps("?app_name=gone")).toEqual([]);
  expect((await server.request("GET", "/deployments?app_name=gone")).body).toEqual([]);
  await expect.poll(() => runtime.waiting()).toBe(0);
  for (const method of ["GET", "DELETE"])
    expect((await server.request(method, `/deployments/${building}`)).status).toBe(404);
  expect((await server.request("GET", `/deployments/${building}/events`)).status).toBe(404);
  const row = await server.database.query
    .selectFrom("deployments")
    .select("status")
    .where("id", "=", building)
    .execute();
  expect(row).toEqual([{ status: "stopped" }]);
});

const rowOf = (id: string) =>
  server.database.query
    .selectFrom("deployments")
    .select(["project_id", "source_blob", "status"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();

it("deletes the archive of a deployment that waits for its build", async () => {
  for (const name of ["one", "two", "three", "four"]) await calls.deploy({ apps: [appNamed(name, "a")], waits: true });
  await expect.poll(() => runtime.waiting()).toBe(4);
  const id = await calls.deploy({ apps: [appNamed("five", "a")] });
  const { source_blob: archive, status } = await rowOf(id);
  expect(status).toBe("queued");
  const archives = () => readdir(join(server.dataDir, "blobs", "deployments"));
  expect(await archives()).toContain(archive);
  await server.request("DELETE", `/deployments/${id}`);
  expect(await archives()).not.toContain(archive);
  expect(await rowOf(id)).toMatchObject({ source_blob: null, status: "stopped" });
});

it("stops a deployment that runs again while its deletion waits", async () => {
  const id = await calls.deploy({ apps: [appNamed("revived", "a")] });
  await calls.settled(id);
  const set = (query: Kysely<Tables>, status: "running" | "stopped") =>
    query.updateTable("deployments").set({ status }).where("id", "=", id).execute();
  await set(server.database.query, "stopped");
  const { project_id } = await rowOf(id);
  const deletion = await server.database.query.transaction().execute(async (transaction) => {
    await lockVersions(transaction, project_id);
    const deleting = server.request("DELETE", `/deployments/${id}`);
    const waits = sql<{ count: string }>`select count(*) from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`;
    await expect.poll(async () => Number((await waits.execute(server.database.query)).rows[0]?.count)).toBe(1);
    await set(transaction, "running");
    return { deleting };
  });
  expect((await deletion.deleting).status).toBe(204);
  expect(await rowOf(id)).toMatchObject({ status: "stopped" });
});

it("shows deployments to keys of their project only", async () => {
  const other = await server.addProject("other");
  const id = await calls.deploy({ apps: [appNamed("private", "a")] }, {}, other.key);
  await expect
    .poll(async () => (await server.request("GET", `/deployments/${id}`, { key: other.key })).body)
    .toMatchObject({ status: "running" });
  expect(await calls.apps("?app_name=private", other.key)).toHaveLength(1);
  const stranger = await server.addProject("stranger");
  for (const path of [`/deployments/${id}`, `/deployments/${id}/events`])
    expect((await server.request("GET", path, { key: stranger.key })).status).toBe(404);
  expect((await server.request("DELETE", `/deployments/${id}`, { key: stranger.key })).status).toBe(404);
  expect((await server.request("GET", "/deployments", { key: stranger.key })).body).toEqual([]);
  expect(await calls.apps("", stranger.key)).toEqual([]);
});

it("admits 20 deployments of a project that wait or build, also when requests come together", async () => {
  const body = await deploymentOf({ apps: [appNamed("many", "a")], waits: true }, {});
  const replies = await Promise.all(Array.from({ length: 30 }, () => calls.post(body)));
  const admitted = replies.filter(({ status }) => status === 201).map((reply) => Deployment.parse(reply.body).id);
  const refused = replies.filter(({ status }) => status !== 201);
  expect([admitted.length, refused.length]).toEqual([20, 10]);
  for (const reply of refused) expect(reply).toMatchObject({ status: 429, body: { code: "too_many_requests" } });
  // From the last one, so that no waiting build begins.
  for (const id of admitted.toReversed()) await server.request("DELETE", `/deployments/${id}`);
});
