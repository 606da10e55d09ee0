import { contract, type Endpoint } from "@shoal/contract";
import { isAtLeast, neededRole } from "@shoal/contract/rights";
import { CreateBrowser, type Browser, type CreatedApiKey, UpdateBrowser } from "@shoal/schemas";
import { eventually, waitLimitMs } from "@shoal/testkit";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DeploymentKeys } from "../../deployed-apps/keys/deployment-keys.ts";
import { hashKey } from "./api-key-secret.ts";
import { zipOf } from "../../testing/zip.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { plainSettings } from "./key-scopes.ts";

let server: TestServer;
let [organizationId, projectId] = ["", ""];
let [own, other]: [Browser, Browser] = [] as never;
beforeAll(async () => {
  server = await startTestServer();
  const context = await server.request("GET", "/auth/context");
  organizationId = (context.body as { organization: { id: string } }).organization.id;
  const projects = await server.request("GET", "/org/projects");
  projectId = (projects.body as { id: string }[])[0]?.id ?? "";
  [own, other] = [await open({ name: "own" }), await open({ name: "other" })];
});
afterAll(() => server.close());

async function open(body: object, key = server.key): Promise<Browser> {
  const answer = await server.request("POST", "/browsers", { body: { timeout_seconds: 3600, ...body }, key });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body as Browser;
}

async function keyWith(limits: object, key = server.key): Promise<CreatedApiKey> {
  const answer = await server.request("POST", "/org/api_keys", { body: { name: "limited", ...limits }, key });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body as CreatedApiKey;
}

const policy = (...statements: readonly (readonly [string, string])[]) => ({
  policy: { statements: statements.map(([action, resource]) => ({ action, resource })) },
});
const inProject = (...actions: readonly string[]) =>
  policy(...actions.map((action) => [action, `projects/${projectId}/*`] as const));

async function statusOf(method: string, path: string, key: string, body?: object): Promise<number | string> {
  const answer = await server.request(method, path, { key, ...(body && { body }) });
  const { code } = (answer.body ?? {}) as { code?: string };
  return code === "insufficient_scope" ? code : answer.status;
}

const plainEnvelopes = {
  seal: (text: string) => Promise.resolve(Buffer.from(text)),
  unseal: (bytes: Buffer) => Promise.resolve(String(bytes)),
};
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

async function deployWith(key: string): Promise<string> {
  const form = new FormData();
  form.set("entrypoint_rel_path", "index.ts");
  form.set("file", new Blob([new Uint8Array(await zipOf({ "index.ts": "" }))]), "app.zip");
  const deployed = await server.request("POST", "/deployments", { key, body: form });
  expect(deployed.status, JSON.stringify(deployed.body)).toBeLessThan(300);
  const { id } = deployed.body as { id: string };
  const { query } = server.database;
  const rows = query.selectFrom("deployments").select("status").where("id", "=", id);
  await eventually("the build ends", async () => /failed|running/.test((await rows.executeTakeFirstOrThrow()).status));
  // Keys of stopped deployments are deleted.
  await query
    .updateTable("deployments")
    .set({ status: "running", artifact: "none", language: "node" })
    .where("id", "=", id)
    .execute();
  return id;
}

/** Upgrades to a WebSocket. */
function upgrade(url: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const request = get(url.replace(/^ws/, "http"), {
    headers: {
      connection: "upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      ...headers,
    },
  });
  return Promise.race([
    once(request, "upgrade").then(([answer, socket]: unknown[]) => {
      (socket as { destroy(): void }).destroy();
      return (answer as IncomingMessage).statusCode ?? 0;
    }),
    once(request, "response").then(([answer]: unknown[]) => {
      (answer as IncomingMessage).resume();
      return (answer as IncomingMessage).statusCode ?? 0;
    }),
  ]);
}

describe("over all operations", () => {
  const keyed = Object.values<Endpoint>(contract).filter(
    ({ auth, handoff }) => auth !== "none" && handoff !== "issues",
  );
  const below = (path: string) => keyed.filter((endpoint) => endpoint.path.startsWith(path));
  const always = "auth.context.get";
  const names = (endpoints: readonly Endpoint[], ...more: readonly string[]) =>
    [...new Set([...endpoints.map(({ operationId }) => operationId), always, ...more])].sort();

  async function allowed(limits: object, id: string): Promise<string[]> {
    const { key } = await keyWith(limits);
    const found: string[] = [];
    for (const { method, operationId, path } of keyed) {
      const answer = await fetch(
        server.baseUrl + path.replace(/\{id(_or_name)?\}/, id).replaceAll(/\{\w+\}/g, "none"),
        {
          method,
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "x-shoal-project": projectId },
          ...(method !== "GET" && { body: '{"name":""}' }),
          signal: AbortSignal.timeout(waitLimitMs),
        },
      );
      const text =
        answer.headers.get("content-type")?.startsWith("text/event-stream") === true ? "" : await answer.text();
      await answer.body?.cancel().catch(() => undefined);
      if (answer.status !== 403 || !text.includes("insufficient_scope")) found.push(operationId);
    }
    return found.sort();
  }

  it("a key with an empty policy sees itself alone", async () => {
    expect(await allowed(policy(), own.session_id)).toEqual([always]);
  });

  it.each(["viewer", "operator", "admin"] as const)(
    "a key with the role %s calls what a person in this role may",
    async (role) => {
      const expected = keyed.filter((endpoint) => isAtLeast(role, neededRole(endpoint)));
      expect(await allowed({ role }, "none")).toEqual(names(expected));
    },
  );

  it("a key of one session calls no operation of others", async () => {
    const limits = { browser_ids: [own.session_id] };
    expect(await allowed(limits, other.session_id)).toEqual(names([contract.listBrowsers]));
  });

  it("a key with actions calls what they name", async () => {
    const { id } = (await server.request("POST", "/profiles", { body: { name: "walked" } })).body as { id: string };
    expect(await allowed(inProject("profiles:read"), id)).toEqual(
      names([contract.getProfile, contract.listProfiles, contract.listProfileVersions]),
    );
    expect(await allowed(inProject("browsers:delete"), "none")).toEqual(names([contract.deleteBrowser]));
    const ways = below("/browsers/{").filter(({ scope = [] }) => scope.join() === "browsers:use");
    expect(await allowed(inProject("browsers:use"), "none")).toEqual(
      names([...ways, contract.listBrowsers, contract.saveBrowserProfile]),
    );
    expect(await allowed(inProject("proxies:create"), "none")).toEqual(names([contract.createProxy]));
  });

  it("a key with the name of an operation calls this operation", async () => {
    expect(await allowed({ operations: ["auditLogs.list"] }, "none")).toEqual(names([contract.listAuditLogs]));
    const computer = keyed.filter(({ operationId }) => operationId.startsWith("browsers.computer."));
    expect(await allowed({ operations: ["browsers.computer.*"] }, "none")).toEqual(names(computer));
  });
});

describe("a key of one session", () => {
  let key = "";
  beforeAll(async () => {
    ({ key } = await keyWith({ browser_ids: [own.session_id] }));
  });

  it("opens this session by id and by name, and no other", async () => {
    for (const name of [own.session_id, "own"])
      for (const path of [
        `/browsers/${name}`,
        `/browsers/${name}/json`,
        `/browsers/${name}/stats`,
        `/browsers/${name}/replays`,
      ])
        expect(await statusOf("GET", path, key), path).toBe(200);
    for (const name of [other.session_id, "other", "none"])
      for (const path of [
        "",
        "/json",
        "/json/version",
        "/stats",
        "/replays",
        "/downloads",
        "/curl/raw?url=http://a.example/",
      ])
        expect(await statusOf("GET", `/browsers/${name}${path}`, key), path).toBe("insufficient_scope");
    for (const path of [`/sessions/${other.session_id}/json`, `/sessions/other/stats`])
      expect(await statusOf("GET", path, key), path).toBe("insufficient_scope");
  });

  it("connects to this session, and to no other", async () => {
    const headers = { authorization: `Bearer ${key}` };
    for (const way of ["cdp", "webdriver", "devtools/browser"]) {
      expect(await upgrade(`${server.baseUrl}/browsers/own/${way}`, headers)).toBe(101);
      for (const name of ["other", other.session_id])
        expect(await upgrade(`${server.baseUrl}/browsers/${name}/${way}`, headers), way).toBe(403);
    }
  });

  it("creates and joins no session by the address of the service", async () => {
    for (const query of [`token=${key}`, `token=${key}&session=${other.session_id}`, `token=${key}&name=other`])
      expect(await upgrade(`${server.baseUrl}/cdp?${query}`), query).toBeGreaterThanOrEqual(400);
    expect(await upgrade(`${server.baseUrl}/cdp?token=${key}`)).toBe(403);
    const named = await keyWith({ operations: ["browsers.create"] });
    expect(await upgrade(`${server.baseUrl}/cdp?token=${named.key}`)).toBe(403);
    const { body } = await server.request("GET", "/browsers");
    expect((body as Browser[]).map(({ session_id }) => session_id).sort()).toEqual(
      [own.session_id, other.session_id].sort(),
    );
  });

  it("lists this session alone, and creates none", async () => {
    const { body } = await server.request("GET", "/browsers?status=all", { key });
    expect((body as Browser[]).map(({ session_id }) => session_id)).toEqual([own.session_id]);
    expect(await statusOf("POST", "/browsers", key, {})).toBe("insufficient_scope");
  });

  it("does not follow the name to another session", async () => {
    await server.request("PATCH", "/browsers/own", { body: { name: "was-own" } });
    await server.request("PATCH", "/browsers/other", { body: { name: "own" } });
    expect(await statusOf("GET", "/browsers/own", key)).toBe("insufficient_scope");
    expect(await statusOf("GET", "/browsers/was-own", key)).toBe(200);
    await server.request("PATCH", "/browsers/own", { body: { name: "other" } });
    await server.request("PATCH", "/browsers/was-own", { body: { name: "own" } });
  });

  it("names no other object when it changes this session", async () => {
    await server.request("POST", "/profiles", { body: { name: "bank" } });
    const proxy = { name: "exit", type: "custom", config: { host: "proxy.example.com", port: 8080 } };
    const { id } = (await server.request("POST", "/proxies", { body: proxy })).body as { id: string };
    const named = await keyWith(
      policy(["operation:browsers.update", `projects/${projectId}/browsers/${own.session_id}`]),
    );
    for (const limited of [key, named.key])
      for (const body of [
        { profile: { name: "bank" } },
        { proxy_id: id },
        { proxy: { name: "exit" } },
        { telemetry: { export: { otlp: {} } } },
      ])
        expect([body, await statusOf("PATCH", "/browsers/own", limited, body)]).toEqual([body, "insufficient_scope"]);
    expect(await statusOf("PATCH", "/browsers/own", key, { tags: { team: "docs" } })).toBe(200);
    const wide = await keyWith(
      policy(
        ["role:operator", `projects/${projectId}/browsers/${own.session_id}`],
        ["role:operator", `projects/${projectId}/*`],
      ),
    );
    expect(await statusOf("PATCH", "/browsers/own", wide.key, { profile: { name: "none" } })).toBe(404);
  });

  it("gets no answer of a request that another key made", async () => {
    const headers = { "idempotency-key": "shared" };
    const first = await server.request("POST", "/profiles", { headers, body: { name: "once" } });
    expect(first.status).toBe(201);
    const again = await server.request("POST", "/profiles", { key, headers, body: { name: "once" } });
    expect(again.body).toMatchObject({ code: "insufficient_scope" });
  });

  it("lists and operates no other session by MCP", async () => {
    const send = (body: object, session = "") =>
      fetch(`${server.baseUrl}/mcp?session=${other.session_id}&tools=act,observe,processes,sessions,profiles`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...(session !== "" && { "mcp-session-id": session }),
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }),
      });
    const clientInfo = { name: "test", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const opened = await send({ method: "initialize", params });
    await opened.text();
    const call = { method: "tools/call", params: { name: "snapshot", arguments: {} } };
    const connection = opened.headers.get("mcp-session-id") ?? "";
    const listed = await (await send({ method: "tools/list" }, connection)).text();
    expect(listed).toContain('"name":"snapshot"');
    expect(listed).not.toMatch(/"name":"(?:open_browser|list_profiles)"/);
    const text = await (await send(call, connection)).text();
    expect(text).toContain("policy of this API key does not allow");
  });
});

describe("addresses with a token", () => {
  it("open no more than the policy of their key", async () => {
    const { key } = await keyWith({ operations: ["browsers.get", "browsers.stats"] });
    const shown = (await server.request("GET", "/browsers/own", { key })).body as Browser;
    const token = new URL(shown.cdp_ws_url).searchParams.get("jwt") ?? "";
    expect(await upgrade(shown.cdp_ws_url)).toBe(403);
    expect(await upgrade(shown.webdriver_ws_url)).toBe(403);
    expect(await upgrade(`${server.baseUrl}/devtools/browser?jwt=${token}`)).toBe(403);
    const at = (path: string) => fetch(`${shown.base_url ?? ""}${path}${path.includes("?") ? "&" : "?"}jwt=${token}`);
    expect((await at("/stats")).status).toBe(200);
    for (const path of [
      "/json",
      "/curl/raw?url=http://a.example/",
      "/process",
      "/replays",
      "/downloads",
      "/fs/list_files?path=/",
    ])
      expect((await at(path)).status, path).toBe(403);
    for (const view of [shown.browser_live_view_url, shown.browser_live_view_read_only_url])
      expect((await fetch(view ?? "")).status).toBe(403);
  });

  it("of a viewer watch, and do not control", async () => {
    const { key } = await keyWith({ role: "viewer" });
    const shown = (await server.request("GET", "/browsers/own", { key })).body as Browser;
    expect(shown).toMatchObject({ cdp_ws_url: "", webdriver_ws_url: "" });
    expect(shown.browser_live_view_url).toBeUndefined();
    expect((await fetch(shown.browser_live_view_read_only_url ?? "")).status).toBe(200);
  });

  it("end with the profile that the key may not use", async () => {
    await server.request("POST", "/profiles", { body: { name: "closed" } });
    const session = await open({ profile: { name: "closed" } });
    const { key } = await keyWith(inProject("browsers:use"));
    expect(await statusOf("GET", `/browsers/${session.session_id}/stats`, key)).toBe("insufficient_scope");
    const { body } = await server.request("GET", "/browsers", { key });
    expect((body as Browser[]).map(({ session_id }) => session_id)).not.toContain(session.session_id);
    await server.request("DELETE", `/browsers/${session.session_id}`);
  });
});

describe("a key that creates sessions", () => {
  it("names only objects that its policy allows", async () => {
    const make = async (path: string, body: object) =>
      ((await server.request("POST", path, { body })).body as { id: string }).id;
    const profile = await make("/profiles", { name: "mine" });
    await make("/profiles", { name: "theirs" });
    const proxy = await make("/proxies", {
      name: "out",
      type: "custom",
      config: { host: "proxy.example.com", port: 8080 },
    });
    const { key } = await keyWith(
      policy(
        ["browsers:create", `projects/${projectId}/*`],
        ["browsers:use", `projects/${projectId}/*`],
        ["profiles:use", `projects/${projectId}/profiles/${profile}`],
      ),
    );
    const refused = [
      { profile: { name: "theirs" } },
      { profile: { name: "never-made" } },
      { profile: { id: profile, save_changes: true } },
      { proxy_id: proxy },
      { proxy: { name: "out" } },
      { network: { proxy_routes: [{ hosts: ["a.example"], proxy: { name: "out" } }] } },
      { extensions: [{ name: "x" }] },
      { telemetry: { export: { otlp: {} } } },
      { invocation_id: "some" },
      { recording: { network: true } },
      { replay: { recording: "a1b2c3d4e5f6g7h8i9j0k1l2" } },
    ];
    for (const body of refused)
      expect([body, await statusOf("POST", "/browsers", key, body)]).toEqual([
        body,
        expect.stringMatching(/insufficient_scope/),
      ]);
    const made = await open(
      { profile: { name: "mine" }, proxy: { mode: "direct" }, telemetry: { enabled: true } },
      key,
    );
    expect(await statusOf("PATCH", `/browsers/${made.session_id}`, key, { name: "x" })).toBe("insufficient_scope");
    await server.request("DELETE", `/browsers/${made.session_id}`);
  });

  it("gets the object that was checked, and none with its id as a name", async () => {
    const make = async (name: string) => {
      const body = { name, type: "custom", config: { host: "proxy.example.com", port: 8080 } };
      return ((await server.request("POST", "/proxies", { body })).body as { id: string }).id;
    };
    const allowed = await make("allowed");
    await make(allowed);
    const { key } = await keyWith(
      policy(
        ["browsers:create", `projects/${projectId}/*`],
        ["browsers:use", `projects/${projectId}/*`],
        ["proxies:use", `projects/${projectId}/proxies/${allowed}`],
      ),
    );
    const made = await open({ proxy: { name: allowed } }, key);
    await server.request("DELETE", `/browsers/${made.session_id}`);
    expect(made.proxy).toMatchObject({ id: allowed });
  });

  it("is judged over every setting of a session", () => {
    const judged = new Set([
      ...plainSettings,
      "extensions",
      "invocation_id",
      "network",
      "profile",
      "proxy",
      "proxy_id",
      "recording",
      "replay",
      "snapshot",
      "telemetry",
      "vaults",
    ]);
    const fields = [CreateBrowser, UpdateBrowser].flatMap((schema) =>
      Object.keys((schema as unknown as { def: { getter(): { shape: object } } }).def.getter().shape),
    );
    expect(fields.filter((field) => !judged.has(field))).toEqual([]);
  });
});

describe("a pool with vaults", () => {
  it("is made, changed and leased only by callers that may use every vault of the project", async () => {
    const vault = await server.request("POST", "/vaults", { body: { name: "logins" } });
    expect(vault.status).toBe(200);
    const pool = { size: 1, fill_rate_per_minute: 0, vaults: [{ name: "logins" }] };
    const { key: plain } = await keyWith({ operations: ["browserPools.*"] });
    const { key: trusted } = await keyWith({ operations: ["browserPools.*", "credentials.use"] });
    const refused = { status: 403, body: { code: "forbidden" } };
    const call = (key: string, path: string, body: object) => server.request("POST", path, { key, body });
    expect(await call(plain, "/browser_pools", { name: "refused", ...pool })).toMatchObject({
      ...refused,
      body: { field: "body.vaults" },
    });
    const made = await call(trusted, "/browser_pools", { name: "with-vaults", ...pool });
    const { id } = vault.body as { id: string };
    expect(made).toMatchObject({ status: 201, body: { browser_pool_config: { vaults: [{ id, name: "logins" }] } } });
    const path = "/browser_pools/with-vaults";
    const patch = (key: string, body: object) => server.request("PATCH", path, { key, body });
    expect(await patch(plain, { vaults: [{ id }] })).toMatchObject(refused);
    // With other fields, and the vaults that the pool has.
    expect(await patch(plain, { timeout_seconds: 60 })).toMatchObject({
      body: { browser_pool_config: { timeout_seconds: 60, vaults: [{ id }] } },
    });
    const lease = { acquire_timeout_seconds: 0 };
    expect(await call(plain, `${path}/acquire`, lease)).toMatchObject(refused);
    expect((await call(trusted, `${path}/acquire`, lease)).status).toBeLessThan(300);
    expect(await patch(trusted, { vaults: [] })).toMatchObject({ status: 200 });
    expect((await call(plain, `${path}/acquire`, lease)).status).toBeLessThan(300);
    expect(await call(trusted, "/browser_pools", { ...pool, vaults: [{ name: "none" }] })).toMatchObject({
      status: 404,
      body: { field: "body.vaults[0]" },
    });
    await server.request("DELETE", path, { body: { force: true } });
  });
});

describe("creating keys", () => {
  it("shows the requested policy, also later and to the key itself", async () => {
    const asked = policy(["browsers:use", `projects/${projectId}/browsers/${own.session_id}`]);
    const day = inDays(30).slice(0, 10);
    const made = await keyWith({ ...asked, expires_at: `${day}T00:00:00Z`, project_id: projectId });
    expect(made).toMatchObject({ ...asked, expires_at: `${day}T00:00:00.000Z` });
    expect((await server.request("GET", `/org/api_keys/${made.id}`)).body).toMatchObject(asked);
    expect((await server.request("GET", "/org/api_keys?limit=100")).body).toContainEqual(
      expect.objectContaining(asked),
    );
    expect((await server.request("GET", "/auth/context", { key: made.key })).body).toMatchObject({
      authorization: asked,
    });
    const renamed = await server.request("PATCH", `/org/api_keys/${made.id}`, {
      body: { name: "renamed", role: "admin" },
    });
    expect(renamed.body).not.toMatchObject({ policy: { statements: [{ action: "role:admin" }] } });
    const rotated = await server.request("POST", `/org/api_keys/${made.id}/rotate`, { body: {} });
    expect(rotated.body).toMatchObject(asked);
    const full = await keyWith({});
    expect(full.policy).toBeUndefined();
  });

  it.each<[string, () => object, string]>([
    ["an unknown action", () => inProject("browsers:fly"), "body.policy.statements[0].action"],
    ["an unknown operation", () => ({ operations: ["browsers.fly"] }), "body.operations[0]"],
    [
      "an unknown operation for a session",
      () => ({ role: "viewer", operations: ["browsers.get", "browsers.fly"], browser_ids: ["missing"] }),
      "body.operations[1]",
    ],
    ["a path in place of an id", () => ({ browser_ids: ["missing", "profiles/one"] }), "body.browser_ids[1]"],
    [
      "another organization",
      () => policy(["role:viewer", "organizations/other/*"]),
      "body.policy.statements[0].resource",
    ],
    ["a missing project", () => policy(["role:viewer", "projects/missing/*"]), "body.policy.statements[0].resource"],
    ["a missing session", () => ({ browser_ids: ["missing"] }), "body.browser_ids[0]"],
    [
      "a missing profile",
      () => policy(["profiles:use", `projects/${projectId}/profiles/missing`]),
      "body.policy.statements[0].resource",
    ],
    ["a policy and a role", () => ({ ...policy(), role: "viewer" }), "body.policy"],
    ["an unknown role", () => ({ role: "owner" }), "body.role"],
    [
      "statements without resource",
      () => ({ policy: { statements: [{ action: "role:viewer" }] } }),
      "body.policy.statements[0].resource",
    ],
    ["no object", () => ({ policy: "viewer" }), "body.policy"],
    ["a field that restricts and is unknown", () => ({ permissions: ["read"] }), "body.permissions"],
  ])("refuses %s", async (_what, limits, field) => {
    const answer = await server.request("POST", "/org/api_keys", { body: { name: "refused", ...limits() } });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(field);
  });

  it("creates no key with more rights than the calling key has", async () => {
    const admin = await keyWith(policy(["role:admin", `projects/${projectId}/*`]));
    const everywhere = policy(["role:viewer", `organizations/${organizationId}/*`]);
    for (const limits of [{}, { policy: null }, everywhere])
      expect([limits, await statusOf("POST", "/org/api_keys", admin.key, { name: "wide", ...limits })]).not.toEqual([
        limits,
        201,
      ]);
    const narrower = await keyWith(inProject("role:viewer"), admin.key);
    expect(narrower.policy).toEqual(inProject("role:viewer").policy);
    const maker = await keyWith(inProject("operation:apiKeys.*"));
    expect(await statusOf("POST", "/org/api_keys", maker.key, { name: "wide", role: "viewer" })).toBe(
      "insufficient_scope",
    );
    const full = await keyWith({ project_id: projectId });
    expect(await statusOf("POST", `/org/api_keys/${full.id}/rotate`, maker.key, {})).toBe("insufficient_scope");
    expect(await statusOf("POST", `/org/api_keys/${admin.id}/rotate`, maker.key, {})).toBe(404);
    const viewer = await keyWith({ role: "viewer" });
    expect(await statusOf("POST", "/org/api_keys", viewer.key, { name: "any", role: "viewer" })).toBe(
      "insufficient_scope",
    );
  });

  it("limits a role in one project to this project, and chooses it", async () => {
    const second = await server.addProject("second");
    const { key } = await keyWith(policy(["role:admin", `projects/${second.id}/*`]));
    expect((await server.request("GET", "/browsers", { key })).body).toEqual([]);
    expect(await statusOf("GET", "/browsers", key)).toBe(200);
    const headers = { "x-shoal-project": projectId };
    expect((await server.request("GET", "/browsers", { key, headers })).body).toMatchObject({
      code: "insufficient_scope",
    });
    const { body } = await server.request("GET", "/org/projects", { key });
    expect((body as { id: string }[]).map(({ id }) => id)).toEqual([second.id]);
    expect(await statusOf("PATCH", "/org/limits", key, { default_project_max_concurrent_sessions: 1 })).toBe(403);
  });
});

it("sets the policy of an app to that of the key that deployed it", async () => {
  const limits = policy(["role:admin", `projects/${projectId}/*`]);
  const { key } = await keyWith(limits);
  const id = await deployWith(key);
  const secret = await new DeploymentKeys(server.database, plainEnvelopes).secretOf(id, projectId);
  const row = await server.database.query
    .selectFrom("api_keys")
    .select("policy")
    .where("key_hash", "=", Buffer.from(hashKey(secret), "hex"))
    .executeTakeFirst();
  expect(row).toEqual(limits);
});

it.each(["deletion", "rotation", "expiry"])(
  "ends the key of an app at the %s of the limited key that deployed it",
  async (how) => {
    const limits = { ...policy(["role:admin", `projects/${projectId}/*`]), expires_at: inDays(2) };
    const issuer = await keyWith(limits);
    const id = await deployWith(issuer.key);
    const keys = new DeploymentKeys(server.database, plainEnvelopes);
    const secret = await keys.secretOf(id, projectId);
    expect(await statusOf("GET", "/browsers", secret)).toBe(200);
    const query = server.database.query;
    const endOf = async () =>
      (
        await query
          .selectFrom("api_keys")
          .select("expires_at")
          .where("key_hash", "=", Buffer.from(hashKey(secret), "hex"))
          .executeTakeFirst()
      )?.expires_at;
    expect(await endOf()).toBe(issuer.expires_at);
    if (how === "rotation") {
      const path = `/org/api_keys/${issuer.id}/rotate`;
      const rotated = await server.request("POST", path, { body: { days_to_expire: 9, expire_in_days: 0 } });
      const successor = rotated.body as CreatedApiKey;
      expect(await endOf()).toBe(successor.expires_at);
      expect(await statusOf("GET", "/browsers", secret)).toBe(200);
      expect(await server.request("DELETE", `/org/api_keys/${successor.id}`)).toMatchObject({ status: 204 });
    } else if (how === "deletion")
      expect(await server.request("DELETE", `/org/api_keys/${issuer.id}`)).toMatchObject({ status: 204 });
    else await query.updateTable("api_keys").set({ expires_at: new Date() }).where("id", "=", issuer.id).execute();
    await expect(keys.secretOf(id, projectId)).rejects.toThrow("Deploy the app again");
    if (how !== "expiry") expect(await statusOf("GET", "/browsers", secret)).toBe(401);
  },
);

it("keeps the key of an app when an unlimited key that deployed it is deleted", async () => {
  const { id: issuer, key } = await keyWith({});
  const id = await deployWith(key);
  const keys = new DeploymentKeys(server.database, plainEnvelopes);
  const secret = await keys.secretOf(id, projectId);
  await server.request("DELETE", `/org/api_keys/${issuer}`);
  expect(await keys.secretOf(id, projectId)).toBe(secret);
  expect(await statusOf("GET", "/browsers", secret)).toBe(200);
});

it("reveals to a key of a policy neither other projects nor how many objects a list has", async () => {
  const made = await server.request("POST", "/org/projects", { body: { name: "unseen" } });
  const { id: unseen } = made.body as { id: string };
  const { key } = await keyWith(policy(["browsers:use", `projects/${projectId}/browsers/${own.session_id}`]));
  const asked = async (named: string) => {
    const answer = await fetch(`${server.baseUrl}/browsers?limit=1`, {
      headers: { authorization: `Bearer ${key}`, "x-shoal-project": named },
    });
    return { status: answer.status, body: (await answer.text()).replaceAll(named, "NAME") };
  };
  expect(await asked("missing")).toEqual(await asked("unseen"));
  expect((await asked("missing")).body).toBe((await asked(unseen)).body);
  await open({ name: "newest" });
  const page = await fetch(`${server.baseUrl}/browsers?limit=1`, { headers: { authorization: `Bearer ${key}` } });
  expect((await page.json()) as Browser[]).toMatchObject([{ session_id: own.session_id }]);
  expect(page.headers.get("x-has-more")).toBe("false");
  const next = await fetch(`${server.baseUrl}/browsers?limit=1&offset=1`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect([await next.json(), next.headers.get("x-has-more")]).toEqual([[], "false"]);
});

it("signs in to the console with the rights of the key", async () => {
  const { key } = await keyWith({ role: "viewer" });
  const origin = server.baseUrl;
  const begun = await fetch(`${origin}/console/session`, {
    method: "POST",
    headers: { "content-type": "application/json", origin, "x-shoal-console": "1", "sec-fetch-site": "same-origin" },
    body: JSON.stringify({ api_key: key }),
  });
  expect(await begun.json()).toMatchObject({ organization_role: "viewer" });
});
