import { createId } from "@shoal/primitives";
import { Deployment, type DeploymentEvent, ErrorBody } from "@shoal/schemas";
import { sql } from "kysely";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { createFileBlobs } from "../../storage/blobs/blobs.ts";
import { createSecrets } from "../../storage/secrets.ts";
import { appNamed, deploymentOf, formOf, type Script, ScriptedBuilds } from "../../testing/scripted-builds.ts";
import { startTestServer, type TestReply, type TestServer } from "../../testing/test-server.ts";
import { zipOf } from "../../testing/zip.ts";
import { createAppLogs } from "../logs/app-logs.ts";
import { DeploymentStore } from "./deployment-store.ts";
import { Deployments } from "./deployments.ts";

let server: TestServer;
let github: { url: string; close(): Promise<void> };
let answerGithub: RequestListener;
const runtime = new ScriptedBuilds();

beforeAll(async () => {
  github = await startGithub();
  server = await startTestServer(
    { github_api_url: github.url, allow_private_hosts: ["127.0.0.1"], max_builds: 4 },
    { appRuntime: runtime },
  );
});
afterEach(() => {
  runtime.release();
});
afterAll(async () => {
  await server.close();
  await github.close();
});

async function startGithub(): Promise<typeof github> {
  const http = createServer((request, response) => {
    answerGithub(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const address = http.address();
  return {
    url: `http://127.0.0.1:${String(typeof address === "object" ? address?.port : 0)}`,
    close: () =>
      new Promise((resolve) =>
        http.close(() => {
          resolve();
        }),
      ),
  };
}

const post = (body: FormData, key = server.key) => server.request("POST", "/deployments", { body, key });

async function deploy(
  script: Script,
  fields: Readonly<Record<string, string>> = {},
  key = server.key,
): Promise<string> {
  const reply = await post(await deploymentOf(script, fields), key);
  expect(reply).toMatchObject({ status: 201, body: { status: "queued" } });
  return Deployment.parse(reply.body).id;
}

const get = async (id: string) => (await server.request("GET", `/deployments/${id}`)).body as Deployment;

async function settled(id: string): Promise<Deployment> {
  await expect.poll(async () => (await get(id)).status, { timeout: 20_000 }).toMatch(/running|failed|stopped/);
  return get(id);
}

async function appsNow(query: string, key = server.key): Promise<readonly Record<string, unknown>[]> {
  return (await server.request("GET", `/apps${query}`, { key })).body as Record<string, unknown>[];
}

/** Follows until `until` or the end of the stream. */
async function eventsOf(
  id: string,
  query = "",
  until: (event: DeploymentEvent) => boolean = () => false,
): Promise<{ events: DeploymentEvent[]; ids: string[]; ended: boolean }> {
  const response = await fetch(`${server.baseUrl}/deployments/${id}/events${query}`, {
    headers: { authorization: `Bearer ${server.key}` },
  });
  expect(response.status).toBe(200);
  const events: DeploymentEvent[] = [];
  const ids: string[] = [];
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      const frame = text.slice(0, end);
      text = text.slice(end + 2);
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (data === undefined) continue;
      const event = JSON.parse(data) as DeploymentEvent;
      events.push(event);
      ids.push(/^id: (.*)$/m.exec(frame)?.[1] ?? "");
      if (until(event)) return { events, ids, ended: false };
    }
  }
  return { events, ids, ended: true };
}

const brief = (events: readonly DeploymentEvent[]) =>
  events.map((event) => {
    switch (event.event) {
      case "log":
        return event.message;
      case "deployment_state":
        return event.deployment.status;
      case "app_version_summary":
        return `${event.app_name}@${event.version}`;
      default:
        return event.event;
    }
  });
const isRunning = (event: DeploymentEvent) =>
  event.event === "deployment_state" && event.deployment.status === "running";

it("builds an archive and lists its apps, with the names of the variables only", async () => {
  const id = await deploy(
    { apps: [appNamed("shop", "buy", "sell"), appNamed("bank", "pay")], lines: ["installing"] },
    { version: "v1", "env_vars[TOKEN]": "secret-value", "env_vars[KERNEL_API_KEY]": "mine" },
  );
  const deployment = await settled(id);
  expect(deployment).toMatchObject({
    status: "running",
    region: "aws.us-east-1a",
    entrypoint_rel_path: "index.ts",
    env_vars: { TOKEN: "" },
    source_type: "file",
    source_checksum: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
  });
  expect(runtime.built.at(-1)?.env).toEqual({ TOKEN: "secret-value" });
  expect(await appsNow("?version=v1&app_name=shop")).toEqual([
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
  expect((await appsNow("?query=BAN")).map(({ app_name }) => app_name)).toEqual(["bank"]);
  for (const path of ["?app_name=shop", "?app_name=shop&app_version=v1", "?query=shO", `?query=${id}`])
    expect((await server.request("GET", `/deployments${path}`)).body).toMatchObject([{ id }]);
  for (const path of ["?app_name=none", "?app_name=shop&app_version=v2", "?query=%25"])
    expect((await server.request("GET", `/deployments${path}`)).body).toEqual([]);
  expect(server.log()).not.toContain("secret-value");
});

it("keeps the values of variables sealed and deletes the archive after the build", async () => {
  const id = await deploy({ apps: [appNamed("sealed", "a")] }, { "env_vars[PASSWORD]": "line one\nline two ü" });
  await settled(id);
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
  const id = await deploy({ apps: [appNamed("events", "a")], lines: ["one", "two"], waits: true });
  const following = eventsOf(id, "", isRunning);
  await expect.poll(() => runtime.waiting()).toBe(1);
  runtime.release();
  const { events } = await following;
  const texts = brief(events).filter((text) => text !== "queued");
  expect(texts).toEqual(["in_progress", "Unpacked 2 files", "one", "two", "events@latest", "running"]);
  expect(events.find(({ event }) => event === "log")).toMatchObject({ source: "build" });
  expect(events.at(-2)).toMatchObject({ event: "app_version_summary", actions: [{ name: "a" }] });

  const late = await eventsOf(id, "", isRunning);
  expect(brief(late.events)).toEqual(["Unpacked 2 files", "one", "two", "events@latest", "running"]);
  const resumed = await fetch(`${server.baseUrl}/deployments/${id}/events`, {
    headers: { authorization: `Bearer ${server.key}`, "last-event-id": late.ids[1] ?? "" },
  });
  const reader = resumed.body?.getReader();
  const first = new TextDecoder().decode((await reader?.read())?.value);
  await reader?.cancel();
  expect(first).toContain('"message":"two"');
  expect(first).not.toContain('"message":"one"');

  const stopping = eventsOf(id);
  await server.request("DELETE", `/deployments/${id}`);
  const { ended, events: last } = await stopping;
  expect(ended).toBe(true);
  expect(brief(last).at(-1)).toBe("stopped");
});

it("ends the stream of a failed deployment with its reason", async () => {
  const id = await deploy({ error: "the entry file throws: boom", lines: ["almost"] });
  const { ended, events } = await eventsOf(id);
  expect(ended).toBe(true);
  expect(brief(events).slice(-2)).toEqual(["almost", "failed"]);
  expect(events.at(-1)).toMatchObject({ deployment: { status_reason: "the entry file throws: boom" } });
  for (const query of ["?since=1h", "?since="])
    expect(brief((await eventsOf(id, query)).events)).toEqual(["Unpacked 2 files", "almost", "failed"]);
});

it("replaces latest with each deployment, and other labels only with force", async () => {
  const first = await deploy({ apps: [appNamed("moving", "a")] });
  await settled(first);
  const second = await deploy({ apps: [appNamed("moving", "b")] });
  expect((await settled(second)).status).toBe("running");
  expect(await get(first)).toMatchObject({ status: "stopped", status_reason: `Deployment ${second} replaced it.` });
  expect(await appsNow("?app_name=moving")).toMatchObject([{ deployment: second, actions: [{ name: "b" }] }]);

  const fixed = await deploy({ apps: [appNamed("fixed", "a")] }, { version: "1" });
  await settled(fixed);
  const refused = await settled(await deploy({ apps: [appNamed("fixed", "b")] }, { version: "1" }));
  expect(refused.status).toBe("failed");
  expect(refused.status_reason).toContain("Version 1 of the app fixed already exists");
  expect(runtime.removed).toContain(`artifact of ${refused.id}`);
  expect((await get(fixed)).status).toBe("running");
  const forced = await settled(await deploy({ apps: [appNamed("fixed", "c")] }, { version: "1", force: "true" }));
  expect(forced.status).toBe("running");
  expect(await appsNow("?app_name=fixed&version=1")).toMatchObject([{ deployment: forced.id }]);
});

const rollBack = (id: string, key = server.key) => server.request("POST", `/deployments/${id}/rollback`, { key });

it("returns to an earlier deployment without a build, and on to the newer one", async () => {
  const first = await deploy({ apps: [appNamed("returned", "a")] }, { version: "v" });
  await settled(first);
  const second = await deploy({ apps: [appNamed("returned", "b")] }, { version: "v", force: "true" });
  await settled(second);
  const builds = runtime.built.length;
  const following = eventsOf(second);
  expect(await rollBack(first)).toMatchObject({
    status: 200,
    body: { id: first, status: "running", status_reason: `It replaced deployment ${second}.` },
  });
  expect(await appsNow("?app_name=returned")).toMatchObject([{ deployment: first, actions: [{ name: "a" }] }]);
  expect(await get(second)).toMatchObject({ status: "stopped", status_reason: `Deployment ${first} replaced it.` });
  expect(brief((await following).events).at(-1)).toBe("stopped");
  expect(brief((await eventsOf(first, "", isRunning)).events).slice(-2)).toEqual(["returned@v", "running"]);
  expect(await rollBack(second)).toMatchObject({ status: 200, body: { status: "running" } });
  expect((await get(first)).status).toBe("stopped");
  expect(runtime.built.length).toBe(builds);
});

it("returns only those apps of a deployment that a newer one replaced", async () => {
  const both = await deploy({ apps: [appNamed("stays", "a"), appNamed("moves", "a")] });
  await settled(both);
  const newer = await deploy({ apps: [appNamed("moves", "b"), appNamed("added", "b")] });
  await settled(newer);
  expect((await rollBack(both)).status).toBe(200);
  expect(await appsNow("?app_name=moves")).toMatchObject([{ deployment: both }]);
  expect(await appsNow("?app_name=added")).toMatchObject([{ deployment: newer }]);
  expect([(await get(both)).status, (await get(newer)).status]).toEqual(["running", "running"]);
});

it("refuses to return to a deployment that runs, builds, never ran, lost its build, or is of another project", async () => {
  const stopped = await deploy({ apps: [appNamed("refused", "a")] });
  await settled(stopped);
  const running = await deploy({ apps: [appNamed("refused", "b")] });
  await settled(running);
  const failed = await deploy({ error: "broken" });
  await settled(failed);
  const building = await deploy({ apps: [appNamed("refused", "c")], waits: true });
  await expect.poll(() => runtime.waiting()).toBe(1);
  const refusal = async (id: string, key?: string) => {
    const { body, status } = await rollBack(id, key);
    return `${String(status)} ${(body as { message: string }).message}`;
  };
  expect(await refusal(running)).toMatch(/^409 .*is running already/);
  expect(await refusal(failed)).toMatch(/^409 .*has never run/);
  expect(await refusal(building)).toMatch(/^409 .*has not ended its build/);
  expect(await refusal(createId())).toMatch(/^404 .*was not found/);
  const stranger = await server.addProject("stranger of rollbacks");
  expect(await refusal(stopped, stranger.key)).toMatch(/^404 .*was not found/);
  await server.database.query.updateTable("deployments").set({ artifact: null }).where("id", "=", stopped).execute();
  expect(await refusal(stopped)).toMatch(/^409 .*was removed.*20/);
});

it("stops a deployment with two apps only after both were replaced", async () => {
  const both = await deploy({ apps: [appNamed("left", "a"), appNamed("right", "a")] });
  await settled(both);
  await settled(await deploy({ apps: [appNamed("left", "b")] }));
  expect((await get(both)).status).toBe("running");
  await settled(await deploy({ apps: [appNamed("right", "b")] }));
  expect((await get(both)).status).toBe("stopped");
});

it("keeps the newer deployment when an older build ends later", async () => {
  const older = await deploy({ apps: [appNamed("raced", "old")], waits: true });
  await expect.poll(() => runtime.waiting()).toBe(1);
  const newer = await deploy({ apps: [appNamed("raced", "new")] });
  expect((await settled(newer)).status).toBe("running");
  runtime.release();
  expect(await settled(older)).toMatchObject({ status: "stopped" });
  expect(await appsNow("?app_name=raced")).toMatchObject([{ deployment: newer }]);
});

it("removes deleted deployments from every list, also while they build", async () => {
  const running = await deploy({ apps: [appNamed("gone", "a")] });
  await settled(running);
  const building = await deploy({ apps: [appNamed("gone", "b")], waits: true });
  await expect.poll(() => runtime.waiting()).toBe(1);
  for (const id of [running, building]) expect((await server.request("DELETE", `/deployments/${id}`)).status).toBe(204);
  expect(await appsNow("?app_name=gone")).toEqual([]);
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

it("shows deployments to keys of their project only", async () => {
  const other = await server.addProject("other");
  const id = await deploy({ apps: [appNamed("private", "a")] }, {}, other.key);
  await expect
    .poll(async () => (await server.request("GET", `/deployments/${id}`, { key: other.key })).body)
    .toMatchObject({ status: "running" });
  expect(await appsNow("?app_name=private", other.key)).toHaveLength(1);
  const stranger = await server.addProject("stranger");
  for (const path of [`/deployments/${id}`, `/deployments/${id}/events`])
    expect((await server.request("GET", path, { key: stranger.key })).status).toBe(404);
  expect((await server.request("DELETE", `/deployments/${id}`, { key: stranger.key })).status).toBe(404);
  expect((await server.request("GET", "/deployments", { key: stranger.key })).body).toEqual([]);
  expect(await appsNow("", stranger.key)).toEqual([]);
});

it.each<[string, () => Promise<FormData>, number, string]>([
  ["neither file nor source", async () => formOf(undefined, { entrypoint_rel_path: "index.ts" }), 400, "exactly one"],
  ["no entry", async () => formOf(await zipOf({ a: "" }), {}), 400, "entrypoint_rel_path"],
  [
    "a file that is not an archive",
    async () => formOf(Buffer.from("x"), { entrypoint_rel_path: "a" }),
    400,
    "body.file: is not a readable ZIP archive",
  ],
  [
    "an absolute entry",
    async () => formOf(await zipOf({ a: "" }), { entrypoint_rel_path: "/etc/passwd" }),
    400,
    "body.entrypoint_rel_path",
  ],
  [
    "an entry outside",
    async () => formOf(await zipOf({ a: "" }), { entrypoint_rel_path: "a/../../b" }),
    400,
    "body.entrypoint_rel_path",
  ],
  ["a variable with an odd name", async () => deploymentOf({}, { "env_vars[A B]": "x" }), 400, "body.env_vars.A B"],
  ["a force that is not a boolean", async () => deploymentOf({}, { force: "yes" }), 400, "body.force"],
  ["an unknown region", async () => deploymentOf({}, { region: "moon" }), 400, "body.region"],
  ["a source that is not JSON", async () => formOf(undefined, { source: "{" }), 400, "body.source"],
  [
    "a repository without a name",
    async () =>
      formOf(undefined, {
        source: JSON.stringify({ type: "github", url: "https://github.com/a", ref: "main", entrypoint: "a.ts" }),
      }),
    400,
    "body.source.url",
  ],
  [
    "a folder outside of the repository",
    async () =>
      formOf(undefined, {
        source: JSON.stringify({
          type: "github",
          url: "https://github.com/a/b",
          ref: "main",
          entrypoint: "a.ts",
          path: "../x",
        }),
      }),
    400,
    "body.source.path",
  ],
])("refuses %s", async (_what, body, status, message) => {
  const reply = await post(await body());
  expect(reply.status, JSON.stringify(reply.body)).toBe(status);
  expect(ErrorBody.parse(reply.body).message).toContain(message);
});

it.each<[string, () => Promise<FormData>, string]>([
  [
    "an archive without the entry",
    async () => formOf(await zipOf({ "package.json": "{}" }), { entrypoint_rel_path: "src/a.ts" }),
    "The entry file src/a.ts is not in the sources",
  ],
  ["an archive without a manifest", async () => deploymentOf({}, {}, { a: "" }), "no package.json at their root"],
  [
    "a Python app without a manifest",
    async () => formOf(await zipOf({ "a.py": "" }), { entrypoint_rel_path: "a.py" }),
    "no pyproject.toml or requirements.txt",
  ],
  [
    "an archive with a link out",
    async () => formOf(await zipOf({ passwd: "/etc/passwd" }, { mode: 0o120777 }), { entrypoint_rel_path: "passwd" }),
    "is a link that leaves the archive",
  ],
  ["code without an app", () => deploymentOf({ apps: [] }), "registers no app"],
  ["two apps of one name", () => deploymentOf({ apps: [appNamed("a"), appNamed("a")] }), "registered twice"],
  ["an app without a name", () => deploymentOf({ apps: [appNamed("")] }), "1 to 255 characters"],
  ["an app with a NUL in its name", () => deploymentOf({ apps: [appNamed("a\0")] }), "NUL"],
])("fails for %s", async (_what, body, reason) => {
  const { body: created, status } = await post(await body());
  expect(status, JSON.stringify(created)).toBe(201);
  expect(await settled(Deployment.parse(created).id)).toMatchObject({
    status: "failed",
    status_reason: expect.stringContaining(reason) as unknown,
  });
});

const sourceOf = (more: object = {}) =>
  formOf(undefined, {
    source: JSON.stringify({
      type: "github",
      url: "https://github.com/acme/shop.git",
      ref: "feature/one",
      entrypoint: "index.ts",
      ...more,
    }),
  });

async function deployRepository(more: object = {}): Promise<Deployment> {
  const reply: TestReply = await post(sourceOf(more));
  expect(reply.status, JSON.stringify(reply.body)).toBe(201);
  return settled(Deployment.parse(reply.body).id);
}

it("fetches a branch of a private repository and builds a folder of it", async () => {
  const archive = await zipOf({
    "shop-1234/README.md": "",
    "shop-1234/apps/one/package.json": "{}",
    "shop-1234/apps/one/index.ts": JSON.stringify({ apps: [appNamed("from-github", "a")] }),
  });
  const requests: string[] = [];
  answerGithub = (request, response) => {
    requests.push(`${request.url ?? ""} ${request.headers.authorization ?? ""}`);
    if (request.url === "/signed") response.end(archive);
    else response.writeHead(302, { location: "/signed" }).end();
  };
  const deployment = await deployRepository({
    path: "apps/one",
    auth: { method: "github_token", token: "ghp_very_secret" },
  });
  expect(deployment).toMatchObject({
    status: "running",
    source_type: "github",
    source_url: "https://github.com/acme/shop.git",
    source_ref: "feature/one",
    source_path: "apps/one",
    source_checksum: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
  });
  expect(requests).toEqual([
    "/repos/acme/shop/zipball/feature/one Bearer ghp_very_secret",
    "/signed Bearer ghp_very_secret",
  ]);
  const { rows } = { rows: await server.database.query.selectFrom("deployments").select("source_token").execute() };
  expect(rows.every(({ source_token }) => source_token === null)).toBe(true);
  expect(server.log()).not.toContain("ghp_very_secret");
});

it("does not send the token to another host", async () => {
  const seen: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(500).end();
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const address = other.address();
  answerGithub = (_request, response) => {
    response
      .writeHead(302, { location: `http://127.0.0.1:${String(typeof address === "object" ? address?.port : 0)}/` })
      .end();
  };
  await deployRepository({ auth: { method: "github_token", token: "ghp_very_secret" } });
  expect(seen).toEqual([undefined]);
  await new Promise((resolve) => other.close(resolve));
});

it.each<[string, RequestListener, object, string]>([
  [
    "an unknown branch",
    (_request, response) => response.writeHead(404).end(),
    {},
    'no branch, tag or commit "feature/one"',
  ],
  [
    "a refused token",
    (_request, response) => response.writeHead(401).end(),
    { auth: { method: "github_token", token: "x" } },
    "Check the token of source.auth",
  ],
  [
    "a redirect to the internal network",
    (_request, response) => response.writeHead(302, { location: "http://10.0.0.1/" }).end(),
    {},
    "Sources cannot be fetched from 10.0.0.1",
  ],
  [
    "a redirect without an end",
    (_request, response) => response.writeHead(302, { location: "/" }).end(),
    {},
    "redirected more than 3 times",
  ],
  [
    "an answer that is not an archive",
    (_request, response) => response.end("<html>"),
    {},
    "is not a readable ZIP archive",
  ],
  ["a connection that breaks", (request) => request.socket.destroy(), {}, "cannot be reached"],
  ["another host", () => undefined, { url: "https://gitlab.com/a/b" }, "not gitlab.com"],
])("fails with the cause for %s", async (_what, answer, more, reason) => {
  answerGithub = answer;
  expect(await deployRepository(more)).toMatchObject({
    status: "failed",
    status_reason: expect.stringContaining(reason) as unknown,
  });
});

it("limits the builds of a project that wait", async () => {
  const { id: project, key } = await server.addProject("busy");
  const ids: string[] = [];
  for (let index = 0; index < 20; index += 1) ids.push(await deploy({ waits: true }, {}, key));
  const { body, headers, status } = await post(await deploymentOf({}), key);
  expect([status, ErrorBody.parse(body).code]).toEqual([429, "too_many_requests"]);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  const next = await deploy({ apps: [appNamed("quick", "a")] });
  for (const id of ids) await server.request("DELETE", `/deployments/${id}`, { key });
  expect((await settled(next)).status).toBe("running");
  const left = await server.database.query
    .selectFrom("deployments")
    .select("id")
    .where("project_id", "=", project)
    .where("status", "in", ["queued", "in_progress"])
    .execute();
  expect(left).toEqual([]);
});

it("begins a build again whose server has gone, and gives up after three attempts", async () => {
  const { query } = server.database;
  const id = await deploy({ apps: [appNamed("orphan", "a")], waits: true });
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
  await expect.poll(() => runtime.built.length, { timeout: 20_000 }).toBe(before + 1);
  await takeAway(3);
  runtime.release();
  expect(await settled(id)).toMatchObject({
    status: "failed",
    status_reason: expect.stringContaining("interrupted 3 times") as unknown,
  });
});

it("reports the cause when the versions of a build cannot be stored, and does not repeat the build", async () => {
  const before = runtime.built.length;
  const id = await deploy({ apps: [appNamed("unstorable", "\ud800")] });
  expect(await settled(id)).toMatchObject({
    status: "failed",
    status_reason: expect.stringMatching(/^The app was built, but its versions could not be stored: .*json/) as unknown,
  });
  expect(runtime.built.length).toBe(before + 1);
  expect(runtime.removed).toContain(`artifact of ${id}`);
});

it("sweeps builds that nothing needs, and old rows of deleted deployments with their lines", async () => {
  const { database } = server;
  const swept = new Deployments({
    database,
    store: new DeploymentStore(database, createSecrets("unused")),
    blobs: createFileBlobs(join(server.dataDir, "blobs", "deployments")),
    logs: createAppLogs({ database, log: pino({ level: "silent" }) }),
    runtime,
    unknownFields: "ignore",
    logRetentionDays: () => 14,
  });
  const [deleted, busy] = [
    await deploy({ apps: [appNamed("swept", "a")], lines: ["a line"] }),
    await deploy({ apps: [appNamed("busy", "a")] }),
  ];
  const [{ project_id }] = await Promise.all([
    database.query.selectFrom("deployments").select("project_id").where("id", "=", busy).executeTakeFirstOrThrow(),
    settled(deleted),
    settled(busy),
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
