import { Browser } from "@shoal/schemas";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
let session: Browser;
let cookie: string;
let pageKey: string;
beforeAll(async () => {
  server = await startTestServer();
  session = Browser.parse((await server.request("POST", "/browsers", { body: { timeout_seconds: 3600 } })).body);
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
  pageKey = (signedIn.body as { page_key: string }).page_key;
});
afterAll(() => server.close());

const file = (operation = "write_file") =>
  `/browsers/${session.session_id}/fs/${operation}?path=${encodeURIComponent("/home/shoal/a b.html")}`;

async function downloadKey(path: string): Promise<string> {
  const created = await server.request("POST", "/console/download_keys", {
    key: null,
    body: { path },
    headers: { cookie, "x-shoal-console": pageKey, "sec-fetch-site": "same-origin" },
  });
  return (created.body as { key: string }).key;
}

/** As a browser follows a link of a page: without headers of the page. */
const follow = async (
  path: string,
  {
    key,
    method = "GET",
    project = "-",
    headers = {},
  }: { key?: string; method?: string; project?: string; headers?: Readonly<Record<string, string>> } = {},
) =>
  fetch(`${server.baseUrl}/console/downloads/${key ?? (await downloadKey(`/${project}${path}`))}/${project}${path}`, {
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

it("refuses a link to a service that has the cookie alone, a key of another link, and a link after an hour", async () => {
  const address = file("read_file");
  const key = await downloadKey(`/-${address}`);
  const [, end = ""] = /^cd_shoal_(\w+)-/.exec(key) ?? [];
  const later = (Number.parseInt(end, 36) + 60_000).toString(36);
  for (const wrong of ["x", pageKey, key.slice(0, -1), key.replace(end, later)])
    expect([wrong, (await follow(address, { key: wrong })).status]).toEqual([wrong, 401]);
  for (const [path, project] of [
    [address, "default"],
    [`${address}x`, "-"],
    ["/usage/export?format=csv", "-"],
  ] as const)
    expect([path, project, (await follow(path, { key, project })).status]).toEqual([path, project, 401]);
  const seconds = (Number.parseInt(end, 36) - Date.now()) / 1000;
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(3600);
  vi.spyOn(Date, "now").mockReturnValue(Number.parseInt(end, 36));
  try {
    expect((await follow(address, { key })).status).toBe(401);
  } finally {
    vi.restoreAllMocks();
  }
  // A browser repeats a download that broke, with the same link.
  for (const _time of [1, 2]) expect((await follow(address, { key })).status).toBe(200);
  expect(server.log()).not.toContain(key.slice(-43));
});

it("refuses a link without a session of the console, and changes nothing", async () => {
  expect((await follow(file("read_file"), { headers: { cookie: "" } })).status).toBe(401);
  expect((await follow(`/browsers/${session.session_id}`, { method: "DELETE" })).status).toBe(405);
  expect((await follow(file(), { method: "PUT" })).status).toBe(405);
  expect((await server.request("GET", `/browsers/${session.session_id}`)).status).toBe(200);
});
