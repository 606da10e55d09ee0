import type { Page } from "@shoal/contract";
import type { Instance } from "@shoal/placement";
import type { BrowserDownload } from "@shoal/schemas";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { pino } from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { createSecrets } from "../../storage/secrets.ts";
import { startTestServer } from "../../testing/test-server.ts";
import { DownloadStore } from "./download-store.ts";
import { downloadHandlers } from "./handlers.ts";
import { eachDownload } from "./instance-downloads.ts";

const secrets = createSecrets("s".repeat(32));
const of = { sessionId: "session", projectId: "project" };
const hour = 60 * 60 * 1000;

function download(id: string, fields: Partial<BrowserDownload> = {}): BrowserDownload {
  return {
    download_id: id,
    state: "completed",
    name: `${id}.txt`,
    path: `/home/shoal/Downloads/${id}.txt`,
    size_bytes: 1,
    received_bytes: 1,
    sha256: "0".repeat(64),
    origin_url: "https://example.com/secret-path",
    started_at: "2026-01-31T12:00:00.000Z",
    finished_at: "2026-01-31T12:00:01.000Z",
    ...fields,
  };
}

/** Answers like an instance, also with lies. */
function instanceWith(files: Readonly<Record<string, () => AsyncIterable<Buffer> | Iterable<Buffer>>>): Instance {
  const answers = (path: string): [number, Readable] => {
    const [, id = "", content] = /^\/downloads\/([\w-]+)(\/content)?$/.exec(path) ?? [];
    if (path.startsWith("/downloads?"))
      return [200, Readable.from([Buffer.from(JSON.stringify(Object.keys(files).map((name) => download(name))))])];
    const file = files[id];
    if (file === undefined) return [404, Readable.from([])];
    return [
      200,
      content === undefined ? Readable.from([Buffer.from(JSON.stringify(download(id)))]) : Readable.from(file()),
    ];
  };
  const request: Instance["request"] = ({ path }) => {
    const [statusCode, stream] = answers(path);
    return Promise.resolve(Object.assign(stream, { statusCode }) as unknown as IncomingMessage);
  };
  return { request, sleep: { asleepSinceMs: undefined }, ended: new Promise(() => undefined) } as unknown as Instance;
}

it("lists the downloads of an instance once each, without invalid ids and with limited names", async () => {
  const page = ["a", "a", "b\\c", "../d", "e"].map((id) => download(id, { name: "n".repeat(5_000) }));
  const answer = Object.assign(Readable.from([Buffer.from(JSON.stringify(page))]), { statusCode: 200 });
  const instance = { request: () => Promise.resolve(answer as unknown as IncomingMessage) } as unknown as Instance;
  const found: BrowserDownload[] = [];
  for await (const each of eachDownload(instance, 100)) found.push(each);
  expect(found.map(({ download_id, name }) => [download_id, name.length])).toEqual([
    ["a", 1024],
    ["e", 1024],
  ]);
});

describe("kept downloads", () => {
  const directories: string[] = [];
  afterEach(() => {
    for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
  });
  function open(
    options: { readonly maxBytes?: number; readonly retentionHours?: number; readonly directory?: string } = {},
  ) {
    const directory = options.directory ?? mkdtempSync(join(tmpdir(), "shoal-kept-"));
    directories.push(directory);
    const { maxBytes = 1_000_000, retentionHours = 1 } = options;
    const store = new DownloadStore({ directory, retentionHours, maxBytes, secrets, log: pino({ level: "silent" }) });
    return { directory, store };
  }
  const filesIn = (directory: string) =>
    readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

  it("are sealed, complete at the end of the session, and deleted after their retention", async () => {
    const { directory, store } = open();
    const instance = instanceWith({ a: () => [Buffer.from("content")], b: () => [] });
    store.keep(of, instance, "a");
    // The event of `b` was lost.
    await store.finish(of, instance);
    const kept = await store.list(of);
    expect(kept.map(({ download_id, size_bytes }) => [download_id, size_bytes])).toEqual([
      ["a", 7],
      ["b", 0],
    ]);
    const [first] = kept;
    if (first === undefined) throw new Error("unreachable");
    expect(first.sha256).toBe(createHash("sha256").update("content").digest("hex"));
    expect((await (await store.read(of, first)).toArray()).join("")).toBe("content");
    for (const { name, parentPath } of filesIn(directory))
      expect(readFileSync(join(parentPath, name), "latin1")).not.toMatch(/content|secret-path|a\.txt/);
    for (const other of [
      { ...of, projectId: "other" },
      { ...of, sessionId: "other" },
    ])
      expect(await store.find(other, "a")).toBeUndefined();
    expect(await store.find(of, "../session/a")).toBeUndefined();
    expect(await store.sweep()).toBe(0);
    expect(await store.sweep(Date.now() + 2 * hour)).toBe(1);
    expect(readdirSync(directory)).toEqual([]);
  });

  it("include one whose event has not arrived when the session ends, and lists wait for its copy", async () => {
    const { store } = open();
    const finished = store.finish(of, instanceWith({ a: () => [Buffer.from("content")] }));
    expect((await store.list(of)).map(({ download_id }) => download_id)).toEqual(["a"]);
    expect(await store.find(of, "a")).toMatchObject({ size_bytes: 7 });
    await finished;
  });

  it("expire after their session even if an event arrives after its end", async () => {
    const { directory, store } = open();
    const instance = instanceWith({ a: () => [], late: () => [] });
    await store.finish(of, instance);
    store.keep(of, instance, "late");
    expect(await store.sweep(Date.now() + 2 * hour)).toBe(1);
    expect(readdirSync(directory)).toEqual([]);
  });

  it.each([
    ["has ended", { ended: Promise.resolve({ reason: "instance_lost" }) }],
    ["sleeps", { sleep: { asleepSinceMs: 1 } }],
  ])("are not asked from an instance that %s", async (_title, state) => {
    const warnings = new PassThrough();
    const log = pino({ level: "warn" }, warnings);
    const { directory } = open();
    const store = new DownloadStore({ directory, retentionHours: 1, maxBytes: 1_000_000, secrets, log });
    const asked: string[] = [];
    const request: Instance["request"] = ({ path }) => {
      asked.push(path);
      return Promise.reject(new Error("no answer"));
    };
    const instance = { ...instanceWith({}), request, ...state } as unknown as Instance;
    await store.finish(of, instance);
    expect(asked).toEqual([]);
    expect(warnings.read()).toBeNull();
    expect(await store.list(of)).toEqual([]);
  });

  it("are listed newest first, page by page", async () => {
    const { store } = open();
    const files = Object.fromEntries(["a", "b", "c"].map((id) => [id, () => []]));
    const instance = instanceWith(files);
    for (const id of Object.keys(files)) store.keep(of, instance, id);
    await store.finish(of, instance);
    const list = downloadHandlers(store).listBrowserDownloads as (call: object) => Promise<Page<BrowserDownload>>;
    const all = (await list({ context: of, query: { limit: 10, offset: 0 } })).items;
    expect(all.map(({ download_id }) => download_id).sort()).toEqual(["a", "b", "c"]);
    const [first, second] = await Promise.all(
      [0, 2].map((offset) => list({ context: of, query: { limit: 2, offset } })),
    );
    expect([...(first?.items ?? []), ...(second?.items ?? [])]).toEqual(all);
    expect([first, second]).toMatchObject([{ hasMore: true, nextOffset: 2 }, { hasMore: false }]);
  });

  it("stay within the space of their project, also after a restart", async () => {
    const { directory, store } = open({ maxBytes: 100_000 });
    async function* endless() {
      for (;;) yield Buffer.alloc(10_000);
    }
    const files = { endless, small: () => [Buffer.alloc(80_000)], second: () => [Buffer.alloc(80_000)] };
    const endlessInstance = instanceWith({ endless });
    store.keep(of, endlessInstance, "endless");
    await store.finish(of, endlessInstance);
    expect(filesIn(directory)).toEqual([]);
    store.keep(of, instanceWith(files), "small");
    await expect.poll(() => store.list(of)).toHaveLength(1);
    const again = open({ maxBytes: 100_000, directory }).store;
    const { endless: _endless, ...others } = files;
    const next = { ...of, sessionId: "next" };
    again.keep(next, instanceWith(others), "second");
    await again.finish(next, instanceWith(others));
    expect(await again.list({ ...of, sessionId: "next" })).toEqual([]);
  });

  it("share the space of their project while several are copied", async () => {
    const maxBytes = 1_000_000;
    const { directory, store } = open({ maxBytes });
    const [bothHalfway, rest] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    let halfway = 0;
    async function* inTwoParts() {
      yield Buffer.alloc(450_000);
      halfway += 1;
      if (halfway === 2) bothHalfway.resolve(undefined);
      await rest.promise;
      yield Buffer.alloc(450_000);
    }
    const sessions = ["one", "two"].map((sessionId) => ({
      of: { ...of, sessionId },
      instance: instanceWith({ large: inTwoParts }),
    }));
    const finished = sessions.map((session) => store.finish(session.of, session.instance) ?? Promise.resolve());
    await bothHalfway.promise;
    rest.resolve(undefined);
    await Promise.all(finished);
    const bytesOn = () =>
      filesIn(directory).reduce((sum, { name, parentPath }) => sum + statSync(join(parentPath, name)).size, 0);
    expect(bytesOn()).toBeLessThanOrEqual(maxBytes);
    // Removed files do not count.
    await expect.poll(async () => ((await store.usedBytes()).get("project") ?? 0) - bytesOn()).toBe(0);
  });

  it("are none without a retention, and older ones are deleted", async () => {
    const first = open();
    await first.store.finish(of, instanceWith({ a: () => [] }));
    const { directory, store } = open({ retentionHours: 0, directory: first.directory });
    const next = { ...of, sessionId: "next" };
    store.keep(next, instanceWith({ a: () => [] }), "a");
    expect(store.finish(next, instanceWith({ a: () => [] }))).toBeUndefined();
    expect(await store.sweep(Date.now() + 1)).toBe(1);
    const list = downloadHandlers(store).listBrowserDownloads as (call: object) => Promise<unknown>;
    await expect(list({ context: of, query: { limit: 1, offset: 0 } })).rejects.toThrow(
      "download_retention_hours is 0",
    );
    expect(readdirSync(directory)).toEqual([]);
  });
});

const page = `data:text/html,<a id=a download=notes.txt href='data:text/plain,noted'>notes</a><script>a.click()</script>`;

it("are listed, awaited and read by their project, during the session and after its end", async () => {
  await using server = await startServer();
  const created = await server.request("POST", "/browsers", {
    body: { name: "loader", start_url: page, timeout_seconds: 3600 },
  });
  const { session_id: id } = created.body as { session_id: string };
  const wait = (body: object) => server.request("POST", `/browsers/${id}/downloads/wait`, { body });
  const during = await wait({ timeout_seconds: 50 });
  expect(during).toMatchObject({ status: 200, body: { state: "completed", name: "notes.txt", size_bytes: 5 } });
  const { download_id: downloadId } = during.body as BrowserDownload;
  const stranger = await server.addProject("stranger");
  const paths = ["", `/${downloadId}`, `/${downloadId}/content`].map((tail) => `/browsers/${id}/downloads${tail}`);
  const [list = "", one = "", content = ""] = paths;
  for (const path of paths) expect((await server.request("GET", path, { key: stranger.key })).status).toBe(404);
  expect((await server.request("GET", "/browsers/loader/downloads")).body).toEqual([during.body]);
  expect((await server.request("DELETE", `/browsers/${id}`)).status).toBe(204);
  for (const path of paths) expect((await server.request("GET", path, { key: stranger.key })).status).toBe(404);
  const after = await server.request("GET", list);
  expect(after.body).toEqual([during.body]);
  expect((await server.request("GET", one)).body).toEqual(during.body);
  const file = await fetch(server.baseUrl + content, { headers: { authorization: `Bearer ${server.key}` } });
  expect([file.status, file.headers.get("content-type"), await file.text()]).toEqual([
    200,
    "application/octet-stream",
    "noted",
  ]);
  expect((await wait({})).body).toEqual(during.body);
  expect(await wait({ after: downloadId })).toMatchObject({ status: 404, body: { code: "not_found" } });
  expect(await wait({ after: "unknown" })).toMatchObject({ status: 404, body: { field: "body.after" } });
  expect((await server.request("GET", `${list}/..%2f..%2fsecret.key/content`)).status).toBe(404);
});

async function startServer() {
  const server = await startTestServer({ download_retention_hours: 1 });
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.close() });
}
