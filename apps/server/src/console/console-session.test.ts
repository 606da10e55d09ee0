import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestReply, type TestServer } from "../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const page = { "x-shoal-console": "1", "sec-fetch-site": "same-origin" };

const signIn = (body: object, headers: Readonly<Record<string, string>> = page) =>
  server.request("POST", "/console/session", { key: null, body, headers });

const cookieOf = ({ headers }: TestReply) => (headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";

const headersOf = (answer: TestReply) => ({
  ...page,
  "x-shoal-console": (answer.body as { page_key: string }).page_key,
  cookie: cookieOf(answer),
});

async function signedIn(key = server.key): Promise<Readonly<Record<string, string>>> {
  const answer = await signIn({ api_key: key });
  expect(answer.status).toBe(200);
  return headersOf(answer);
}

const get = (path: string, headers: Readonly<Record<string, string>>) =>
  server.request("GET", path, { key: null, headers });

async function createdKey(body: object = {}) {
  const created = await server.request("POST", "/org/api_keys", { body: { name: `k ${randomUUID()}`, ...body } });
  return created.body as { id: string; key: string };
}

it("exchanges an API key for a cookie that scripts and other sites cannot use", async () => {
  const answer = await signIn({ api_key: server.key });
  expect(answer.headers.get("set-cookie")).toMatch(
    /^shoal_console=cs_shoal_[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(answer.body).toMatchObject({
    principal: { type: "api_key", name: "admin" },
    organization_role: "admin",
    projects: [{ name: "default", role: "admin" }],
  });
  expect(JSON.stringify(answer.body)).not.toContain(server.key);
  const { rows } = { rows: await server.database.query.selectFrom("console_sessions").selectAll().execute() };
  expect(JSON.stringify(rows)).not.toContain(cookieOf(answer).slice(-43));
  expect(JSON.stringify(rows)).not.toContain(headersOf(answer)["x-shoal-console"].slice(-43));
});

it("has the prefix __Host- and Secure behind a proxy with https", async () => {
  const secure = await startTestServer({ public_url: "https://shoal.example" });
  const answer = await secure.request("POST", "/console/session", {
    key: null,
    body: { api_key: secure.key },
    headers: { ...page, origin: "https://shoal.example" },
  });
  expect(answer.headers.get("set-cookie")).toMatch(/^__Host-shoal_console=cs_shoal_.*; HttpOnly; Secure; SameSite=/);
  const session = await secure.request("GET", "/profiles", {
    key: null,
    headers: headersOf(answer),
  });
  expect(session.status).toBe(200);
  await secure.close();
});

it("refuses to sign in over http from another machine", async () => {
  const plain = await startTestServer({ public_url: "http://shoal.example" });
  const answer = await plain.request("POST", "/console/session", {
    key: null,
    body: { api_key: plain.key },
    headers: page,
  });
  expect(answer).toMatchObject({ status: 403, body: { hint: expect.stringContaining("https") as unknown } });
  await plain.close();
});

it("serves the API to pages of the console", async () => {
  const headers = await signedIn();
  expect((await get("/profiles", headers)).status).toBe(200);
  const created = await server.request("POST", "/profiles", { key: null, headers, body: { name: "from-the-console" } });
  expect(created.status).toBe(201);
  expect((await get("/console/session", headers)).body).toMatchObject({ principal: { type: "api_key" } });
});

it.each([
  ["without the header of the console", { "sec-fetch-site": "same-origin" }],
  ["from another site", { ...page, "sec-fetch-site": "cross-site" }],
  ["from another port of the same host", { ...page, "sec-fetch-site": "same-site" }],
  ["from a browser that does not name the site", { "x-shoal-console": "1" }],
  ["with another origin", { ...page, origin: "http://127.0.0.1:1" }],
  ["with an opaque origin", { ...page, origin: "null" }],
])("refuses a request %s", async (_how, headers) => {
  const { cookie = "", "x-shoal-console": pageKey = "" } = await signedIn();
  const sent = "x-shoal-console" in headers ? { ...headers, "x-shoal-console": pageKey } : headers;
  for (const [method, path] of [
    ["GET", "/profiles"],
    ["POST", "/profiles"],
    ["GET", "/console/session"],
    ["DELETE", "/console/session"],
  ] as const) {
    const answer = await server.request(method, path, { key: null, headers: { ...sent, cookie } });
    expect([path, answer.status]).toEqual([path, 403]);
    expect(answer.body).toMatchObject({ code: "forbidden", hint: expect.any(String) as unknown });
  }
  expect((await signIn({ api_key: server.key }, headers)).status).toBe(403);
});

it("does not open for a service on another port, which gets the cookie and can send every header", async () => {
  const { cookie = "", "x-shoal-console": pageKey = "" } = await signedIn();
  const { "x-shoal-console": otherKey = "" } = await signedIn();
  for (const [method, path] of [
    ["GET", "/profiles"],
    ["POST", "/profiles"],
    ["GET", "/console/session"],
    ["POST", "/console/download_keys"],
  ] as const)
    for (const key of ["1", "none", "", otherKey, pageKey.slice(0, -1), cookie, pageKey.replace("cp_", "cs_")]) {
      const headers = { ...page, origin: new URL(server.baseUrl).origin, "x-shoal-console": key, cookie };
      const answer = await server.request(method, path, {
        key: null,
        headers,
        ...(method === "POST" && { body: { path: "/-/x" } }),
      });
      expect([path, key, answer.status]).toEqual([path, key, 401]);
    }
  // Nor can it end the session of the person.
  await server.request("DELETE", "/console/session", { key: null, headers: { ...page, cookie } });
  expect((await get("/profiles", { ...page, "x-shoal-console": pageKey, cookie })).status).toBe(200);
  expect(
    JSON.stringify((await get("/console/session", { ...page, "x-shoal-console": pageKey, cookie })).body),
  ).not.toContain(pageKey);
});

it("does not open /mcp or the raw addresses of a session", async () => {
  const headers = await signedIn();
  expect((await server.request("POST", "/mcp", { key: null, headers, body: {} })).status).toBe(401);
  expect((await get("/browsers/b1/json/version", headers)).status).toBe(401);
});

it("ends with sign-out", async () => {
  const headers = await signedIn();
  const ended = await server.request("DELETE", "/console/session", { key: null, headers });
  expect(ended.status).toBe(204);
  expect(ended.headers.get("set-cookie")).toMatch(/^shoal_console=; Max-Age=0; Path=\//);
  expect((await get("/profiles", headers)).status).toBe(401);
  expect((await get("/console/session", headers)).body).toMatchObject({ code: "unauthorized" });
});

it("ends when its key is deleted", async () => {
  const key = await createdKey();
  const headers = await signedIn(key.key);
  await server.request("DELETE", `/org/api_keys/${key.id}`);
  expect((await get("/profiles", headers)).status).toBe(401);
});

it("ends after an hour without use, and after twelve hours in any case", async () => {
  const headers = await signedIn((await createdKey()).key);
  const rows = () => server.database.query.updateTable("console_sessions");
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
  await rows()
    .set({ last_used_at: ago(50) })
    .execute();
  expect((await get("/profiles", headers)).status).toBe(200);
  const { last_used_at } = await server.database.query
    .selectFrom("console_sessions")
    .select("last_used_at")
    .orderBy("last_used_at", "desc")
    .executeTakeFirstOrThrow();
  expect(Date.parse(last_used_at)).toBeGreaterThan(ago(40).getTime());
  await rows()
    .set({ last_used_at: ago(60) })
    .execute();
  expect((await get("/profiles", headers)).status).toBe(401);
  await rows()
    .set({ last_used_at: ago(0), expires_at: ago(1) })
    .execute();
  expect((await get("/profiles", headers)).status).toBe(401);
});

it("sees the project of its key alone", async () => {
  const { id, key } = await server.addProject("alone");
  const headers = await signedIn(key);
  expect((await get("/console/session", headers)).body).toMatchObject({
    organization_role: null,
    projects: [{ id, name: "alone", role: "admin" }],
  });
  expect((await get("/profiles", { ...headers, "x-shoal-project": "default" })).status).toBe(403);
});

it("writes sign-ins and requests to the audit log with the person's key", async () => {
  const key = await createdKey();
  const headers = await signedIn(key.key);
  await server.request("POST", "/profiles", { key: null, headers, body: { name: "audited" } });
  const entries = () =>
    server.database.query
      .selectFrom("audit_logs")
      .select(["auth_strategy", "operation", "status", "user_id"])
      .where("user_id", "=", key.id)
      .orderBy("sequence")
      .execute();
  const own = { auth_strategy: "dashboard", user_id: key.id };
  await expect.poll(entries).toEqual([
    { ...own, operation: "console.session.begin", status: 200 },
    { ...own, operation: "profiles.create", status: 201 },
  ]);
});

it("opens with a link, once", async () => {
  const key = await createdKey();
  const link = await server.request("POST", "/console/links", { key: key.key });
  expect(link.status).toBe(201);
  const { expires_at, url } = link.body as { expires_at: string; url: string };
  expect(Date.parse(expires_at) - Date.now()).toBeLessThanOrEqual(60_000);
  const [, code = ""] = url.split(`${server.baseUrl}/console/#link=`);
  const opened = await signIn({ link_code: code });
  expect(opened).toMatchObject({ status: 200, body: { principal: { id: key.id } } });
  expect(await signIn({ link_code: code })).toMatchObject({
    status: 410,
    body: { code: "link_expired", details: [{ code: "used" }] },
  });
  expect(server.log()).not.toContain(code);
});

it("refuses a link after a minute, and links from a session of the console", async () => {
  const link = await server.request("POST", "/console/links");
  await server.database.query.updateTable("console_links").set({ expires_at: new Date() }).execute();
  const code = (link.body as { url: string }).url.split("#link=")[1];
  const reasonOf = async (link_code: string | undefined) => {
    const { body, status } = await signIn({ link_code });
    return [status, (body as { details: { code: string }[] }).details[0]?.code];
  };
  expect(await reasonOf(code)).toEqual([410, "expired"]);
  expect(await reasonOf(`${code ?? ""}x`)).toEqual([410, "invalid"]);
  const key = await createdKey();
  const ended = await server.request("POST", "/console/links", { key: key.key });
  await server.database.query
    .updateTable("api_keys")
    .set({ expires_at: new Date(0) })
    .where("id", "=", key.id)
    .execute();
  expect(await reasonOf((ended.body as { url: string }).url.split("#link=")[1])).toEqual([410, "ended"]);
  const headers = await signedIn();
  expect((await server.request("POST", "/console/links", { key: null, headers })).status).toBe(401);
});

it("limits attempts with invalid keys, codes and cookies", async () => {
  const limited = await startTestServer({ rate_limit_per_address: 5 });
  const attempt = (body: object | undefined, headers: Readonly<Record<string, string>> = page) =>
    limited.request(body === undefined ? "GET" : "POST", body === undefined ? "/profiles" : "/console/session", {
      key: null,
      headers,
      ...(body && { body }),
    });
  expect((await attempt({ api_key: "sk_shoal_wrong" })).status).toBe(401);
  expect((await attempt({ api_key: `sk_shoal_${"x".repeat(43)}` })).status).toBe(401);
  expect((await attempt({ link_code: "cl_shoal_wrong" })).status).toBe(410);
  const cookie = `shoal_console=cs_shoal_${"x".repeat(43)}`;
  for (let i = 0; i < 2; i += 1) expect((await attempt(undefined, { ...page, cookie })).status).toBe(401);
  // The limit admits one more attempt every twelve seconds.
  for (const body of [{ api_key: `sk_shoal_${"y".repeat(43)}` }, { link_code: "cl_shoal_other" }])
    await expect.poll(async () => (await attempt(body)).status).toBe(429);
  await expect.poll(async () => (await attempt(undefined, { ...page, cookie })).status).toBe(429);
  await limited.close();
});

it("refuses incomplete bodies", async () => {
  for (const body of [{}, { api_key: server.key, link_code: "x" }, { api_key: 1 }, { key: server.key }])
    expect((await signIn(body)).status).toBe(400);
});

it("offers sign-in with an API key", async () => {
  expect((await server.request("GET", "/console/sign_in", { key: null })).body).toEqual({ api_key: true });
});
