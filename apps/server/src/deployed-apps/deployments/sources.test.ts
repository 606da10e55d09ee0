import { Deployment, ErrorBody } from "@shoal/schemas";
import { createServer, type RequestListener } from "node:http";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { DeploymentCalls } from "../../testing/deployment-calls.ts";
import { appNamed, deploymentOf, formOf, ScriptedBuilds } from "../../testing/scripted-builds.ts";
import { startTestServer, type TestReply, type TestServer } from "../../testing/test-server.ts";
import { zipOf } from "../../testing/zip.ts";

let server: TestServer;
let github: { url: string; close(): Promise<void> };
let answerGithub: RequestListener;
const runtime = new ScriptedBuilds();
const calls = new DeploymentCalls(() => server);

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
  ["a version with NUL", async () => deploymentOf({}, { version: "v\0" }), 400, "body.version: must not contain a NUL"],
  [
    "a value of a variable with NUL",
    async () => deploymentOf({}, { "env_vars[A]": "x\0" }),
    400,
    "body.env_vars.A: must not contain a NUL",
  ],
  ["a branch that leaves the repository", async () => sourceOf({ ref: "../../../user" }), 400, "body.source.ref"],
  ["a branch with encoded dots", async () => sourceOf({ ref: "a/%2e%2E/b" }), 400, "body.source.ref"],
  ["a branch with a backslash", async () => sourceOf({ ref: "a\\b" }), 400, "body.source.ref"],
  ["a branch with a control character", async () => sourceOf({ ref: "a\n" }), 400, "body.source.ref"],
  [
    "a repository with encoded dots",
    async () => sourceOf({ url: "https://github.com/a/b/%2e%2e/c" }),
    400,
    "body.source.url",
  ],
  [
    "a branch with half a surrogate pair",
    async () => sourceOf({ ref: "main\ud800" }),
    400,
    "body.source.ref: must be valid Unicode",
  ],
])("refuses %s", async (_what, body, status, message) => {
  const reply = await calls.post(await body());
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
  ["an app with a NUL in its name", () => deploymentOf({ apps: [appNamed("a\0")] }), "valid Unicode, without NUL"],
  ["an app with half a pair in its name", () => deploymentOf({ apps: [appNamed("a\ud800")] }), "half surrogate pairs"],
  ["an action with half a pair", () => deploymentOf({ apps: [appNamed("a", "b\udc00")] }), "half surrogate pairs"],
  [
    "a schema with half a pair in a key",
    () =>
      deploymentOf({
        apps: [{ name: "a", actions: [{ name: "b", input_schema: { properties: { "\ud800": {} } } }] }],
      }),
    "half surrogate pairs",
  ],
  ["a reason with NUL", () => deploymentOf({ error: "boom\0 \ud800" }), "boom\ufffd \ufffd"],
  ["a long reason", () => deploymentOf({ error: "x".repeat(20_000) }), "x".repeat(8192)],
])("fails for %s", async (_what, body, reason) => {
  const { body: created, status } = await calls.post(await body());
  expect(status, JSON.stringify(created)).toBe(201);
  expect(await calls.settled(Deployment.parse(created).id)).toMatchObject({
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
  const reply: TestReply = await calls.post(sourceOf(more));
  expect(reply.status, JSON.stringify(reply.body)).toBe(201);
  return calls.settled(Deployment.parse(reply.body).id);
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
