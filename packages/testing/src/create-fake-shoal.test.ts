import { ApiError, Shoal } from "@shoal/client";
import { defineEndpoint, json, listProxies } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import { CreateProfile } from "@shoal/schemas";
import { createFakeShoal, type FakeShoal } from "@shoal/testing";
import { describe, expect, it } from "vitest";

function start(): { fake: FakeShoal; shoal: Shoal } {
  const fake = createFakeShoal();
  return { fake, shoal: new Shoal({ apiKey: fake.apiKey, fetch: fake.fetch }) };
}

function startOnce(): { fake: FakeShoal; shoal: Shoal } {
  const fake = createFakeShoal();
  return { fake, shoal: new Shoal({ apiKey: fake.apiKey, fetch: fake.fetch, maxRetries: 0 }) };
}

async function refusalOf(call: Promise<unknown>): Promise<string> {
  const outcome: unknown = await call.then(
    () => "it succeeded",
    (reason: unknown) => reason,
  );
  return ApiError.isInstance(outcome) ? `${outcome.status} ${outcome.code}` : String(outcome);
}

it("serves a client in memory", async () => {
  const { fake, shoal } = start();
  await using browser = await shoal.browsers.create({ name: "shop", tags: { team: "a" } });
  const { fs } = shoal.browsers;
  const id = browser.session_id;
  const { watch_id } = await fs.watch.start(id, { path: "/home/shoal", recursive: true });
  await fs.writeFile(id, "hello", { path: "/home/shoal/new/a.txt" });
  expect(await fs.readText(id, { path: "/home/shoal/new/a.txt" })).toBe("hello");
  const events = fs.watch.events(id, watch_id);
  await fs.watch.stop(id, watch_id).catch(() => undefined);
  expect(
    await refusalOf(
      (async () => {
        for await (const _ of events);
      })(),
    ),
  ).toBe("404 not_found");
  expect((await shoal.browsers.list({ tags: { team: "a" } })).items.map(({ name }) => name)).toEqual(["shop"]);
  expect(fake.calls[0]).toMatchObject({
    operationId: "browsers.create",
    method: "POST",
    path: "/browsers",
    body: { name: "shop", tags: { team: "a" } },
    status: 200,
  });
});

describe("calls", () => {
  it("record the request and the status of its answer", async () => {
    const { fake, shoal } = start();
    await shoal.profiles.list({ limit: 5, query: "ü" });
    await shoal.profiles.get("no/where").catch(() => undefined);
    await fake.fetch(`${fake.baseUrl}/nowhere`);
    expect(fake.calls.map(({ headers: _, ...call }) => ({ ...call, status: call.status }))).toMatchObject([
      {
        operationId: "profiles.list",
        method: "GET",
        path: "/profiles?limit=5&query=%C3%BC",
        query: { limit: 5, offset: 0, query: "ü" },
        status: 200,
      },
      { operationId: "profiles.get", path: "/profiles/no%2Fwhere", params: { id_or_name: "no/where" }, status: 404 },
      { operationId: undefined, method: "GET", path: "/nowhere", status: 404 },
    ]);
    expect(fake.calls[0]?.headers.authorization).toBe(`Bearer ${fake.apiKey}`);
  });
});

describe("failNext", () => {
  it("answers with a status, the given number of times", async () => {
    const { fake, shoal } = startOnce();
    fake.failNext("profiles.list", { status: 503, retryAfterSeconds: 1, times: 2 });
    fake.failNext("profiles.list", { status: 409, code: "name_taken", message: "Taken." });
    expect(await refusalOf(shoal.profiles.list())).toBe("503 shutting_down");
    expect(await refusalOf(shoal.profiles.list())).toBe("503 shutting_down");
    await expect(shoal.profiles.list()).rejects.toMatchObject({ status: 409, code: "name_taken", message: "Taken." });
    expect((await shoal.profiles.list()).items).toEqual([]);
    expect(() => {
      // @ts-expect-error -- a misspelled name is also a compile error
      fake.failNext("profiles.lst", {});
    }).toThrow("Unknown operation profiles.lst");
    expect(() => {
      fake.failNext("profiles.list", { status: 200 });
    }).toThrow("400 to 599");
  });

  it("makes a client's retries observable", async () => {
    const { fake, shoal } = start();
    fake.failNext("profiles.create", { status: 503, retryAfterSeconds: 0 });
    expect((await shoal.profiles.create({ name: "a" })).name).toBe("a");
    expect(fake.calls.map(({ status }) => status)).toEqual([503, 201]);
    expect(new Set(fake.calls.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  });

  it("cuts connections before and after a call takes effect", async () => {
    const { fake, shoal } = startOnce();
    fake.failNext("profiles.create", { cut: "before" });
    await expect(shoal.profiles.create({ name: "a" })).rejects.toMatchObject({ name: "ConnectionError" });
    fake.failNext("profiles.create", { cut: "answer" });
    await expect(shoal.profiles.create({ name: "b" })).rejects.toMatchObject({ name: "ConnectionError" });
    expect((await shoal.profiles.list()).items.map(({ name }) => name)).toEqual(["b"]);
    expect(fake.calls.map(({ status }) => status)).toEqual([undefined, undefined, 200]);
  });

  it("cuts an answer that the client then receives by its idempotency key", async () => {
    const { fake, shoal } = start();
    fake.failNext("profiles.create", { cut: "answer" });
    expect((await shoal.profiles.create({ name: "a" })).name).toBe("a");
    expect((await shoal.profiles.list()).items).toHaveLength(1);
  });

  it("cuts streams, which readers resume, and downloads, which readers notice", async () => {
    const { fake, shoal } = start();
    const { fs } = shoal.browsers;
    const { session_id: id } = await shoal.browsers.create();
    const { watch_id } = await fs.watch.start(id, { path: "/tmp" });
    for (const name of ["a", "b", "c"]) await fs.writeFile(id, "x".repeat(100), { path: `/tmp/${name}` });
    fake.failNext("browsers.fs.watch.events", { cut: { afterEvents: 2 } });
    const seen: unknown[] = [];
    for await (const { name } of fs.watch.events(id, watch_id)) if (seen.push(name) === 3) break;
    expect(seen).toEqual(["a", "b", "c"]);
    expect(
      fake.calls
        .filter(({ operationId }) => operationId === "browsers.fs.watch.events")
        .map(({ headers }) => headers["last-event-id"]),
    ).toEqual([undefined, "2"]);
    fake.failNext("browsers.fs.readFile", { cut: { afterBytes: 10 } });
    await expect(fs.readText(id, { path: "/tmp/a" })).rejects.toThrow();
  });

  it("delays answers", async () => {
    const { fake, shoal } = startOnce();
    fake.failNext("profiles.list", { delayMs: 60_000 });
    await expect(shoal.profiles.list({}, { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({
      name: "TimeoutError",
    });
  });
});

it("names operations and options without behaviour", async () => {
  const { shoal } = startOnce();
  await expect(shoal.proxies.list()).rejects.toMatchObject({
    status: 501,
    code: "not_implemented",
    message: expect.stringContaining("proxies.list") as string,
  });
  await expect(shoal.browsers.create({ proxy_id: "p" })).rejects.toMatchObject({
    status: 501,
    message: expect.stringContaining("body.proxy_id") as string,
  });
  // As in the service, a caller without access to the session gets a 404 first.
  await expect(shoal.browsers.process.run("nowhere", { command: "true" })).rejects.toMatchObject({ status: 404 });
  const { session_id } = await shoal.browsers.create();
  await expect(shoal.browsers.process.run(session_id, { command: "true" })).rejects.toMatchObject({
    status: 501,
    message: expect.stringContaining("browsers.process.exec") as string,
  });
});

it("lets a test define handlers, also for operations of an extension", async () => {
  const { fake, shoal } = startOnce();
  fake.handle(listProxies, ({ query, context }) => ({
    items: [{ id: context.projectId, type: "datacenter", name: String(query.limit) }],
    hasMore: false,
    nextOffset: undefined,
  }));
  expect((await shoal.proxies.list({ limit: 7 })).items).toEqual([
    { id: expect.any(String) as string, type: "datacenter", name: "7" },
  ]);
  await expect(shoal.proxies.list({ limit: 0 })).rejects.toMatchObject({ status: 400 });
  const greet = defineEndpoint({
    operationId: "greetings.create",
    area: "Greetings",
    plane: "control",
    method: "POST",
    path: "/greetings",
    summary: "Greet.",
    body: json(CreateProfile),
    responses: { 201: json(CreateProfile) },
    errors: [400, 401],
  });
  fake.handle(greet, ({ body }) => ({ name: `Hello ${body.name ?? "you"}` }));
  expect(await shoal.transport.call(greet, { body: { name: "Ada" } })).toEqual({ name: "Hello Ada" });
  fake.handle(greet, () => {
    throw new ServiceError(418, "teapot", "No.");
  });
  await expect(shoal.transport.call(greet, { body: {} })).rejects.toMatchObject({ status: 418, code: "teapot" });
  fake.reset();
  await expect(shoal.proxies.list()).rejects.toMatchObject({ status: 501 });
  await expect(shoal.transport.call(greet, { body: {} })).rejects.toMatchObject({ status: 501 });
});

it("answers at the legacy paths of projects", async () => {
  const { fake, shoal } = start();
  const { id } = await shoal.projects.create({ name: "old" });
  expect(
    await (
      await fake.fetch(`${fake.baseUrl}/projects/old`, { headers: { authorization: `Bearer ${fake.apiKey}` } })
    ).json(),
  ).toMatchObject({
    id,
    name: "old",
  });
});

it("ends sessions with the reasons of the service", async () => {
  const { fake, shoal } = start();
  const { session_id: id } = await shoal.browsers.create({ name: "a" });
  const { watch_id } = await shoal.browsers.fs.watch.start(id, { path: "/tmp" });
  const ended = (async () => {
    for await (const _ of shoal.browsers.fs.watch.events(id, watch_id));
  })();
  fake.endBrowser("a", "browser_crashed");
  await ended.catch(() => undefined);
  expect(await shoal.browsers.get(id, { include_deleted: true })).toMatchObject({ ended_reason: "browser_crashed" });
  expect(await refusalOf(shoal.browsers.fs.listFiles(id, { path: "/" }))).toBe("404 not_found");
  expect(() => {
    fake.endBrowser("a");
  }).toThrow("No browser a runs");
});

it("separates projects", async () => {
  const { fake, shoal } = start();
  const project = fake.addProject("other");
  const { key } = await shoal.apiKeys.create({ name: "its own", project_id: project });
  const other = new Shoal({ apiKey: key, fetch: fake.fetch });
  await other.profiles.create({ name: "a" });
  expect((await shoal.profiles.list()).items).toEqual([]);
  expect(
    (await new Shoal({ apiKey: fake.apiKey, fetch: fake.fetch, project: "other" }).profiles.list()).items,
  ).toHaveLength(1);
});

it("forgets everything except its key on reset", async () => {
  const { fake, shoal } = start();
  await shoal.profiles.create({ name: "a" });
  fake.failNext("profiles.list", { status: 500 });
  fake.reset();
  expect(fake.calls).toEqual([]);
  expect((await shoal.profiles.list()).items).toEqual([]);
});

it("serves the same state on a port", async () => {
  const { fake, shoal } = start();
  await shoal.profiles.create({ name: "a" });
  await using listener = await fake.listen();
  const remote = new Shoal({ apiKey: fake.apiKey, baseUrl: listener.baseUrl });
  expect((await remote.profiles.list()).items.map(({ name }) => name)).toEqual(["a"]);
  const { session_id, cdp_ws_url } = await remote.browsers.create();
  expect(cdp_ws_url).toContain(listener.baseUrl.replace("http", "ws"));
  await remote.browsers.fs.writeFile(session_id, new Blob(["x".repeat(1_000_000)]), { path: "/tmp/large" });
  expect((await shoal.browsers.fs.readBytes(session_id, { path: "/tmp/large" })).length).toBe(1_000_000);
  fake.failNext("profiles.list", { cut: "before" });
  await expect(
    new Shoal({ apiKey: fake.apiKey, baseUrl: listener.baseUrl, maxRetries: 0 }).profiles.list(),
  ).rejects.toMatchObject({
    name: "ConnectionError",
  });
  await listener.close();
  await expect(
    new Shoal({ apiKey: fake.apiKey, baseUrl: listener.baseUrl, maxRetries: 0 }).profiles.list(),
  ).rejects.toMatchObject({
    name: "ConnectionError",
  });
});
