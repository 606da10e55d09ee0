import { ApiError, Shoal, type ShoalOptions } from "@shoal/client";
import { defineEndpoint, executePlaywright, json, listProxies } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import { CreateProfile } from "@shoal/schemas";
import { type FakeShoal, startFakeShoal } from "@shoal/testing";
import { once } from "node:events";
import { createServer, type IncomingMessage, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

let fake: FakeShoal;
/** Of the present test: a reset for each one would start the service as often. */
let project = "";
let earlierCalls = 0;
beforeAll(async () => {
  fake = await startFakeShoal();
});
beforeEach(async ({ task }) => {
  project = (await wholeClient().projects.create({ name: task.id })).id;
  earlierCalls = fake.calls.length;
});
afterAll(() => fake.close());

const wholeClient = (options: ShoalOptions = {}): Shoal =>
  new Shoal({ apiKey: fake.apiKey, baseUrl: fake.baseUrl, ...options });
const client = (options: ShoalOptions = {}): Shoal => wholeClient({ project, ...options });
const calls = (): FakeShoal["calls"] => fake.calls.slice(earlierCalls);
const impatient = (): Shoal => client({ maxRetries: 0 });

async function refusalOf(call: Promise<unknown>): Promise<string> {
  const outcome: unknown = await call.then(
    () => "it succeeded",
    (reason: unknown) => reason,
  );
  return ApiError.isInstance(outcome) ? `${outcome.status} ${outcome.code}` : String(outcome);
}

it("serves a client without a browser", async () => {
  const shoal = client();
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
  expect(calls()[0]).toMatchObject({
    operationId: "browsers.create",
    method: "POST",
    path: "/browsers",
    body: { name: "shop", tags: { team: "a" } },
    status: 200,
  });
});

describe("calls", () => {
  it("record the request and the status of its answer", async () => {
    const shoal = client();
    await shoal.profiles.list({ limit: 5, query: "ü" });
    await shoal.profiles.get("no/where").catch(() => undefined);
    await fetch(`${fake.baseUrl}/nowhere`);
    expect(calls().map(({ headers: _, ...call }) => ({ ...call, status: call.status }))).toMatchObject([
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
    expect(calls()[0]?.headers.authorization).toBe(`Bearer ${fake.apiKey}`);
  });
});

describe("failNext", () => {
  it("answers with a status, the given number of times", async () => {
    const shoal = impatient();
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
    const shoal = client();
    fake.failNext("profiles.create", { status: 503, retryAfterSeconds: 0 });
    expect((await shoal.profiles.create({ name: "a" })).name).toBe("a");
    expect(calls().map(({ status }) => status)).toEqual([503, 201]);
    expect(new Set(calls().map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  });

  it("cuts connections before and after a call takes effect", async () => {
    const shoal = impatient();
    fake.failNext("profiles.create", { cut: "before" });
    await expect(shoal.profiles.create({ name: "a" })).rejects.toMatchObject({ name: "ConnectionError" });
    fake.failNext("profiles.create", { cut: "answer" });
    await expect(shoal.profiles.create({ name: "b" })).rejects.toMatchObject({ name: "ConnectionError" });
    expect((await shoal.profiles.list()).items.map(({ name }) => name)).toEqual(["b"]);
    expect(calls().map(({ status }) => status)).toEqual([undefined, undefined, 200]);
  });

  it("cuts an answer that the client then receives by its idempotency key", async () => {
    const shoal = client();
    fake.failNext("profiles.create", { cut: "answer" });
    expect((await shoal.profiles.create({ name: "a" })).name).toBe("a");
    expect((await shoal.profiles.list()).items).toHaveLength(1);
  });

  it("cuts streams, which readers resume, and downloads, which readers notice", async () => {
    const shoal = client();
    const { fs } = shoal.browsers;
    const { session_id: id } = await shoal.browsers.create();
    const { watch_id } = await fs.watch.start(id, { path: "/tmp" });
    for (const name of ["a", "b", "c"]) await fs.writeFile(id, "x".repeat(100), { path: `/tmp/${name}` });
    fake.failNext("browsers.fs.watch.events", { cut: { afterEvents: 2 } });
    const seen: unknown[] = [];
    for await (const { name } of fs.watch.events(id, watch_id)) if (seen.push(name) === 3) break;
    expect(seen).toEqual(["a", "b", "c"]);
    expect(
      calls()
        .filter(({ operationId }) => operationId === "browsers.fs.watch.events")
        .map(({ headers }) => headers["last-event-id"]),
    ).toEqual([undefined, "2"]);
    fake.failNext("browsers.fs.readFile", { cut: { afterBytes: 10 } });
    await expect(impatient().browsers.fs.readText(id, { path: "/tmp/a" })).rejects.toThrow();
  });

  it("cuts a stream before its answer, although it does not end", async () => {
    const shoal = impatient();
    const { session_id: id } = await shoal.browsers.create();
    const { watch_id } = await shoal.browsers.fs.watch.start(id, { path: "/tmp" });
    fake.failNext("browsers.fs.watch.events", { cut: "answer" });
    const { status } = await fetch(`${fake.baseUrl}/browsers/${id}/fs/watch/${watch_id}/events`, {
      headers: { authorization: `Bearer ${fake.apiKey}`, "x-shoal-project": project },
    }).catch(() => ({ status: "cut" }));
    expect(status).toBe("cut");
    expect(calls().at(-1)).toMatchObject({ operationId: "browsers.fs.watch.events", status: undefined });
  });

  it("delays answers", async () => {
    const shoal = impatient();
    fake.failNext("profiles.list", { delayMs: 60_000 });
    const patienceMs = 20; // shorter than the delay
    await expect(shoal.profiles.list({}, { signal: AbortSignal.timeout(patienceMs) })).rejects.toMatchObject({
      name: "TimeoutError",
    });
  });
});

it("sends a request with an unusual target to no other host", async () => {
  let foreign = 0;
  const other = createServer((_request, response) => {
    foreign += 1;
    response.end();
  });
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const { hostname, port: fakePort } = new URL(fake.baseUrl);
  const statuses: (number | undefined)[] = [];
  for (const path of [
    "//",
    `//127.0.0.1:${String(port)}/profiles`,
    `http://127.0.0.1:${String(port)}/profiles`,
    "/%zz",
  ]) {
    const headers = { authorization: `Bearer ${fake.apiKey}` };
    const request = httpRequest({ host: hostname, port: fakePort, path, headers, agent: false }).end();
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    answer.resume();
    statuses.push(answer.statusCode);
  }
  other.close();
  await once(other, "close");
  expect(foreign).toBe(0);
  expect(statuses.slice(0, 2)).toEqual([404, 404]);
  expect((await client().profiles.list()).items).toEqual([]);
});

it("answers 501 where only a browser could answer", async () => {
  const shoal = impatient();
  // As in the service, a caller without access to the session gets a 404 first.
  await expect(shoal.browsers.process.run("nowhere", { command: "true" })).rejects.toMatchObject({ status: 404 });
  const { session_id } = await shoal.browsers.create({ stealth: true, extensions: [] });
  await expect(shoal.browsers.process.run(session_id, { command: "true" })).rejects.toMatchObject({
    status: 501,
    code: "not_implemented",
    message: expect.stringContaining("browsers.process.exec") as string,
  });
  await expect(shoal.browsers.render({ url: "https://example.com" })).rejects.toMatchObject({ status: 501 });
});

it("lets a test define handlers, also for operations of an extension", async () => {
  const shoal = wholeClient({ maxRetries: 0 });
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
  const repeated = { idempotencyKey: "once" };
  expect(await shoal.transport.call(greet, { body: { name: "Ada" } }, repeated)).toEqual({ name: "Hello Ada" });
  // The policy of this key is about the operation of the test alone.
  const { id: projectId } = await shoal.projects.get("default");
  const { key } = await shoal.apiKeys.create({
    name: "narrow",
    policy: { statements: [{ action: "operation:browsers.playwright.execute", resource: `projects/${projectId}/*` }] },
  });
  const { session_id } = await shoal.browsers.create();
  fake.handle(executePlaywright, () => ({ success: true, result: 1 }));
  const narrow = wholeClient({ apiKey: key, maxRetries: 0 });
  expect((await narrow.browsers.playwright.execute(session_id, { code: "1" })).result).toBe(1);
  fake.handle(greet, () => {
    throw new ServiceError(418, "teapot", "No.");
  });
  await expect(shoal.transport.call(greet, { body: {} })).rejects.toMatchObject({ status: 418, code: "teapot" });
  await fake.reset();
  expect((await shoal.proxies.list()).items).toEqual([]);
  await expect(shoal.transport.call(greet, { body: { name: "Ada" } }, repeated)).rejects.toMatchObject({ status: 501 });
});

it("applies the policy of a key to the handlers of a test", async () => {
  const shoal = wholeClient({ maxRetries: 0 });
  const { id: projectId } = await shoal.projects.get("default");
  const [own, other] = [await shoal.browsers.create(), await shoal.browsers.create()];
  fake.handle(executePlaywright, () => ({ success: true, result: 1 }));
  const clientOf = async (name: string, statements: { action: string; resource: string }[]) => {
    const { key } = await shoal.apiKeys.create({ name, policy: { statements } });
    return wholeClient({ apiKey: key, maxRetries: 0 });
  };
  const all = `projects/${projectId}/*`;
  const reader = await clientOf("reader", [{ action: "operation:browsers.get", resource: all }]);
  await expect(reader.browsers.playwright.execute(own.session_id, { code: "1" })).rejects.toMatchObject({
    status: 403,
    code: "insufficient_scope",
  });
  const one = await clientOf("one session", [
    { action: "operation:browsers.get", resource: all },
    {
      action: "operation:browsers.playwright.execute",
      resource: `projects/${projectId}/browsers/${own.session_id}`,
    },
  ]);
  expect((await one.browsers.playwright.execute(own.session_id, { code: "1" })).result).toBe(1);
  await expect(one.browsers.playwright.execute(other.session_id, { code: "1" })).rejects.toMatchObject({ status: 403 });
});

it("restores and saves the profile that a session started with", async () => {
  const shoal = client({ maxRetries: 0 });
  const cookie = { name: "user", value: "ada", domain: "example.com", path: "/", expires: -1 };
  const cookies = [{ ...cookie, httpOnly: true, secure: true, sameSite: "Lax" as const }];
  await shoal.profiles.create({ name: "ada" });
  await shoal.profiles.storageState.import("ada", { cookies, origins: [] });
  const { session_id } = await shoal.browsers.create({ profile: { name: "ada", save_changes: true } });
  const snapshot = await shoal.browsers.snapshot(session_id);
  expect(snapshot.engine).toBe("restored");
  const restored = await shoal.browsers.create({ snapshot: { id: snapshot.id } });
  expect(restored.session_id).not.toBe(session_id);
  // A restored session saves to no profile. Its state is that of the snapshot, and not an empty one.
  const again = await shoal.browsers.snapshot(restored.session_id);
  const empty = await shoal.browsers.snapshot((await shoal.browsers.create()).session_id);
  expect(again.size_bytes).toBe(snapshot.size_bytes);
  expect(empty.size_bytes).toBeLessThan(snapshot.size_bytes);
  await shoal.browsers.saveProfile(session_id);
  const { items: versions } = await shoal.profiles.versions.list("ada");
  expect(versions.map(({ source }) => source)).toEqual(["save", "import"]);
  expect((await shoal.profiles.storageState.get("ada"))?.cookies).toEqual(cookies);
  const forkable = await shoal.browsers.create({ forkable: true });
  expect(await refusalOf(shoal.browsers.snapshot(forkable.session_id))).toBe("501 not_implemented");
});

it("refuses a key that is not one of a fake, before it starts", async () => {
  for (const apiKey of ["test", "", `${fake.apiKey}x`, fake.apiKey.slice(1)])
    await expect(startFakeShoal({ apiKey })).rejects.toThrow(
      new TypeError("apiKey: expected the key of an earlier fake. Leave it out to get a new one in fake.apiKey."),
    );
});

it("answers at the legacy paths of projects", async () => {
  const shoal = client();
  const { id } = await shoal.projects.create({ name: "old" });
  expect(
    await (await fetch(`${fake.baseUrl}/projects/old`, { headers: { authorization: `Bearer ${fake.apiKey}` } })).json(),
  ).toMatchObject({
    id,
    name: "old",
  });
});

it("ends sessions with the reasons of the service", async () => {
  const shoal = client();
  const { session_id: id } = await shoal.browsers.create({ name: "a" });
  const { watch_id } = await shoal.browsers.fs.watch.start(id, { path: "/tmp" });
  const ended = (async () => {
    for await (const _ of shoal.browsers.fs.watch.events(id, watch_id));
  })().catch(() => undefined);
  await fake.endBrowser("a", "browser_crashed");
  await ended;
  expect(await shoal.browsers.get(id, { include_deleted: true })).toMatchObject({ ended_reason: "browser_crashed" });
  expect(await refusalOf(shoal.browsers.fs.listFiles(id, { path: "/" }))).toBe("404 not_found");
  await expect(fake.endBrowser("a")).rejects.toThrow("No browser a runs");
});

it("separates projects", async () => {
  const shoal = client();
  const { id } = await shoal.projects.create({ name: "other" });
  const { key } = await shoal.apiKeys.create({ name: "its own", project_id: id });
  const other = wholeClient({ apiKey: key });
  await other.profiles.create({ name: "a" });
  expect((await shoal.profiles.list()).items).toEqual([]);
  expect((await client({ project: "other" }).profiles.list()).items).toHaveLength(1);
});

it("forgets everything except its key on reset", async () => {
  const shoal = wholeClient();
  await shoal.profiles.create({ name: "a" });
  fake.failNext("profiles.list", { status: 500 });
  await fake.reset();
  expect(fake.calls).toEqual([]);
  expect((await shoal.profiles.list()).items).toEqual([]);
});

it("shows its address in answers, and closes its port", async () => {
  await using other = await startFakeShoal();
  const remote = new Shoal({ apiKey: other.apiKey, baseUrl: other.baseUrl, maxRetries: 0 });
  const { session_id, cdp_ws_url } = await remote.browsers.create();
  expect(cdp_ws_url).toContain(other.baseUrl.replace("http", "ws"));
  await remote.browsers.fs.writeFile(session_id, new Blob(["x".repeat(1_000_000)]), { path: "/tmp/large" });
  expect((await remote.browsers.fs.readBytes(session_id, { path: "/tmp/large" })).length).toBe(1_000_000);
  expect((await client().browsers.list()).items).toEqual([]);
  await expect(startFakeShoal({ port: Number(new URL(other.baseUrl).port) })).rejects.toMatchObject({
    code: "EADDRINUSE",
  });
  const resetting = other.reset();
  await other.close();
  await resetting;
  await expect(remote.profiles.list()).rejects.toMatchObject({ name: "ConnectionError" });
  await expect(other.reset()).rejects.toThrow("The fake is closed.");
});
