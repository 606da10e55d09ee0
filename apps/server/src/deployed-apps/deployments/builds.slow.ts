import { createId } from "@shoal/primitives";
import { ErrorBody } from "@shoal/schemas";
import { sql } from "kysely";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { createFileBlobs } from "../../storage/blobs/blobs.ts";
import { brief, DeploymentCalls, isRunning } from "../../testing/deployment-calls.ts";
import { envelopesOf } from "../../testing/envelopes-of.ts";
import { appNamed, deploymentOf, ScriptedBuilds } from "../../testing/scripted-builds.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { AppLogs } from "../logs/app-logs.ts";
import { DeploymentStore } from "./deployment-store.ts";
import { Deployments } from "./deployments.ts";

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

it("returns to an earlier deployment without a build, and on to the newer one", async () => {
  const first = await calls.deploy({ apps: [appNamed("returned", "a")] }, { version: "v" });
  await calls.settled(first);
  const second = await calls.deploy({ apps: [appNamed("returned", "b")] }, { version: "v", force: "true" });
  await calls.settled(second);
  const builds = runtime.built.length;
  const following = calls.events(second);
  expect(await calls.rollBack(first)).toMatchObject({
    status: 200,
    body: { id: first, status: "running", status_reason: `It replaced deployment ${second}.` },
  });
  expect(await calls.apps("?app_name=returned")).toMatchObject([{ deployment: first, actions: [{ name: "a" }] }]);
  expect(await calls.get(second)).toMatchObject({
    status: "stopped",
    status_reason: `Deployment ${first} replaced it.`,
  });
  expect(brief((await following).events).at(-1)).toBe("stopped");
  expect(brief((await calls.events(first, "", isRunning)).events).slice(-2)).toEqual(["returned@v", "running"]);
  expect(await calls.rollBack(second)).toMatchObject({ status: 200, body: { status: "running" } });
  expect((await calls.get(first)).status).toBe("stopped");
  expect(runtime.built.length).toBe(builds);
});

it("returns only those apps of a deployment that a newer one replaced", async () => {
  const both = await calls.deploy({ apps: [appNamed("stays", "a"), appNamed("moves", "a")] });
  await calls.settled(both);
  const newer = await calls.deploy({ apps: [appNamed("moves", "b"), appNamed("added", "b")] });
  await calls.settled(newer);
  expect((await calls.rollBack(both)).status).toBe(200);
  expect(await calls.apps("?app_name=moves")).toMatchObject([{ deployment: both }]);
  expect(await calls.apps("?app_name=added")).toMatchObject([{ deployment: newer }]);
  expect([(await calls.get(both)).status, (await calls.get(newer)).status]).toEqual(["running", "running"]);
});

it("refuses to return to a deployment that runs, builds, never ran, lost its build, or is of another project", async () => {
  const stopped = await calls.deploy({ apps: [appNamed("refused", "a")] });
  await calls.settled(stopped);
  const running = await calls.deploy({ apps: [appNamed("refused", "b")] });
  await calls.settled(running);
  const failed = await calls.deploy({ error: "broken" });
  await calls.settled(failed);
  const building = await calls.deploy({ apps: [appNamed("refused", "c")], waits: true });
  await expect.poll(() => runtime.waiting()).toBe(1);
  const refusal = async (id: string, key?: string) => {
    const { body, status } = await calls.rollBack(id, key);
    return `${String(status)} ${(body as { message: string }).message}`;
  };
  expect(await refusal(running)).toMatch(/^409 .*is running already/);
  expect(await refusal(failed)).toMatch(/^409 .*has never run/);
  expect(await refusal(building)).toMatch(/^409 .*has not ended its build/);
  expect(await refusal(createId())).toMatch(/^404 .*was not found/);
  const stranger = await server.addProject("stranger of rollbacks");
  expect(await refusal(stopped, stranger.key)).toMatch(/^404 .*was not found/);
  await runtime.remove(`artifact of ${stopped}`);
  expect(await refusal(stopped)).toMatch(/^409 .*is not in this server's blobs_dir.*Deploy its sources again/);
  await server.database.query.updateTable("deployments").set({ artifact: null }).where("id", "=", stopped).execute();
  expect(await refusal(stopped)).toMatch(/^409 .*was removed.*20/);
});

it("limits the builds of a project that wait", async () => {
  const { id: project, key } = await server.addProject("busy");
  const ids: string[] = [];
  for (let index = 0; index < 20; index += 1) ids.push(await calls.deploy({ waits: true }, {}, key));
  const { body, headers, status } = await calls.post(await deploymentOf({}), key);
  expect([status, ErrorBody.parse(body).code]).toEqual([429, "too_many_requests"]);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  const next = await calls.deploy({ apps: [appNamed("quick", "a")] });
  for (const id of ids) await server.request("DELETE", `/deployments/${id}`, { key });
  expect((await calls.settled(next)).status).toBe("running");
  const left = await server.database.query
    .selectFrom("deployments")
    .select("id")
    .where("project_id", "=", project)
    .where("status", "in", ["queued", "in_progress"])
    .execute();
  expect(left).toEqual([]);
});

it("leaves builds whose archive is on another server to that server, and says so while it is away", async () => {
  const { query } = server.database;
  const id = await calls.deploy({ apps: [appNamed("elsewhere", "a")], waits: true });
  await expect.poll(() => runtime.waiting()).toBe(1);
  const { source_blob } = await query
    .selectFrom("deployments")
    .select("source_blob")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  const set = (values: object) => query.updateTable("deployments").set(values).where("id", "=", id).execute();
  const seconds = (count: number) => new Date(Date.now() - count * 1000);
  const builder = { builder: "dead", builder_life: "dead" };
  const built = runtime.built.length;
  await set({ ...builder, source_blob: createId(), created_at: seconds(30) });
  runtime.release();
  const reason = expect.stringContaining("Waits for the server that received the archive") as unknown;
  await expect.poll(() => calls.get(id)).toMatchObject({ status: "queued", status_reason: reason });
  expect(runtime.built.length).toBe(built);

  const archive = join(server.dataDir, "blobs", "deployments", source_blob ?? "");
  const form = await deploymentOf({ apps: [appNamed("elsewhere", "a")] });
  await writeFile(archive, Buffer.from(await (form.get("file") as File).arrayBuffer()));
  await set({ source_blob });
  const running = await calls.settled(id);
  expect([running.status, running.status_reason]).toEqual(["running", undefined]);

  const lost = await calls.deploy({ apps: [appNamed("lost", "a")], waits: true });
  await expect.poll(() => runtime.waiting()).toBe(1);
  await query
    .updateTable("deployments")
    .set({ ...builder, source_blob: createId(), created_at: seconds(25 * 3600) })
    .where("id", "=", lost)
    .execute();
  runtime.release();
  expect(await calls.settled(lost)).toMatchObject({
    status: "failed",
    status_reason: expect.stringContaining("No running server could read the archive for a day") as unknown,
  });
});

it("begins a build again whose server has gone, and gives up after three attempts", async () => {
  const { query } = server.database;
  const id = await calls.deploy({ apps: [appNamed("orphan", "a")], waits: true });
  await expect.poll(() => runtime.waiting()).toBe(1);
  const takeAway = (attempts: number) =>
    query
      .updateTable("deployments")
      .set({ builder: "dead", builder_life: "dead", attempts })
      .where("id", "=", id)
      .execute();
  await takeAway(1);
  const before = runtime.built.length;
  runtime.release();
  await expect.poll(() => runtime.built.length).toBe(before + 1);
  await takeAway(3);
  runtime.release();
  expect(await calls.settled(id)).toMatchObject({
    status: "failed",
    status_reason: expect.stringContaining("interrupted 3 times") as unknown,
  });
});

it("sweeps builds that nothing needs, and old rows of deleted deployments with their lines", async () => {
  const { database } = server;
  const swept = new Deployments({
    database,
    store: new DeploymentStore(database, await envelopesOf(server)),
    blobs: createFileBlobs(join(server.dataDir, "blobs", "deployments")),
    logs: new AppLogs({ database, log: pino({ level: "silent" }), maxProjectBytes: () => 2 ** 30 }),
    runtime,
    onRunning: () => undefined,
    unknownFields: "ignore",
    logRetentionDays: () => 14,
  });
  const [deleted, busy] = [
    await calls.deploy({ apps: [appNamed("swept", "a")], lines: ["a line"] }),
    await calls.deploy({ apps: [appNamed("busy", "a")] }),
  ];
  const [{ project_id }] = await Promise.all([
    database.query.selectFrom("deployments").select("project_id").where("id", "=", busy).executeTakeFirstOrThrow(),
    calls.settled(deleted),
    calls.settled(busy),
  ]);
  for (const id of [deleted, busy]) await server.request("DELETE", `/deployments/${id}`);
  const invocation = { app_name: "busy", version: "latest", action_name: "a", is_async: true, timeout_seconds: 10 };
  await database.query
    .insertInto("invocations")
    .values({ id: createId(), project_id, deployment_id: busy, status: "running", ...invocation })
    .execute();
  await swept.sweep();
  expect(runtime.removed).toContain(`artifact of ${deleted}`);
  expect(runtime.removed).not.toContain(`artifact of ${busy}`);
  const rowsOf = (table: "deployments" | "app_log_chunks", column: "id" | "deployment_id") =>
    sql`select 1 from ${sql.table(table)} where ${sql.ref(column)} = ${deleted}`.execute(database.query);
  expect((await rowsOf("deployments", "id")).rows).toHaveLength(1);
  await database.query
    .updateTable("deployments")
    .set({ deleted_at: new Date(Date.now() - 15 * 86_400_000) })
    .where("id", "in", [deleted, busy])
    .execute();
  await swept.sweep();
  expect((await rowsOf("deployments", "id")).rows).toHaveLength(0);
  expect((await rowsOf("app_log_chunks", "deployment_id")).rows).toHaveLength(0);
  await database.query.deleteFrom("invocations").execute();
});
