import { Browser } from "@shoal/schemas";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
let session: Browser;
let cookie: string;
beforeAll(async () => {
  server = await startTestServer();
  session = Browser.parse((await server.request("POST", "/browsers", { body: {} })).body);
  await fetch(`${server.baseUrl}${file()}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${server.key}`, "content-type": "application/octet-stream" },
    body: "<script>alert(1)</script>",
  });
  const signedIn = await server.request("POST", "/console/session", {
    key: null,
    body: { api_key: server.key },
    headers: { "x-shoal-console": "1", "sec-fetch-site": "same-origin" },
  });
  cookie = (signedIn.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
});
afterAll(() => server.close());

const file = (operation = "write_file") =>
  `/browsers/${session.session_id}/fs/${operation}?path=${encodeURIComponent("/home/shoal/a b.html")}`;

/** As a browser follows a link of a page: without headers of the page. */
const follow = (
  path: string,
  {
    method = "GET",
    project = "-",
    headers = {},
  }: { method?: string; project?: string; headers?: Readonly<Record<string, string>> } = {},
) =>
  fetch(`${server.baseUrl}/console/downloads/${project}${path}`, {
    method,
    headers: { cookie, "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate", ...headers },
  });

it("lets a link of the console save a file, which no page may render", async () => {
  for (const method of ["GET", "HEAD"]) {
    const saved = await follow(file("read_file"), { method });
    expect([saved.status, await saved.text()]).toEqual([200, method === "GET" ? "<script>alert(1)</script>" : ""]);
    expect(Object.fromEntries(saved.headers)).toMatchObject({
      "cache-control": "no-store",
      "content-disposition": "attachment",
      "content-length": "25",
      "content-security-policy": "sandbox",
      "content-type": "application/octet-stream",
      "x-content-type-options": "nosniff",
    });
  }
  const missing = await follow(file("read_file").replace("html", "txt"));
  expect([missing.status, await missing.json()]).toMatchObject([404, { code: "not_found" }]);
  const usage = await follow("/usage/export?format=csv");
  expect([usage.status, usage.headers.get("content-disposition")]).toEqual([
    200,
    expect.stringMatching(/^attachment/) as unknown,
  ]);
  expect(usage.headers.get("content-security-policy")).toBe("sandbox");
});

it("streams the audit log as one file from batches of entries, and records the download", async () => {
  const day = 24 * 60 * 60 * 1000;
  const [start = "", end = ""] = [-1, 1].map((days) => new Date(Date.now() + days * day).toISOString());
  const path = `/console/audit-log?${new URLSearchParams({ start, end }).toString()}`;
  const operations = (bytes: ArrayBuffer) =>
    gunzipSync(bytes)
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { operation: string }).operation);
  // `limit` entries are read at once.
  const saved = await follow(`${path}&limit=1`);
  expect(Object.fromEntries(saved.headers)).toMatchObject({
    "content-disposition": expect.stringMatching(/^attachment/) as unknown,
    "content-security-policy": "sandbox",
    "content-type": "application/octet-stream",
  });
  expect(operations(await saved.arrayBuffer())).toEqual([
    "console.session.begin",
    "browsers.fs.writeFile",
    "browsers.create",
    "apiKeys.create",
  ]);
  expect((await follow(path, { method: "HEAD" })).status).toBe(200);
  expect(operations(await (await follow(path)).arrayBuffer())[0]).toBe("auditLogs.exportChunk");
  const empty = await follow(`/console/audit-log?start=2018-01-01T00:00:00Z&end=2018-01-02T00:00:00Z`);
  expect(gunzipSync(await empty.arrayBuffer()).length).toBe(0);
  const long = await follow(`/console/audit-log?start=2018-01-01T00:00:00Z&end=2018-03-02T00:00:00Z`);
  expect([long.status, await long.text()]).toEqual([400, expect.stringContaining("at most 30 days after start")]);
  const { key } = await server.addProject("without entries");
  const headers = { authorization: `Bearer ${key}` };
  const own = await fetch(`${server.baseUrl}${path}&format=jsonl`, { headers });
  expect([own.status, await own.text()]).toEqual([200, ""]);
});

it("reads the project in the address, and keeps projects apart", async () => {
  const other = await server.addProject("other");
  expect((await follow(file("read_file"), { project: other.id })).status).toBe(404);
  expect((await follow(file("read_file"), { project: "nowhere" })).status).toBe(404);
  expect((await follow(file("read_file"), { project: "default" })).status).toBe(200);
});

it.each([
  ["of another site", { "sec-fetch-site": "cross-site" }, file],
  ["typed by a person", { "sec-fetch-site": "none" }, file],
  ["of another port of the same host", { "sec-fetch-site": "same-site" }, file],
  ["of another origin", { origin: "http://127.0.0.1:1" }, file],
  ["to an answer that is not a file", {}, () => "/profiles"],
  ["to a list of files", {}, () => file("list_files")],
])("refuses a link %s", async (_what, headers, path) => {
  const answer = await follow(path("read_file"), { headers });
  expect([answer.status, await answer.json()]).toMatchObject([403, { code: "forbidden" }]);
});

it("refuses a link without a session of the console, and changes nothing", async () => {
  expect((await follow(file("read_file"), { headers: { cookie: "" } })).status).toBe(401);
  expect((await follow(`/browsers/${session.session_id}`, { method: "DELETE" })).status).toBe(405);
  expect((await follow(file(), { method: "PUT" })).status).toBe(405);
  expect((await server.request("GET", `/browsers/${session.session_id}`)).status).toBe(200);
});
