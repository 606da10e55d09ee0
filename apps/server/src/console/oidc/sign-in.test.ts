import { contract, type Endpoint } from "@shoal/contract";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isAtLeast, neededRole, type Role } from "@shoal/contract/rights";
import {
  type IdentityProvider,
  startIdentityProvider,
  TestBrowser,
  testClient,
  type TestPerson,
} from "../../testing/identity-provider.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let provider: IdentityProvider;
let server: TestServer;
let team: { id: string; key: string };
beforeAll(async () => {
  provider = await startIdentityProvider(() => `${server.baseUrl}/console/oidc/callback`);
  server = await startTestServer({
    oidc_issuer: provider.issuer,
    oidc_client_id: testClient.id,
    oidc_client_secret: testClient.secret,
    oidc_label: "Example",
    oidc_scopes: ["openid", "profile", "email", "groups", "offline_access"],
    oidc_roles: [
      "groups=admins:*:admin",
      "groups=staff:*:viewer",
      "groups=operators:*:operator",
      "groups=team:team:operator",
    ],
  });
  team = await server.addProject("team");
});
afterAll(async () => {
  await server.close();
  await provider.close();
});

const page = { "x-shoal-console": "1", "sec-fetch-site": "same-origin" };
let count = 0;

/** Returns the status of the answer to a WebSocket handshake. */
function upgrade(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(url, {
      headers: {
        ...headers,
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": Buffer.alloc(16).toString("base64"),
      },
    });
    request.on("upgrade", (_answer, socket) => {
      socket.destroy();
      resolve(101);
    });
    request.on("response", (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    request.on("error", reject);
  });
}

/** Signs in through the pages of the provider. */
async function signIn(groups: readonly string[], more: Partial<TestPerson> = {}) {
  count += 1;
  const login = `person-${String(count)}`;
  provider.persons.set(login, { name: `Person ${String(count)}`, email: `${login}@example.com`, groups, ...more });
  const browser = new TestBrowser(login);
  const end = await browser.open(`${server.baseUrl}/console/oidc/start`, (url) => url.includes("/console/#"));
  const token = browser.cookie(server.baseUrl, "shoal_console");
  const pageKey = new URL(end.url).hash.slice("#page_key=".length);
  const headers = { ...page, "x-shoal-console": pageKey || "none", cookie: `shoal_console=${token ?? ""}` };
  const call = (method: string, path: string, body?: object, project?: string) =>
    server.request(method, path, {
      key: null,
      headers: { ...headers, ...(project !== undefined && { "x-shoal-project": project }) },
      ...(body && { body }),
    });
  return { browser, call, end, headers, login };
}

it("offers the provider", async () => {
  expect((await server.request("GET", "/console/sign_in", { key: null })).body).toEqual({
    api_key: true,
    oidc: { label: "Example", href: "/console/oidc/start" },
  });
});

it("starts no sign-in at an address that a header of the request chose", async () => {
  for (const headers of [{ host: "evil.example" }, { host: "127.0.0.1.evil.example" }]) {
    const [answer] = (await once(get(`${server.baseUrl}/console/oidc/start`, { headers }), "response")) as [
      IncomingMessage,
    ];
    answer.resume();
    expect([headers, answer.statusCode, answer.headers.location]).toEqual([headers, 403, undefined]);
  }
});

it("signs a person in with the roles of their groups", async () => {
  const { call, end, login } = await signIn(["staff", "team"]);
  expect(end.url).toMatch(new RegExp(`^${server.baseUrl}/console/#page_key=cp_shoal_[\\w-]{43}$`));
  expect((await call("GET", "/console/session")).body).toMatchObject({
    principal: { type: "user", name: `Person ${login.split("-")[1] ?? ""}` },
    organization_role: "viewer",
    projects: [
      { name: "default", role: "viewer" },
      { id: team.id, name: "team", role: "operator" },
    ],
  });
  expect((await call("GET", "/auth/context")).body).toMatchObject({
    authentication: { source: "dashboard", credential_id: null },
    principal: { type: "user" },
  });
});

it("limits each role to its operations in each project", async () => {
  const { call } = await signIn(["staff", "team"]);
  expect((await call("GET", "/profiles")).status).toBe(200);
  expect(await call("POST", "/profiles", { name: "by-viewer" })).toMatchObject({
    status: 403,
    body: { code: "forbidden", message: expect.stringContaining("needs the role operator") as unknown },
  });
  expect((await call("POST", "/profiles", { name: "by-operator" }, "team")).status).toBe(201);
  expect((await call("GET", "/org/api_keys", undefined, "team")).status).toBe(403);
  // The role of one project must not reach the organization.
  expect((await call("GET", "/org/projects", undefined, "team")).body).toMatchObject([{ name: "team" }]);
});

it("opens the projects of a person alone", async () => {
  const { call } = await signIn(["team"]);
  expect((await call("GET", "/console/session")).body).toMatchObject({
    organization_role: null,
    projects: [{ name: "team", role: "operator" }],
  });
  expect((await call("GET", "/profiles")).status).toBe(200);
  expect((await call("GET", "/profiles", undefined, "default")).body).toMatchObject({ code: "project_not_found" });
});

it("lets administrators manage keys, which belong to them in the audit log", async () => {
  const { call, login } = await signIn(["admins"]);
  const created = await call("POST", "/org/api_keys", { name: "by-person" });
  expect(created).toMatchObject({ status: 201, body: { created_by: { email: `${login}@example.com` } } });
  const entries = () =>
    server.database.query
      .selectFrom("audit_logs")
      .select(["auth_strategy", "operation", "email"])
      .where("email", "=", `${login}@example.com`)
      .orderBy("sequence")
      .execute();
  const own = { auth_strategy: "dashboard", email: `${login}@example.com` };
  await expect.poll(entries).toEqual([
    { ...own, operation: "console.oidc.signIn" },
    { ...own, operation: "apiKeys.create" },
  ]);
});

it("refuses persons without a role, and says so on a page without texts of the provider", async () => {
  const { browser, end } = await signIn(["others"]);
  expect(end).toMatchObject({ status: 403, text: expect.stringContaining("You have no role") as unknown });
  expect(browser.cookie(server.baseUrl, "shoal_console")).toBeUndefined();
});

it("accepts an answer of the provider in the browser that started, once", async () => {
  provider.persons.set("twice", { name: "Twice", email: "twice@example.com", groups: ["staff"] });
  const browser = new TestBrowser("twice");
  const isCallback = (url: string) => url.includes("/console/oidc/callback");
  const { url } = await browser.open(`${server.baseUrl}/console/oidc/start`, isCallback);
  expect((await new TestBrowser("other").open(url)).status).toBe(403);
  const forged = new URL(url);
  forged.searchParams.set("state", "forged");
  const other = new TestBrowser("twice");
  await other.open(`${server.baseUrl}/console/oidc/start`, isCallback);
  expect((await other.open(forged.href)).status).toBe(502);
  await browser.open(url, (next) => next.endsWith("/console/"));
  expect(browser.cookie(server.baseUrl, "shoal_console")).toBeDefined();
  expect((await browser.open(url)).status).toBe(403);
});

/** As if the provider had confirmed all persons this long ago. */
async function age(minutes: number): Promise<void> {
  const { query } = server.database;
  await query
    .updateTable("console_sessions")
    .set({ checked_at: new Date(Date.now() - minutes * 60_000) })
    .execute();
  await query
    .updateTable("users")
    .set({ valid_until: new Date(Date.now() + (15 - minutes) * 60_000) })
    .execute();
}

it("asks the provider again, and applies changed groups", async () => {
  const { call, login } = await signIn(["staff"]);
  const refresh = () =>
    server.database.query
      .selectFrom("console_sessions")
      .innerJoin("users", "users.id", "console_sessions.user_id")
      .where("users.subject", "=", login)
      .select(["checked_at", "users.valid_until"])
      .executeTakeFirstOrThrow();
  provider.persons.set(login, { name: "New name", email: `${login}@example.com`, groups: ["admins"] });
  expect((await call("GET", "/console/session")).body).toMatchObject({ organization_role: "viewer" });
  for (const minutes of [8, 16, 600]) {
    await age(minutes);
    expect((await call("GET", "/console/session")).body).toMatchObject({
      principal: { name: "New name" },
      organization_role: "admin",
    });
    expect(Date.parse((await refresh()).valid_until) - Date.now()).toBeGreaterThan(14 * 60_000);
  }
});

it("lets all requests of a page wait for the provider", async () => {
  const { call } = await signIn(["staff"]);
  await age(60);
  const answers = await Promise.all(Array.from({ length: 8 }, () => call("GET", "/profiles")));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
});

it("ends the session of a deactivated person", async () => {
  const { call, login } = await signIn(["admins"]);
  const sessions = () =>
    server.database.query
      .selectFrom("console_sessions")
      .innerJoin("users", "users.id", "console_sessions.user_id")
      .where("users.subject", "=", login)
      .select("users.id")
      .execute();
  provider.persons.delete(login);
  await age(8);
  expect((await call("GET", "/profiles")).status).toBe(401);
  expect(await sessions()).toEqual([]);
});

it("ends the session of a person who lost every role", async () => {
  const { call, login } = await signIn(["staff"]);
  provider.persons.set(login, { name: "x", email: "x@example.com", groups: [] });
  await age(8);
  expect((await call("GET", "/profiles")).status).toBe(401);
});

it("refuses operations above the role of a person, over all operations", async () => {
  const refused = async ({ headers }: { readonly headers: Readonly<Record<string, string>> }) => {
    const found: string[] = [];
    for (const { auth, handoff, method, operationId, path } of Object.values<Endpoint>(contract)) {
      if (auth === "none" || handoff === "issues") continue;
      const answer = await fetch(server.baseUrl + path.replaceAll(/\{\w+\}/g, "none"), {
        method,
        headers: { ...headers, "content-type": "application/json" },
        ...(method !== "GET" && { body: "{}" }),
      });
      // Some operations answer with bytes.
      if ((await answer.text()).includes("needs the role")) found.push(operationId);
    }
    return found;
  };
  const above = (role: Role) =>
    Object.values<Endpoint>(contract)
      .filter(({ auth, handoff }) => auth !== "none" && handoff !== "issues")
      .filter((endpoint) => !isAtLeast(role, neededRole(endpoint)))
      .map(({ operationId }) => operationId);
  const [viewer, operator] = [await signIn(["staff"]), await signIn(["operators"])];
  expect(await refused(viewer)).toEqual(above("viewer"));
  expect(await refused(operator)).toEqual(above("operator"));
});

it("withholds control and secrets from viewers, and raw addresses of sessions from both", async () => {
  const { status, body } = await server.request("POST", "/browsers", { body: { name: "shown" } });
  if (status !== 200 && status !== 201) throw new Error(JSON.stringify(body));
  const viewer = await signIn(["staff"]);
  const { call } = viewer;
  for (const path of ["/browsers/shown", "/browsers"]) {
    const text = JSON.stringify((await call("GET", path)).body);
    expect(text).toContain("browser_live_view_read_only_url");
    expect(text).not.toMatch(/"browser_live_view_url"|jwt=/);
  }
  const admin = await signIn(["admins"]);
  const shown = (await admin.call("GET", "/browsers/shown")).body as { session_id: string };
  expect(JSON.stringify(shown)).toMatch(/jwt=.*"browser_live_view_url"/);
  const path = `/browsers/${shown.session_id}/cdp`;
  const origin = new URL(server.baseUrl).origin;
  for (const { headers } of [admin, viewer])
    expect(await upgrade(server.baseUrl + path, { ...headers, origin })).toBe(401);
  await server.request("DELETE", "/browsers/shown");
});

it("never logs secrets, tokens or codes", () => {
  expect(server.log()).not.toContain(testClient.secret);
  expect(server.log()).not.toMatch(/[?&]code=|cs_shoal_[\w-]{10}/);
});
