import { Browser, BrowserPool } from "@shoal/schemas";
import { createServer } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectCdp } from "../../testing/cdp-client.ts";
import { startTestServer, type TestRequest, type TestServer } from "../../testing/test-server.ts";

const atOnce = { fill_rate_per_minute: 100_000 };

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ max_sessions: 6, max_sessions_per_project: 6, allow_private_hosts: ["127.0.0.1"] });
});
afterAll(() => server.close());

const made = new Set<string>();
afterEach(async () => {
  await Promise.all([...made].map((id) => server.request("DELETE", `/browser_pools/${id}`, { body: { force: true } })));
  made.clear();
});

async function create(body: object, request: TestRequest = {}): Promise<BrowserPool> {
  const reply = await server.request("POST", "/browser_pools", { ...request, body });
  expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 201 });
  const pool = BrowserPool.parse(reply.body);
  made.add(pool.id);
  return pool;
}

const get = async (idOrName: string) =>
  BrowserPool.parse((await server.request("GET", `/browser_pools/${idOrName}`)).body);
const acquire = (id: string, body: object = {}, request: TestRequest = {}) =>
  server.request("POST", `/browser_pools/${id}/acquire`, { ...request, body });
const release = (id: string, session_id: string, reuse = true) =>
  server.request("POST", `/browser_pools/${id}/release`, { body: { session_id, reuse } });
const counts = async (id: string) => {
  const { available_count, acquired_count } = await get(id);
  return [available_count, acquired_count];
};

async function lease(id: string, body: object = { acquire_timeout_seconds: 30 }): Promise<Browser> {
  const reply = await acquire(id, body);
  expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 200 });
  return Browser.parse(reply.body);
}

describe("a pool", () => {
  it("is created, found by id and name, listed, changed and deleted", async () => {
    const pool = await create({
      name: "Search",
      size: 1,
      fill_rate_per_minute: 0,
      viewport: { width: 800, height: 600 },
      start_url: "about:blank",
      telemetry: { enabled: true },
    });
    expect(pool).toMatchObject({ name: "Search", available_count: 0, acquired_count: 0, extension_ids: [] });
    expect(pool.browser_pool_config).toMatchObject({
      size: 1,
      name: "Search",
      fill_rate_per_minute: 0,
      timeout_seconds: 600,
      stealth: false,
      headless: true,
      viewport: { width: 800, height: 600 },
      start_url: "about:blank",
      telemetry: { browser: { control: { enabled: true } } },
    });
    for (const path of [pool.id, "Search"]) expect(await get(path)).toEqual(pool);
    const listed = async (query: string) =>
      ((await server.request("GET", `/browser_pools?${query}`)).body as BrowserPool[]).map(({ id }) => id);
    for (const query of ["", "query=sea", `query=${pool.id}`, "name=SEARCH"])
      expect(await listed(query)).toEqual([pool.id]);
    for (const query of ["query=nothing", "name=sea", "region=eu-west", `query=${pool.id.slice(1)}`])
      expect(await listed(query)).toEqual([]);
    expect(await server.request("POST", "/browser_pools", { body: { name: "Search", size: 1 } })).toMatchObject({
      status: 409,
      body: { code: "name_taken" },
    });

    const changed = await server.request("PATCH", "/browser_pools/Search", {
      body: {
        name: "",
        size: 2,
        timeout_seconds: 20,
        start_url: "",
        telemetry: { browser: { control: { enabled: false } } },
      },
    });
    expect(changed).toMatchObject({
      status: 200,
      body: {
        name: "Search",
        browser_pool_config: {
          size: 2,
          timeout_seconds: 20,
          fill_rate_per_minute: 0,
          telemetry: { browser: { control: { enabled: false }, system: { enabled: true } } },
        },
      },
    });
    expect(BrowserPool.parse(changed.body).browser_pool_config).not.toHaveProperty("start_url");
    const other = await create({ size: 1, fill_rate_per_minute: 0 });
    expect(await server.request("PATCH", `/browser_pools/${other.id}`, { body: { name: "Search" } })).toMatchObject({
      status: 409,
      body: { code: "name_taken" },
    });
    expect(await server.request("DELETE", "/browser_pools/Search")).toMatchObject({ status: 204 });
    for (const method of ["GET", "DELETE"])
      expect(await server.request(method, "/browser_pools/Search")).toMatchObject({
        status: 404,
        body: { code: "not_found" },
      });
    expect(await acquire("Search")).toMatchObject({ status: 404 });
  });

  it.each<[string, object, number]>([
    ["size", { size: 0 }, 400],
    ["size", { size: 1.5 }, 400],
    ["timeout_seconds", { timeout_seconds: 9 }, 400],
    ["timeout_seconds", { timeout_seconds: 259_201 }, 400],
    ["fill_rate_per_minute", { fill_rate_per_minute: -1 }, 400],
    ["name", { name: "a b" }, 400],
    ["start_url", { start_url: "x".repeat(2049) }, 400],
    ["refresh_on_profile_update", { refresh_on_profile_update: true }, 400],
    ["viewport.width", { viewport: { width: 1e9, height: 1 } }, 400],
    ["network.private_hosts", { network: { private_hosts: ["a b"] } }, 400],
    ["chrome_policy", { chrome_policy: { HomepageLocation: "x" } }, 400],
  ])("names body.%s when it is invalid: %j", async (field, body, status) => {
    expect(await server.request("POST", "/browser_pools", { body: { size: 1, ...body } })).toMatchObject({
      status,
      body: { message: expect.stringContaining(`body.${field}`) as unknown },
    });
  });

  it("needs extensions that exist", async () => {
    expect(
      await server.request("POST", "/browser_pools", { body: { size: 1, extensions: [{ name: "nowhere" }] } }),
    ).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining("Extension nowhere") as unknown },
    });
  });

  it("needs an existing proxy, and room in the limits for all of its browsers", async () => {
    expect(await server.request("POST", "/browser_pools", { body: { size: 1, proxy_id: "none" } })).toMatchObject({
      status: 404,
    });
    expect(await server.request("POST", "/browser_pools", { body: { size: 7 } })).toMatchObject({
      status: 429,
      body: { limit: 6, used: 0, remaining: 6 },
    });
    const pool = await create({ size: 4, fill_rate_per_minute: 0 });
    expect(await server.request("PATCH", `/browser_pools/${pool.id}`, { body: { size: 7 } })).toMatchObject({
      status: 429,
    });
    expect(await server.request("PATCH", `/browser_pools/${pool.id}`, { body: { size: 6 } })).toMatchObject({
      status: 200,
    });
    expect(await server.request("POST", "/browsers", { body: {} })).toMatchObject({
      status: 429,
      body: { limit: 6, used: 6 },
    });
  });

  it("fills no faster than its rate, with a minute's worth at once", async () => {
    const { id } = await create({ size: 4, fill_rate_per_minute: 50 });
    await expect.poll(() => counts(id)).toEqual([2, 0]);
    await server.request("POST", `/browser_pools/${id}/flush`);
    // The rate is used up, so that nothing is started.
    expect(await acquire(id, { acquire_timeout_seconds: 1 })).toMatchObject({ status: 204, body: undefined });
    expect(await counts(id)).toEqual([0, 0]);
  });

  it("grows and shrinks", async () => {
    const { id } = await create({ size: 3, ...atOnce });
    await expect.poll(() => counts(id)).toEqual([3, 0]);
    const leased = await lease(id);
    await server.request("PATCH", `/browser_pools/${id}`, { body: { size: 1 } });
    await expect.poll(() => counts(id)).toEqual([0, 1]);
    expect((await release(id, leased.session_id)).status).toBe(204);
    await expect.poll(() => counts(id)).toEqual([1, 0]);
    await server.request("PATCH", `/browser_pools/${id}`, { body: { size: 2 } });
    await expect.poll(() => counts(id)).toEqual([2, 0]);
  });
});

describe("a lease", () => {
  it("is a separate, unused session with the requested options", async () => {
    const { id } = await create({ name: "named", size: 1, ...atOnce, timeout_seconds: 77 });
    await expect.poll(() => counts(id)).toEqual([1, 0]);
    const { rows } = await warmOf(id);
    const [warm = ""] = rows;
    expect((await server.request("GET", "/browsers")).body).toEqual([]);
    expect((await server.request("GET", `/browsers/${warm}`)).status).toBe(404);
    expect((await server.request("DELETE", `/browsers/${warm}`)).status).toBe(404);
    expect((await server.request("GET", `/browsers/${warm}/fs/list_files?path=/`)).status).toBe(404);

    const beganMs = Date.now();
    const browser = await lease(id, { name: "mine", tags: { team: "a" }, telemetry: { enabled: true } });
    expect(Date.parse(browser.expires_at ?? "")).toBeGreaterThanOrEqual(beganMs + 77_000);
    expect(browser).toMatchObject({
      session_id: warm,
      name: "mine",
      tags: { team: "a" },
      timeout_seconds: 77,
      pool: { id, name: "named" },
      telemetry: { browser: { system: { enabled: true } } },
    });
    expect((await server.request("GET", "/browsers/mine")).body).toMatchObject({ session_id: warm, pool: { id } });
    expect((await server.request("GET", "/browsers?query=named")).body).toMatchObject([{ session_id: warm }]);
    expect(await acquire(id, { name: "mine" })).toMatchObject({ status: 409, body: { code: "name_taken" } });
    expect(await server.request("DELETE", `/browser_pools/${id}`)).toMatchObject({
      status: 409,
      body: { code: "pool_in_use" },
    });
    expect((await release(id, warm)).status).toBe(204);
    const next = await lease(id);
    expect(next).not.toHaveProperty("name");
    expect(next).not.toHaveProperty("tags");
    expect(next).not.toHaveProperty("telemetry");
    expect((await server.request("DELETE", `/browser_pools/${id}`, { body: { force: true } })).status).toBe(204);
    expect((await server.request("GET", `/browsers/${next.session_id}`)).status).toBe(404);
  });

  it("leaves nothing to the next one: no tab, cookie, storage, file or valid URL", async () => {
    const web = createServer((_request, response) =>
      response.setHeader("content-type", "text/html").end("<title>left behind</title>"),
    );
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    const address = web.address();
    const origin = `http://127.0.0.1:${String(typeof address === "object" ? address?.port : 0)}`;
    const { id } = await create({ size: 1, ...atOnce });
    const first = await lease(id);
    const inPage = async (browser: Browser, expression: string) => {
      const cdp = await connectCdp(browser.cdp_ws_url);
      const targets = (await cdp.send("Target.getTargets")) as { targetInfos: { type: string; url: string }[] };
      const { targetId } = (await cdp.send("Target.createTarget", { url: origin })) as { targetId: string };
      const { sessionId } = (await cdp.send("Target.attachToTarget", { targetId, flatten: true })) as {
        sessionId: string;
      };
      const evaluate = async (code: string) =>
        (
          (await cdp.send(
            "Runtime.evaluate",
            { expression: code, awaitPromise: true, returnByValue: true },
            sessionId,
          )) as {
            result: { value?: unknown };
          }
        ).result.value;
      await expect.poll(() => evaluate("location.origin + document.readyState")).toBe(`${origin}complete`);
      const value = await evaluate(expression);
      cdp.close();
      await cdp.closed;
      return { value, pages: targets.targetInfos.filter(({ type }) => type === "page").map(({ url }) => url) };
    };
    await inPage(
      first,
      `document.cookie = "user=me; max-age=9999"; localStorage.user = "me"; indexedDB.open("user"); caches.open("user").then(() => true)`,
    );
    expect(
      (
        await server.request("PUT", `/browsers/${first.session_id}/fs/create_directory`, {
          body: { path: "/home/shoal/left" },
        })
      ).status,
    ).toBe(201);

    expect((await release(id, first.session_id)).status).toBe(204);
    const second = await lease(id);
    expect(second.session_id).not.toBe(first.session_id);
    const { value, pages } = await inPage(
      second,
      `Promise.all([indexedDB.databases(), caches.keys()]).then(([databases, keys]) => JSON.stringify([document.cookie, localStorage.length, databases.length, keys.length]))`,
    );
    expect(value).toBe('["",0,0,0]');
    expect(pages).not.toContain(`${origin}/`);
    expect(
      (await server.request("GET", `/browsers/${second.session_id}/fs/file_info?path=/home/shoal/left`)).status,
    ).toBe(404);
    await expect(connectCdp(first.cdp_ws_url)).rejects.toThrow();
    expect(await release(id, first.session_id)).toMatchObject({ status: 404, body: { code: "not_found" } });
    web.close();
  });

  it("opens its own page instead of the pool's", async () => {
    const { id } = await create({ size: 1, ...atOnce, start_url: "data:text/html,<title>of the pool</title>" });
    const pagesOf = async (browser: Browser) => {
      const cdp = await connectCdp(browser.cdp_ws_url);
      const { targetInfos } = (await cdp.send("Target.getTargets")) as {
        targetInfos: { type: string; title: string }[];
      };
      cdp.close();
      return targetInfos.filter(({ type }) => type === "page").map(({ title }) => title);
    };
    const first = await lease(id, { start_url: "data:text/html,<title>of the lease</title>" });
    expect(first.start_url).toBe("data:text/html,<title>of the lease</title>");
    expect((await server.request("GET", `/browsers/${first.session_id}`)).body).toMatchObject({
      start_url: first.start_url,
    });
    await expect.poll(() => pagesOf(first)).toEqual(["of the lease"]);
    await release(id, first.session_id);
    const second = await lease(id);
    expect(second.start_url).toBe("data:text/html,<title>of the pool</title>");
    await expect.poll(() => pagesOf(second)).toEqual(["of the pool"]);
    expect(await acquire(id, { start_url: "nul\0" })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("body.start_url") as unknown },
    });
  });

  it("waits for its turn, in the order of the requests", async () => {
    const { id } = await create({ size: 1, ...atOnce });
    const first = await lease(id);
    const order: number[] = [];
    const waiting: Promise<void>[] = [];
    for (const number of [1, 2, 3]) {
      waiting.push(
        lease(id).then(async ({ session_id }) => {
          order.push(number);
          await release(id, session_id);
        }),
      );
      // Reported below.
      waiting.at(-1)?.catch(() => undefined);
      await expect.poll(() => waitersOf(id)).toBe(number);
    }
    await release(id, first.session_id);
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
  });

  it("is a 204 after the timeout, and a disconnected caller takes no browser", async () => {
    const { id } = await create({ size: 1, ...atOnce });
    const only = await lease(id);
    for (const seconds of [0, 1])
      expect(await acquire(id, { acquire_timeout_seconds: seconds })).toMatchObject({ status: 204, body: undefined });
    const gone = new AbortController();
    const left = acquire(id, {}, { signal: gone.signal }).catch(() => "gone");
    await expect.poll(() => waitersOf(id)).toBe(1);
    gone.abort();
    expect(await left).toBe("gone");
    await expect.poll(() => waitersOf(id)).toBe(0);
    // Without reuse, another browser replaces it, at the fill rate.
    expect((await release(id, only.session_id, false)).status).toBe(204);
    await expect.poll(() => counts(id)).toEqual([1, 0]);
    expect(await acquire(id, { acquire_timeout_seconds: 0 })).toMatchObject({ status: 200 });
  });

  it("is replaced at once with reuse even if the fill rate is used up, but not without reuse", async () => {
    const { id } = await create({ size: 1, fill_rate_per_minute: 1 });
    const first = await lease(id);
    await release(id, first.session_id);
    const second = await lease(id);
    await release(id, second.session_id, false);
    expect(await acquire(id, { acquire_timeout_seconds: 1 })).toMatchObject({ status: 204 });
  });

  it("ends at its timeout if it is not released, and the pool fills again", async () => {
    const { id } = await create({ size: 1, ...atOnce, timeout_seconds: 10 });
    const { session_id } = await lease(id);
    const ended = async () => (await server.request("GET", `/browsers/${session_id}?include_deleted=true`)).body;
    await expect.poll(ended).toMatchObject({ ended_reason: "timeout" });
    await expect.poll(() => counts(id)).toEqual([1, 0]);
  });

  it("is replaced when it is deleted, and so are warm browsers that are flushed or discarded", async () => {
    const { id } = await create({ size: 2, ...atOnce });
    const { session_id } = await lease(id);
    await server.request("DELETE", `/browsers/${session_id}`);
    await expect.poll(() => counts(id)).toEqual([2, 0]);
    for (const discard of [
      () => server.request("POST", `/browser_pools/${id}/flush`),
      () => server.request("PATCH", `/browser_pools/${id}`, { body: { discard_all_idle: true } }),
    ]) {
      const { rows: before } = await warmOf(id);
      expect(before).toHaveLength(2);
      await discard();
      await expect
        .poll(async () => (await warmOf(id)).rows)
        .toSatisfy((now: string[]) => now.length === 2 && !now.some((one) => before.includes(one)));
    }
  });

  it("is refused before a browser is leased if the request is impossible", async () => {
    const { id } = await create({ size: 1, fill_rate_per_minute: 0 });
    expect(await acquire(id, { telemetry: { enabled: false, browser: { console: { enabled: true } } } })).toMatchObject(
      {
        status: 400,
        body: { message: expect.stringContaining("body.telemetry") as unknown },
      },
    );
    expect(await acquire(id, { telemetry: { export: { otlp: { destination: { name: "d" } } } } })).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining("body.telemetry.export.otlp.destination") as unknown },
    });
    for (const body of [
      { acquire_timeout_seconds: 3601 },
      { acquire_timeout_seconds: -1 },
      { start_url: "x".repeat(2049) },
      { name: "a b" },
    ]) {
      expect(await acquire(id, body)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining(`body.${Object.keys(body)[0] ?? ""}`) as unknown },
      });
    }
  });

  it("cannot be released to another pool", async () => {
    const [one, two] = [await create({ size: 1, ...atOnce }), await create({ size: 1, fill_rate_per_minute: 0 })];
    const { session_id } = await lease(one.id);
    for (const id of [session_id, "x", "nul\0"]) expect(await release(two.id, id)).toMatchObject({ status: 404 });
    expect(await counts(one.id)).toEqual([0, 1]);
  });
});

it("keeps no warm browsers in an archived project", async () => {
  const { id: project, key } = await server.addProject("archived");
  const made = await server.request("POST", "/browser_pools", { key, body: { size: 1, ...atOnce } });
  const { id } = BrowserPool.parse(made.body);
  await expect.poll(async () => (await warmOf(id)).rows.length).toBe(1);
  expect((await server.request("DELETE", `/org/projects/${project}`)).body).toMatchObject({
    code: "project_not_empty",
    message: expect.stringContaining("browser pools") as unknown,
  });
  expect((await server.request("PATCH", `/org/projects/${project}`, { body: { status: "archived" } })).status).toBe(
    200,
  );
  await expect.poll(async () => (await warmOf(id)).rows.length).toBe(0);
});

it("leases a different browser to each of many callers, and loses none", async () => {
  const { id } = await create({ size: 3, ...atOnce });
  const held = new Set<string>();
  const all = new Set<string>();
  const callers = 9;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      const { session_id } = await lease(id, { acquire_timeout_seconds: 120 });
      expect(held.has(session_id)).toBe(false);
      held.add(session_id);
      all.add(session_id);
      expect(held.size).toBeLessThanOrEqual(3);
      await server.request("GET", `/browsers/${session_id}`);
      held.delete(session_id);
      expect((await release(id, session_id)).status).toBe(204);
    }),
  );
  expect(all.size).toBe(callers);
  await expect.poll(() => counts(id)).toEqual([3, 0]);
  expect(await waitersOf(id)).toBe(0);
});

async function warmOf(id: string): Promise<{ rows: string[] }> {
  const rows = await server.database.query
    .selectFrom("sessions")
    .select("id")
    .where("pool_id", "=", id)
    .where("ended_at", "is", null)
    .where("pool_state", "=", "warm")
    .execute();
  return { rows: rows.map((row) => row.id) };
}

async function waitersOf(id: string): Promise<number> {
  return (
    await server.database.query.selectFrom("browser_pool_waiters").select("id").where("pool_id", "=", id).execute()
  ).length;
}
