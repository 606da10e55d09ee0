import { Browser } from "@shoal/schemas";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createId, isId } from "@shoal/primitives";
import { eventually } from "@shoal/testkit";
import { connectCdp } from "../../testing/cdp-client.ts";
import { sessionRow } from "../../testing/session-row.ts";
import { startTestServer, type TestRequest, type TestServer } from "../../testing/test-server.ts";
import { refusedUpgrade } from "../../testing/upgrade.ts";

let server: TestServer;
let idle: Browser;
beforeAll(async () => {
  server = await startTestServer({ max_sessions: 4, max_sessions_per_project: 3 });
  // This session stays unused; the last test sees it end.
  idle = await create({ timeout_seconds: 10 }, await server.addProject("idle"));
  // Ten seconds instead of the default of one minute.
  expect(Date.parse(idle.expires_at ?? "") - Date.now()).toBeLessThanOrEqual(10_000);
});
afterAll(() => server.close());

const made = new Set<string>();
afterEach(async () => {
  await Promise.all([...made].map((id) => server.request("DELETE", `/browsers/${id}`)));
  made.clear();
});

async function create(body: object = {}, request: TestRequest = {}): Promise<Browser> {
  const reply = await server.request("POST", "/browsers", {
    ...(request.key !== undefined && { key: request.key }),
    body: { timeout_seconds: 3600, ...body },
  });
  expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 200 });
  const browser = Browser.parse(reply.body);
  if (request.key === undefined) made.add(browser.session_id);
  return browser;
}

const get = async (idOrName: string, query = "") => server.request("GET", `/browsers/${idOrName}${query}`);
const list = async (query: string) =>
  ((await server.request("GET", `/browsers?${query}`)).body as Browser[]).map(({ session_id }) => session_id);
const shown = async (id: string) => Browser.parse((await get(id, "?include_deleted=true")).body);

describe("optional fields", () => {
  it("are named in refusals", async () => {
    expect(await server.request("POST", "/browsers", { body: { invocation_id: "i" } })).toMatchObject({
      status: 404,
      body: { code: "not_found", field: "body.invocation_id" },
    });
  });

  it("pass with values that request nothing", async () => {
    const browser = await create({
      stealth: false,
      headless: true,
      gpu: false,
      kiosk_mode: false,
      extensions: [],
      chrome_policy: {},
      proxy_id: "",
      telemetry: null,
      tags: {},
    });
    expect(browser).toMatchObject({ headless: true, stealth: false });
    const { session_id: id } = browser;
    for (const telemetry of [
      {},
      { export: {} },
      { export: { otlp: {} } },
      { export: { otlp: { enabled: false } } },
      { enabled: false },
      { browser: { console: { enabled: false } } },
      null,
    ])
      expect(
        (
          await server.request("PATCH", `/browsers/${id}`, {
            body: { telemetry, proxy_id: null, disable_default_proxy: true },
          })
        ).status,
      ).toBe(200);
    const refused = await server.request("PATCH", `/browsers/${id}`, {
      body: { telemetry: { export: { otlp: { destination: { name: "d" } } } } },
    });
    expect(refused).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining("body.telemetry.export.otlp.destination") as unknown },
    });
  });
});

it("refuses what this server cannot provide, and names the missing part", async () => {
  expect(await server.request("POST", "/browsers", { body: { gpu: true } })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining("body.gpu") as unknown },
  });
  // The sessions of these tests are plain processes.
  expect(await server.request("POST", "/browsers", { body: { headless: false, memory: "8GiB" } })).toMatchObject({
    status: 400,
    body: { message: expect.stringMatching(/^body\.(memory|headless): /) as unknown },
  });
  expect(await server.request("POST", "/browsers", { body: { region: "us-east" } })).toMatchObject({
    status: 400,
    body: {
      code: "bad_request",
      message: expect.stringMatching(
        /^body\.region: region us-east has no running server; regions with a server: default\./,
      ) as unknown,
    },
  });
  expect(
    await server.request("POST", "/browsers", { body: { chrome_policy: { HomepageLocation: "x" } } }),
  ).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining("body.chrome_policy") as unknown },
  });
});

describe("a session", () => {
  it("starts, is found by id and name, and is driven over CDP", async () => {
    const browser = await create({
      name: "first",
      tags: { team: "a b" },
      viewport: { width: 800, height: 600 },
      timeout_seconds: 3000,
      start_url: "data:text/html,<title>Hello</title>",
    });
    expect(isId(browser.session_id)).toBe(true);
    expect(browser).toMatchObject({
      name: "first",
      tags: { team: "a b" },
      viewport: { width: 800, height: 600 },
      timeout_seconds: 3000,
      headless: true,
      placement: "process",
      browser_restarts: 0,
    });
    expect(browser.cdp_ws_url).toMatch(
      new RegExp(`^${server.baseUrl.replace("http", "ws")}/browsers/${browser.session_id}/cdp\\?jwt=`),
    );
    expect(browser).not.toHaveProperty("deleted_at");
    // Only the machine limits a plain process.
    expect([browser.region, browser.memory]).toEqual(["default", expect.stringMatching(/^\d+(GiB|MiB)$/)]);
    for (const path of [browser.session_id, "first"])
      expect((await get(path)).body).toMatchObject({ session_id: browser.session_id, cdp_ws_url: browser.cdp_ws_url });

    const cdp = await connectCdp(browser.cdp_ws_url);
    expect(await cdp.send("Browser.getVersion")).toMatchObject({ protocolVersion: "1.3" });
    await expect.poll(async () => JSON.stringify(await cdp.send("Target.getTargets"))).toContain("Hello");
    await expect.poll(async () => shown("first")).not.toHaveProperty("expires_at");
    cdp.close();
    await cdp.closed;
    await expect.poll(async () => shown("first")).toHaveProperty("expires_at");
    const { expires_at = "", usage } = await shown("first");
    expect(Date.parse(expires_at) - Date.now()).toBeGreaterThan(2_000_000);
    expect(usage?.uptime_ms).toBeGreaterThan(0);
  });

  it("accepts its name instead of its id on the instance plane, in its own project", async () => {
    const { session_id } = await create({ name: "by-name" });
    const path = "/browsers/by-name/fs";
    expect(
      await server.request("PUT", `${path}/create_directory`, { body: { path: "/home/shoal/named" } }),
    ).toMatchObject({ status: 201 });
    expect(await server.request("GET", `/browsers/${session_id}/fs/file_info?path=/home/shoal/named`)).toMatchObject({
      status: 200,
      body: { is_dir: true },
    });
    const elsewhere = await server.addProject("other-names");
    expect(await server.request("GET", `${path}/list_files?path=/`, elsewhere)).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
    await server.request("DELETE", `/browsers/${session_id}`);
    expect(await server.request("GET", `${path}/list_files?path=/`)).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
  });

  it("starts once for a request that is repeated with its Idempotency-Key", async () => {
    const repeat = () =>
      server.request("POST", "/browsers", {
        body: { name: "idempotent" },
        headers: { "idempotency-key": "start-once" },
      });
    const [one, two] = await Promise.all([repeat(), repeat()]);
    const browser = Browser.parse(one.body);
    made.add(browser.session_id);
    expect([two, await repeat()]).toMatchObject([
      { status: 200, body: one.body },
      { status: 200, body: one.body },
    ]);
    const cdp = await connectCdp(browser.cdp_ws_url);
    cdp.close();
    await cdp.closed;
  });

  it("can be deleted while it starts", async () => {
    const creating = server.request("POST", "/browsers", { body: { name: "hasty" } });
    await expect.poll(async () => (await get("hasty")).status).toBe(200);
    expect((await server.request("DELETE", "/browsers/hasty")).status).toBe(204);
    // It was either still starting or had just started.
    const { status, body } = await creating;
    if (status === 409) expect(body).toMatchObject({ code: "conflict" });
    else expect(status).toBe(200);
    expect((await get("hasty")).status).toBe(404);
    await expect.poll(async () => (await list("status=deleted&query=hasty")).length).toBe(1);
  });

  it("has the default viewport and timeout when the request names none", async () => {
    const { body } = await server.request("POST", "/browsers", { body: {} });
    made.add((body as Browser).session_id);
    expect(body).toMatchObject({ viewport: { width: 1920, height: 1080 }, timeout_seconds: 60 });
  });

  it("is deleted once, by id or name, and then found only with include_deleted", async () => {
    const browser = await create({ name: "brief" });
    const cdp = await connectCdp(browser.cdp_ws_url);
    expect(await server.request("DELETE", "/browsers/brief")).toMatchObject({ status: 204, body: undefined });
    await cdp.closed;
    for (const path of ["brief", browser.session_id]) {
      expect((await server.request("DELETE", `/browsers/${path}`)).status).toBe(404);
      expect((await get(path)).status).toBe(404);
    }
    expect((await get("brief", "?include_deleted=true")).status).toBe(404);
    const ended = await shown(browser.session_id);
    expect(ended).toMatchObject({ ended_reason: "deleted", deleted_at: expect.any(String) as unknown, name: "brief" });
    expect(ended).not.toHaveProperty("expires_at");
    expect((await server.request("PATCH", `/browsers/${browser.session_id}`, { body: { name: "x" } })).status).toBe(
      404,
    );
    expect(await server.request("GET", `/browsers/${browser.session_id}/fs/list_files?path=/`)).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining("it was deleted") as unknown },
    });
    expect(await create({ name: "brief" })).not.toMatchObject({ session_id: browser.session_id });
  });

  it("assigns a name to one of many concurrent requests", async () => {
    const replies = await Promise.all(
      [1, 2, 3].map(() => server.request("POST", "/browsers", { body: { name: "a_race" } })),
    );
    for (const { status, body } of replies) if (status === 200) made.add(Browser.parse(body).session_id);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(replies.find(({ status }) => status === 409)).toMatchObject({ body: { code: "name_taken" } });
    // Cannot match an id, which has letters and digits only.
    expect(await list("status=all&query=a_race")).toHaveLength(1);
  });

  it("changes its name and labels", async () => {
    const { session_id: id } = await create({ name: "old", tags: { a: "1", b: "2" } });
    const patch = async (body: object) => (await server.request("PATCH", `/browsers/${id}`, { body })).body as Browser;
    expect(await patch({ name: "new" })).toMatchObject({ name: "new", tags: { a: "1", b: "2" } });
    expect((await get("old")).status).toBe(404);
    expect(await patch({ tags: { c: "3" } })).toMatchObject({ name: "new", tags: { c: "3" } });
    expect(await patch({ tags: null })).toMatchObject({ tags: { c: "3" } });
    expect(await patch({})).toMatchObject({ tags: { c: "3" } });
    expect(await patch({ tags: {} })).not.toHaveProperty("tags");
    expect(await patch({ name: "" })).not.toHaveProperty("name");
    expect(await patch({ name: "again" })).toMatchObject({ name: "again" });
    expect(await patch({ name: null })).not.toHaveProperty("name");
    await create({ name: "taken" });
    expect(await server.request("PATCH", `/browsers/${id}`, { body: { name: "taken" } })).toMatchObject({
      status: 409,
      body: { code: "name_taken" },
    });
  });
});

it("lists sessions by state, name, id and labels, newest first", async () => {
  const one = await create({ name: "List.One", tags: { team: "a", env: "x" } });
  const two = await create({ name: "list_two", tags: { team: "a" } });
  expect(await list("")).toEqual([two.session_id, one.session_id]);
  expect(await list("query=LIST.")).toEqual([one.session_id]);
  expect(await list("query=t_t")).toEqual([two.session_id]);
  expect(await list(`query=${two.session_id.slice(4, 16)}`)).toEqual([two.session_id]);
  expect(await list("tags[team]=a")).toHaveLength(2);
  expect(await list("tags%5Bteam%5D=a&tags%5Benv%5D=x")).toEqual([one.session_id]);
  expect(await list("tags[team]=b")).toEqual([]);
  expect(await list("tags[team]=%00")).toEqual([]);
  expect(await list("limit=1&offset=1")).toEqual([one.session_id]);
  await server.request("DELETE", `/browsers/${one.session_id}`);
  expect(await list("")).toEqual([two.session_id]);
  expect((await list("status=deleted&limit=1"))[0]).toBe(one.session_id);
  expect((await list("status=all&limit=2")).slice(0, 2)).toEqual([two.session_id, one.session_id]);
});

describe("limits", () => {
  it("answer 429 for the project and 529 for the server, with the limit", async () => {
    // The idle session counts for the server until its timeout ends.
    await expect
      .poll(
        async () =>
          (
            await server.database.query
              .selectFrom("sessions")
              .select("ended_at")
              .where("id", "=", idle.session_id)
              .executeTakeFirstOrThrow()
          ).ended_at,
      )
      .not.toBeNull();
    for (let index = 0; index < 3; index += 1) await create();
    const full = await server.addProject("full");
    const fourth = await create({}, full);
    expect(await server.request("POST", "/browsers", {})).toMatchObject({
      status: 529,
      body: { code: "capacity_exhausted", message: expect.stringContaining("max_sessions") as unknown },
    });
    const [first = ""] = made;
    await server.request("DELETE", `/browsers/${first}`);
    await server.request("DELETE", `/browsers/${fourth.session_id}`, full);
    const project = await server.addProject("limits");
    const other = await create({}, project);
    expect((await server.request("DELETE", `/browsers/${other.session_id}`, project)).status).toBe(204);
  });

  it("answer 429 when the project reaches its limit", async () => {
    const id = createId();
    const project = await server.addProject("share");
    await server.database.query
      .insertInto("sessions")
      .values(
        [1, 2, 3].map((index) => sessionRow({ project_id: project.id, id: `${id.slice(0, 23)}${String(index)}` })),
      )
      .execute();
    const reply = await server.request("POST", "/browsers", { key: project.key });
    expect(reply).toMatchObject({
      status: 429,
      body: { code: "too_many_requests", message: expect.stringContaining("max_sessions_per_project") as unknown },
    });
    expect(reply.headers.get("retry-after")).toBe("5");
    await expect
      .poll(async () => (await server.request("GET", "/browsers", { key: project.key })).body)
      .toHaveLength(3);
  });

  it.each([
    { timeout_seconds: 9 },
    { timeout_seconds: 259_201 },
    { viewport: { width: 0, height: 1 } },
    { viewport: { width: 1, height: 100_000 } },
    { start_url: "a\0b" },
    { name: "a b" },
    { name: "" },
    { tags: { "": "x" } },
  ])("refuse %j", async (body) => {
    expect((await server.request("POST", "/browsers", { body })).status).toBe(400);
  });
});

describe("WebSockets", () => {
  it("need the session's own token and a running session", async () => {
    const one = await create();
    const two = await create();
    const token = new URL(two.cdp_ws_url).searchParams.get("jwt") ?? "";
    const own = one.cdp_ws_url.split("?")[0] ?? "";
    for (const url of [own, `${own}?jwt=`, `${own}?jwt=x.y.z`, `${own}?jwt=${token}`])
      expect(await refusedUpgrade(url)).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    expect(await refusedUpgrade(own, { authorization: "Bearer sk_shoal_wrong" })).toMatchObject({ status: 401 });
    expect(await refusedUpgrade(`${one.webdriver_ws_url.split("?")[0] ?? ""}?jwt=${token}`)).toMatchObject({
      status: 401,
      body: { code: "unauthorized" },
    });
    expect(await refusedUpgrade(one.cdp_ws_url.replace("/cdp", "/elsewhere"))).toMatchObject({ status: 404 });
    expect(await refusedUpgrade(`${server.baseUrl}/profiles`, { "x-request-id": "up-1" })).toMatchObject({
      status: 404,
      requestId: "up-1",
    });
    await server.request("DELETE", `/browsers/${one.session_id}`);
    expect(await refusedUpgrade(one.cdp_ws_url)).toMatchObject({
      status: 404,
      body: { code: "not_found", message: expect.stringContaining("it was deleted") as unknown },
    });
    expect(server.log()).not.toContain(token);
  });

  it("carry large messages completely, in both directions", async () => {
    const cdp = await connectCdp((await create()).cdp_ws_url);
    const { targetId } = await cdp.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
    const text = "x".repeat(5_000_000);
    const evaluated = await cdp.send("Runtime.evaluate", { expression: `"${text}" + "y"` }, sessionId);
    expect(evaluated).toMatchObject({ result: { value: `${text}y` } });
    cdp.close();
    await cdp.closed;
  });
});

describe("an instance that ends unexpectedly", () => {
  it("restarts its browser after the first crash, and ends the session after the second", async () => {
    const browser = await create({ name: "crashing" });
    const crash = async () => {
      const cdp = await connectCdp(browser.cdp_ws_url);
      cdp.send("Browser.crash").catch(() => undefined);
      await cdp.closed;
    };
    await crash();
    await expect.poll(async () => (await shown(browser.session_id)).browser_restarts).toBe(1);
    await expect
      .poll(async () =>
        crash().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await expect.poll(async () => (await shown(browser.session_id)).ended_reason).toBe("browser_crashed");
    expect((await get("crashing")).status).toBe(404);
    const rows = await server.database.query
      .selectFrom("sessions")
      .select(["browser_restarts", "ended_reason"])
      .where("id", "=", browser.session_id)
      .execute();
    expect(rows).toEqual([{ browser_restarts: 1, ended_reason: "browser_crashed" }]);
  });

  it("is reported as lost when it is killed", async () => {
    const browser = await create();
    const line = await eventually("the start is logged", () =>
      server
        .log()
        .split("\n")
        .find((text) => text.includes(browser.session_id) && text.includes("session started")),
    );
    process.kill((JSON.parse(line) as { pid: number }).pid, "SIGKILL");
    await expect.poll(async () => (await shown(browser.session_id)).ended_reason).toBe("instance_lost");
  });

  it("ends when it is unused", async () => {
    const row = () =>
      server.database.query
        .selectFrom("sessions")
        .select(["ended_reason", "ended_at", "created_at"])
        .where("id", "=", idle.session_id)
        .executeTakeFirstOrThrow();
    await expect.poll(async () => (await row()).ended_reason).toBe("timeout");
    const { created_at, ended_at } = await row();
    const lifeMs = Date.parse(ended_at ?? "") - Date.parse(created_at);
    expect(lifeMs).toBeGreaterThan(9_900);
  });
});
