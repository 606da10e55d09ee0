import { Browser, BrowserPool } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";
import { RegionElsewhere } from "./elsewhere.ts";
import { createId } from "@shoal/primitives";
import type { RunningServer } from "../main/running-server.ts";
import { connectCdp } from "../testing/cdp-client.ts";
import { sharedSecret, startSecondServer } from "../testing/second-server.ts";
import { startTestServer, type TestReply, type TestRequest, type TestServer } from "../testing/test-server.ts";
import { Regions } from "./regions.ts";

/** In us-east. */
let first: TestServer;
/** In eu-west. */
let second: RunningServer;
let project: { id: string; key: string };

const here = (method: string, path: string, request: TestRequest = {}): Promise<TestReply> =>
  first.request(method, path, { key: project.key, ...request });

async function there(method: string, path: string, body?: unknown): Promise<TestReply> {
  const response = await fetch(second.baseUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${project.key}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const said = await response.text();
  return { status: response.status, headers: response.headers, body: said === "" ? undefined : JSON.parse(said) };
}

async function create(body: object, request: TestRequest = {}): Promise<Browser> {
  const reply = await here("POST", "/browsers", { ...request, body });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return Browser.parse(reply.body);
}
const end = async (browser: Browser) => {
  expect((await here("DELETE", `/browsers/${browser.session_id}`)).status).toBe(204);
};
const listed = async (path: string) =>
  z
    .array(z.object({ region: z.string() }))
    .parse((await here("GET", path)).body)
    .map(({ region }) => region);
const serverOf = async (id: string) =>
  (await first.database.query.selectFrom("sessions").select("server_id").where("id", "=", id).executeTakeFirstOrThrow())
    .server_id;
const serverIn = async (region: string) =>
  (await first.database.query.selectFrom("servers").select("id").where("region", "=", region).executeTakeFirstOrThrow())
    .id;

beforeAll(async () => {
  first = await startTestServer({ secret_key: sharedSecret, region: "us-east", max_sessions_per_project: 4 });
  second = await startSecondServer(first, { region: "eu-west", max_sessions: 3, max_sessions_per_project: 4 });
  project = await first.addProject("project");
});
afterAll(async () => {
  await second.close(1000);
  await first.close();
});

it("starts a session in the requested region, by default in its own", async () => {
  const near = await create({ name: "near" });
  const far = await create({ name: "far", region: "eu-west", tags: { a: "b" }, timeout_seconds: 300 });
  expect([near.region, far.region, far.name, far.tags]).toEqual(["us-east", "eu-west", "far", { a: "b" }]);
  expect([await serverOf(near.session_id), await serverOf(far.session_id)]).toEqual([
    await serverIn("us-east"),
    await serverIn("eu-west"),
  ]);
  // With the address that the client uses.
  expect(far.base_url).toBe(`${first.baseUrl}/sessions/${far.session_id}`);
  const client = await connectCdp(far.cdp_ws_url);
  expect(await client.send("Browser.getVersion")).toHaveProperty("product");
  client.close();
  await client.closed;

  expect([
    await listed("/browsers"),
    await listed("/browsers?region=eu-west"),
    await listed("/browsers?region=us-east"),
    await listed("/browsers?region=moon"),
  ]).toEqual([["eu-west", "us-east"], ["eu-west"], ["us-east"], []]);
  expect((await there("POST", "/browsers", { name: "near", region: "us-east" })).body).toMatchObject({
    code: "name_taken",
  });
  for (const browser of [near, far]) await end(browser);
  expect((await here("GET", `/browsers/${far.session_id}?include_deleted=true`)).body).toMatchObject({
    region: "eu-west",
    ended_reason: "deleted",
  });
});

it("answers a repeated request with the first session, and audits the creation once", async () => {
  const key = createId();
  const headers = { "idempotency-key": key, "x-request-id": `once-${key}` };
  const [one, other] = await Promise.all([1, 2].map(() => create({ region: "eu-west" }, { headers })));
  const again = await create({ region: "eu-west" }, { headers });
  expect(new Set([one, other, again].map((browser) => browser?.session_id)).size).toBe(1);
  expect((await here("POST", "/browsers", { body: {}, headers: { "idempotency-key": key } })).status).toBe(422);
  const entries = () =>
    first.database.query
      .selectFrom("audit_logs")
      .select(["operation", "project_id", "status"])
      .where("request_id", "=", headers["x-request-id"])
      .execute();
  // Each of the three requests has its own entry.
  await expect
    .poll(entries)
    .toEqual(Array.from({ length: 3 }, () => ({ operation: "browsers.create", project_id: project.id, status: 200 })));
  await end(again);
});

it("counts sessions of all regions towards one limit, and returns errors of the other server", async () => {
  const made = [await create({}), ...(await Promise.all([1, 2, 3].map(() => create({ region: "eu-west" }))))];
  const refused = await here("POST", "/browsers", { body: { region: "eu-west" } });
  // The other server checks its own limit first.
  expect([refused.status, refused.headers.get("retry-after"), (refused.body as { message: string }).message]).toEqual([
    529,
    "5",
    expect.stringContaining("its limit (max_sessions)"),
  ]);
  for (const browser of made.splice(1, 1)) await end(browser);
  made.push(await create({}));
  const full = await here("POST", "/browsers", { body: { region: "eu-west" } });
  expect(full).toMatchObject({ status: 429, body: { limit: 4, used: 4, remaining: 0 } });
  for (const browser of made) await end(browser);
  expect((await here("POST", "/browsers", { body: { region: "eu-west", gpu: true } })).body).toMatchObject({
    code: "bad_request",
    details: [{ code: "invalid_input" }],
  });
});

it("removes the session of a client that disconnected", async () => {
  const gone = new AbortController();
  const asked = here("POST", "/browsers", { body: { region: "eu-west", name: "impatient" }, signal: gone.signal });
  asked.catch(() => undefined);
  const rows = () =>
    first.database.query
      .selectFrom("sessions")
      .select("id")
      .where("project_id", "=", project.id)
      .where("ended_at", "is", null)
      .execute();
  await expect.poll(async () => (await rows()).length).toBe(1);
  gone.abort();
  // The request was aborted during the start, or just after it when this process paused.
  expect(["gone", 200]).toContain(
    await asked.then(
      ({ status }) => status,
      () => "gone",
    ),
  );
  await expect
    .poll(async () => {
      for (const { id } of await rows()) await here("DELETE", `/browsers/${id}`);
      return (await rows()).length;
    })
    .toBe(0);
});

it("prefers the server of a region with the fewest sessions, and tries the next when it is full", async () => {
  const third = await startSecondServer(first, {
    region: "eu-west",
    max_sessions: 1,
    max_sessions_per_project: 4,
    data_dir: `${first.dataDir}-another`,
  });
  const made: Browser[] = [];
  // Until the next heartbeat of the first server, the other server gets the requests.
  await expect
    .poll(async () => {
      for (const browser of made.splice(0)) await end(browser);
      for (const region of ["eu-west", "eu-west"]) made.push(await create({ region }));
      return new Set(await Promise.all(made.map(({ session_id }) => serverOf(session_id)))).size;
    })
    .toBe(2);
  while (made.length < 4) made.push(await create({ region: "eu-west" }));
  const servers = Object.values(
    Object.groupBy(await Promise.all(made.map(({ session_id }) => serverOf(session_id))), (id) => id),
  ).map((ids) => ids?.length);
  expect(servers.sort()).toEqual([1, 3]);
  for (const browser of made) await end(browser);
  await third.close(1000);
});

it("does not forward a forwarded request", async () => {
  const regions = new Regions({
    own: "here",
    known: new Map([["a", { id: "a", life: "a", address: "http://127.0.0.1:1", addresses: [], region: "there" }]]),
    refresh: () => Promise.resolve(),
    peers: { request: () => Promise.reject(new Error("unreachable")) },
    database: first.database,
    log: first.running.log,
  });
  const access = {
    key: { id: "k", name: "k", project_id: null, created_by_email: "", deployment_id: null, expiresAtMs: Infinity },
    projectId: project.id,
    namedProjectId: undefined,
    baseUrl: "",
  };
  const call = { body: {}, context: access, requestId: "r", signal: new AbortController().signal };
  const work = () => Promise.resolve(new RegionElsewhere({ region: "there", path: "/browsers", isAsked: true }));
  await expect(
    regions.answer({ ...call, headers: { "x-shoal-replica": "proven by now" } }, work),
  ).rejects.toMatchObject({
    status: 503,
    code: "server_unreachable",
  });
  await expect(regions.answer({ ...call, headers: {} }, work)).rejects.toThrow("unreachable");
});

it("lists the regions in the error for an unknown one", async () => {
  for (const path of ["/browsers", "/browser_pools"]) {
    const refused = await here("POST", path, {
      body: { region: "moon", ...(path === "/browser_pools" && { size: 1 }) },
    });
    expect(refused).toMatchObject({
      status: 400,
      body: {
        code: "bad_request",
        message:
          "body.region: region moon has no running server; regions with a server: eu-west, us-east. Omit the field to use the region of the answering server.",
      },
    });
  }
  expect(await here("POST", "/browsers", { body: { region: "the moon" } })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining("1 to 63 letters, digits and hyphens") as unknown },
  });
});

it("fills a pool in its region only, and serves requests from other regions", async () => {
  const made = await here("POST", "/browser_pools", {
    body: { name: "far", size: 2, region: "eu-west", fill_rate_per_minute: 10_000 },
  });
  const pool = BrowserPool.parse(made.body);
  expect([made.status, pool.region]).toEqual([201, "eu-west"]);
  const filled = async () => BrowserPool.parse((await here("GET", "/browser_pools/far")).body).available_count;
  await expect.poll(filled).toBe(2);
  expect([
    await listed("/browser_pools?region=eu-west"),
    await listed("/browser_pools?region=us-east"),
    await listed("/browser_pools"),
  ]).toEqual([["eu-west"], [], ["eu-west"]]);

  const leased = Browser.parse(
    (await here("POST", "/browser_pools/far/acquire", { body: { name: "leased", acquire_timeout_seconds: 60 } })).body,
  );
  expect([leased.region, leased.name, leased.pool?.name, leased.base_url, await serverOf(leased.session_id)]).toEqual([
    "eu-west",
    "leased",
    "far",
    `${first.baseUrl}/sessions/${leased.session_id}`,
    await serverIn("eu-west"),
  ]);
  expect((await here("GET", `/browsers/${leased.session_id}/fs/list_files?path=/`)).status).toBe(200);
  const second = Browser.parse(
    (await here("POST", "/browser_pools/far/acquire", { body: { acquire_timeout_seconds: 60 } })).body,
  );
  // None is left: the other server answers without a body.
  expect((await here("POST", "/browser_pools/far/acquire", { body: { acquire_timeout_seconds: 0 } })).status).toBe(204);
  for (const { session_id } of [leased, second])
    expect((await here("POST", "/browser_pools/far/release", { body: { session_id } })).status).toBe(204);
  await expect.poll(filled).toBe(2);
  expect((await here("PATCH", "/browser_pools/far", { body: { size: 1, discard_all_idle: true } })).body).toMatchObject(
    { region: "eu-west" },
  );
  await expect.poll(filled).toBe(1);
  // No other region has filled it.
  const servers = await first.database.query
    .selectFrom("sessions")
    .select("server_id")
    .distinct()
    .where("pool_id", "=", pool.id)
    .execute();
  expect(servers).toEqual([{ server_id: await serverIn("eu-west") }]);
  const moved = await here("PATCH", "/browser_pools/far", { body: { region: "us-east" } });
  expect([moved.headers.get("x-shoal-ignored-fields"), BrowserPool.parse(moved.body).region]).toEqual([
    "body.region",
    "eu-west",
  ]);
});

it("does not delay shutdown for requests waiting on another server", async () => {
  const leased = Browser.parse(
    (await here("POST", "/browser_pools/far/acquire", { body: { acquire_timeout_seconds: 60 } })).body,
  );
  const third = await startSecondServer(first, { region: "us-east", data_dir: `${first.dataDir}-third` });
  const waiting = fetch(`${third.baseUrl}/browser_pools/far/acquire`, {
    method: "POST",
    headers: { authorization: `Bearer ${project.key}`, "content-type": "application/json" },
    body: JSON.stringify({ acquire_timeout_seconds: 600 }),
  });
  await expect
    .poll(async () => (await first.database.query.selectFrom("browser_pool_waiters").select("id").execute()).length)
    .toBe(1);
  await third.close(20_000);
  const sent = await waiting;
  expect([sent.status, ((await sent.json()) as { code: string }).code]).toEqual([503, "shutting_down"]);
  await expect
    .poll(async () => (await first.database.query.selectFrom("browser_pool_waiters").select("id").execute()).length)
    .toBe(0);
  expect((await here("POST", "/browser_pools/far/release", { body: { session_id: leased.session_id } })).status).toBe(
    204,
  );
});

it("reports a region without a running server", async () => {
  await second.close(1000);
  await expect
    .poll(async () => (await here("POST", "/browsers", { body: { region: "eu-west" } })).body)
    .toMatchObject({
      message: expect.stringContaining(
        "region eu-west has no running server; regions with a server: us-east",
      ) as unknown,
    });
  const refused = await here("POST", "/browser_pools/far/acquire", { body: { acquire_timeout_seconds: 5 } });
  expect(refused).toMatchObject({
    status: 503,
    body: {
      code: "server_unreachable",
      message: expect.stringContaining("Region eu-west has no running server") as unknown,
    },
  });
  expect((await here("GET", "/browser_pools/far")).body).toMatchObject({ region: "eu-west", available_count: 0 });
});

it("fills a pool from before regions in the region of its servers", async () => {
  const { database } = first;
  const id = createId();
  await database.query
    .insertInto("browser_pools")
    .values({
      id,
      project_id: project.id,
      name: "old",
      size: 1,
      config: JSON.stringify({ fill_rate_per_minute: 10_000, timeout_seconds: 60 }),
    })
    .execute();
  expect((await here("GET", "/browser_pools/old")).body).toMatchObject({ region: "default", available_count: 0 });
  second = await startSecondServer(first, { region: "eu-west" });
  await expect
    .poll(async () => (await here("GET", "/browser_pools/old")).body)
    .toMatchObject({ region: "eu-west", available_count: 1 });
});
