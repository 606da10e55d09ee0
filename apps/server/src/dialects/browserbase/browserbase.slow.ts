import { Browser } from "@shoal/schemas";
import { eventually } from "@shoal/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectCdp } from "../../testing/cdp-client.ts";
import { startTestServer, type TestReply, type TestServer } from "../../testing/test-server.ts";
import { manifest, zipOf } from "../../testing/zip.ts";

let server: TestServer;
let shop: { id: string; key: string };
beforeAll(async () => {
  server = await startTestServer({ dialects: ["browserbase"] });
  shop = await server.addProject("shop");
});
afterAll(() => server.close());
afterEach(async () => {
  for (const { session_id: id } of await native()) await server.request("DELETE", `/browsers/${id}`, { key: shop.key });
});

const native = async () =>
  ((await server.request("GET", "/browsers", { key: shop.key })).body as unknown[]).map((each) => Browser.parse(each));

interface Sent {
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** As the SDK of the vendor sends it. */
function ask(method: string, path: string, { body, headers, key = shop.key }: Sent = {}): Promise<TestReply> {
  return server.request(method, `/browserbase${path}`, {
    key: null,
    headers: { ...(key !== null && { "x-bb-api-key": key }), ...headers },
    ...(body !== undefined && { body }),
  });
}

const created = async (body: object = {}) =>
  (await ask("POST", "/v1/sessions", { body })).body as Record<string, string>;

describe("sessions", () => {
  it("creates a session with the fields of the vendor, and shows it natively with its origin", async () => {
    const body = {
      projectId: shop.id,
      timeout: 120,
      region: "us-east-1",
      userMetadata: { team: { name: "docs" } },
      browserSettings: { viewport: { width: 1000, height: 700 }, blockAds: true, solveCaptchas: true },
    };
    const { body: session, headers, status } = await ask("POST", "/v1/sessions", { body });
    expect(status).toBe(201);
    expect(session).toMatchObject({
      projectId: shop.id,
      status: "RUNNING",
      keepAlive: false,
      region: "us-west-2",
      userMetadata: { team: { name: "docs" } },
      connectUrl: expect.stringMatching(/^ws:.*\/cdp\?jwt=/) as unknown,
    });
    expect(headers.get("x-shoal-ignored-fields")).toBe(
      "body.region, body.browserSettings.blockAds, body.browserSettings.solveCaptchas",
    );
    expect(await native()).toMatchObject([
      {
        origin: { dialect: "browserbase", metadata: { team: { name: "docs" } } },
        viewport: { width: 1000, height: 700 },
        max_duration_seconds: 120,
        timeout_seconds: 120,
        connect_timeout_seconds: 120,
        disconnect_timeout_seconds: 10,
      },
    ]);
  });

  it("ends a session after its last client, unless it is kept alive", async () => {
    const [one, kept] = [await created(), await created({ keepAlive: true })];
    expect((await native()).map(({ disconnect_timeout_seconds: seconds }) => seconds).sort()).toEqual([10, undefined]);
    const client = await connectCdp(one.connectUrl ?? "");
    await server.request("PATCH", `/browsers/${one.id ?? ""}`, {
      key: shop.key,
      body: { disconnect_timeout_seconds: 0 },
    });
    client.close();
    await eventually("the session has ended", async () => {
      const { body } = await ask("GET", `/v1/sessions/${one.id ?? ""}`);
      return (body as Record<string, unknown>).status === "COMPLETED" || undefined;
    });
    expect((await ask("GET", `/v1/sessions/${kept.id ?? ""}`)).body).toMatchObject({
      status: "RUNNING",
      keepAlive: true,
    });
  });

  it("releases a session, also twice, and shows it without its addresses", async () => {
    const { id = "" } = await created();
    const release = () => ask("POST", `/v1/sessions/${id}`, { body: { status: "REQUEST_RELEASE" } });
    for (const { body, status } of [await release(), await release()]) {
      expect(status).toBe(200);
      expect(body).toMatchObject({ id, status: "COMPLETED", endedAt: expect.any(String) as unknown });
      expect(body).not.toHaveProperty("connectUrl");
    }
    expect((await ask("POST", `/v1/sessions/${id}`, { body: { status: "RUNNING" } })).status).toBe(400);
  });

  it("lists sessions by status and by metadata", async () => {
    const { id: a = "" } = await created({ userMetadata: { order: { id: "7" }, env: "test" } });
    const { id: b = "" } = await created({ userMetadata: { env: "test" } });
    await ask("POST", `/v1/sessions/${b}`, { body: { status: "REQUEST_RELEASE" } });
    const listed = async (query: string) => {
      const { body, status } = await ask("GET", `/v1/sessions?${query}`);
      return status === 200
        ? (body as { id: string }[]).map(({ id }) => id).filter((id) => id === a || id === b)
        : status;
    };
    const q = (text: string) => `q=${encodeURIComponent(text)}`;
    expect(await listed(q("user_metadata['env']:'test'"))).toEqual([b, a]);
    expect(await listed(q("user_metadata['order']['id']:'7'"))).toEqual([a]);
    expect(await listed(q("user_metadata['order']['id']:'8'"))).toEqual([]);
    expect(await listed("status=RUNNING")).toEqual([a]);
    expect(await listed(`status=COMPLETED&${q("user_metadata['env']:'test'")}`)).toEqual([b]);
    expect([await listed("status=TIMED_OUT"), await listed("status=PENDING")]).toEqual([[], []]);
    for (const bad of ["env:'test'", "user_metadata:'x'", "user_metadata['a']:'b' OR 1=1", "user_metadata['a\0']:'b'"])
      expect(await listed(q(bad)), bad).toBe(400);
  });

  it("answers live views, and a page for each tab", async () => {
    const { id = "" } = await created();
    const { body } = await ask("GET", `/v1/sessions/${id}/debug`);
    expect(body).toMatchObject({
      debuggerUrl: expect.stringContaining(id) as unknown,
      wsUrl: expect.stringMatching(/^ws:/) as unknown,
      pages: [{ url: "about:blank" }],
    });
    const expiring = await ask("GET", `/v1/sessions/${id}/debug?expiresIn=60`);
    expect(expiring.body).not.toMatchObject({ debuggerUrl: (body as Record<string, string>).debuggerUrl });
    expect((await ask("GET", `/v1/sessions/${id}/debug?expiresIn=1`)).status).toBe(400);
  });

  it("answers repeated requests with addresses of one link, each with its own expiry", async () => {
    const { id = "" } = await created();
    const links = async () =>
      (await server.request("GET", `/browsers/${id}/live_view_links`, { key: shop.key })).body as object[];
    const seen = new Set<string>();
    for (const seconds of [600, 600, 300, 60, 600]) {
      const { body, status } = await ask("GET", `/v1/sessions/${id}/debug?expiresIn=${String(seconds)}`);
      expect(status).toBe(200);
      const { debuggerUrl: url = "" } = body as { debuggerUrl?: string };
      seen.add(url);
      expect((await fetch(url)).status).toBe(200);
    }
    expect(seen.size).toBeGreaterThan(1);
    expect(await links()).toHaveLength(1);
    // The link ends before this address does.
    await ask("GET", `/v1/sessions/${id}/debug?expiresIn=21600`);
    expect(await links()).toHaveLength(2);
  });

  it("starts sessions of Stagehand, which asks its models itself", async () => {
    const body = { modelName: "x", browserbaseSessionCreateParams: { userMetadata: { from: "stagehand" } } };
    const started = await ask("POST", "/v1/sessions/start", { body });
    const [session] = await native();
    expect(started.body).toEqual({ success: true, data: { sessionId: session?.session_id, available: false } });
    const again = await ask("POST", "/v1/sessions/start", { body: { browserbaseSessionID: session?.session_id } });
    expect(again.body).toEqual(started.body);
    expect(await native()).toHaveLength(1);
  });

  it("creates one session for repeated requests with an idempotency key", async () => {
    const headers = { "idempotency-key": "once" };
    const [first, second] = [
      await ask("POST", "/v1/sessions", { headers }),
      await ask("POST", "/v1/sessions", { headers }),
    ];
    expect(second.body).toEqual(first.body);
    expect(await native()).toHaveLength(1);
  });
});

describe("fields", () => {
  it.each<[string, object, number, string]>([
    ["a mobile device", { browserSettings: { os: "mobile" } }, 501, "browserSettings.os"],
    ["allowed domains", { browserSettings: { allowedDomains: ["a.example"] } }, 501, "network.allow"],
    ["ignored certificates", { browserSettings: { ignoreCertificateErrors: true } }, 501, "ignoreCertificateErrors"],
    ["certificates of proxies", { proxySettings: { caCertificates: ["x"] } }, 501, "ca_bundle"],
    ["managed proxies without a provider", { proxies: true }, 400, "residential"],
    ["two proxies", { proxies: [proxy("a"), proxy("b")] }, 400, "body.proxies[1]"],
    ["a proxy for some hosts", { proxies: [{ ...proxy("a"), domainPattern: "x.example" }] }, 400, "domainPattern"],
    [
      "a pattern that is not a host",
      { proxies: [{ type: "none", domainPattern: "a|b" }, proxy("a")] },
      400,
      "example.com",
    ],
    ["a proxy without an address", { proxies: [{ type: "external", server: "ftp://a" }] }, 400, "server"],
    ["an unknown field of a proxy", { proxies: [{ ...proxy("a"), region: "eu" }] }, 400, "region"],
    ["an unknown field about networks", { network: { block: [] } }, 400, "body.network"],
    ["a context that does not exist", { browserSettings: { context: { id: "nothing" } } }, 404, "nothing"],
    ["an extension that does not exist", { extensionId: "nothing" }, 404, "nothing"],
    ["a project of others", { projectId: "nothing" }, 403, "project"],
    ["a duration that is too long", { timeout: 21_601 }, 400, "body.timeout"],
    ["huge metadata", { userMetadata: { a: "x".repeat(600) } }, 400, "512"],
    ["metadata with NUL", { userMetadata: { a: "\0" } }, 400, "NUL"],
    ["metadata with half a pair", { userMetadata: { "\ud800": 1 } }, 400, "NUL"],
  ])("refuses %s, in the shape of the vendor", async (_what, body, statusCode, text) => {
    const answer = await ask("POST", "/v1/sessions", { body });
    expect(answer.body).toEqual({
      statusCode,
      error: expect.any(String) as unknown,
      message: expect.stringContaining(text) as unknown,
    });
    expect(answer.status).toBe(statusCode);
    expect(await native()).toEqual([]);
  });

  it("takes an external proxy for one session, and stores neither it nor its password", async () => {
    const proxies = [
      { type: "none", domainPattern: "intranet\\.example" },
      { type: "external", server: "http://127.0.0.1:9", username: "u", password: "p-secret-of-a-proxy" },
    ];
    const { id = "" } = await created({ proxies });
    expect(await native()).toMatchObject([{ session_id: id, proxy: { mode: "session" } }]);
    expect((await server.request("GET", "/proxies", { key: shop.key })).body).toEqual([]);
    const { rows } = await server.database.query
      .selectFrom("sessions")
      .selectAll()
      .where("id", "=", id)
      .execute()
      .then((found) => ({ rows: JSON.stringify(found) }));
    expect(rows).not.toContain("p-secret-of-a-proxy");
    expect(server.log()).not.toContain("p-secret-of-a-proxy");
  });
});

describe("files", () => {
  it("uploads a file under its plain name only", async () => {
    const { id = "" } = await created();
    const upload = (name: string) => {
      const form = new FormData();
      form.append("file", new Blob(["hello"]), name);
      return ask("POST", `/v1/sessions/${id}/uploads`, { body: form });
    };
    const { body, status } = await upload("greeting.txt");
    expect([status, body]).toEqual([200, { message: "Uploaded to /tmp/.uploads/greeting.txt." }]);
    const read = await server.request("GET", `/browsers/${id}/fs/file_info?path=/tmp/.uploads/greeting.txt`, {
      key: shop.key,
    });
    expect(read.body).toMatchObject({ size_bytes: 5 });
    for (const name of ["../b.txt", "/etc/b.txt", "..\\b.txt"])
      expect((await upload(name)).body, name).toEqual({ message: "Uploaded to /tmp/.uploads/b.txt." });
    for (const name of ["..", ".", "x".repeat(300)]) expect((await upload(name)).status, name).toBe(400);
    expect((await ask("POST", `/v1/sessions/${id}/uploads`, { body: new FormData() })).status).toBe(400);
  });

  it("answers an empty archive for a session without downloads", async () => {
    const { id = "" } = await created();
    const answer = await fetch(`${server.baseUrl}/browserbase/v1/sessions/${id}/downloads`, {
      headers: { "x-bb-api-key": shop.key, accept: "application/zip" },
    });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/zip"]);
    // The end record of an archive without files.
    expect(Buffer.from(await answer.arrayBuffer()).toString("hex")).toBe(`504b0506${"00".repeat(18)}`);
  });
});

describe("contexts, extensions and projects", () => {
  it("creates, shows and deletes a context, which is a profile", async () => {
    const { body, status } = await ask("POST", "/v1/contexts", { body: { name: "signed-in" } });
    const { id } = body as { id: string };
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({ cipherAlgorithm: "AES-256-CBC", initializationVectorSize: 16 }),
    ]);
    expect((await ask("GET", `/v1/contexts/${id}`)).body).toMatchObject({ id, name: "signed-in", projectId: shop.id });
    expect((await ask("PUT", `/v1/contexts/${id}`)).body).toEqual(body);
    const session = await created({ browserSettings: { context: { id, persist: true } } });
    expect(session.contextId).toBe(id);
    expect(await native()).toMatchObject([{ profile: { id }, profile_save_changes: true }]);
    await ask("POST", `/v1/sessions/${session.id ?? ""}`, { body: { status: "REQUEST_RELEASE" } });
    await eventually("the context is free", async () => {
      const { status: deleted } = await ask("DELETE", `/v1/contexts/${id}`);
      return deleted === 204 || undefined;
    });
    expect((await ask("GET", `/v1/contexts/${id}`)).status).toBe(404);
  });

  it("stores extensions whose files have the same name, and refuses other archives", async () => {
    const archive = await zipOf({ "manifest.json": manifest });
    const upload = (content: Buffer) => {
      const form = new FormData();
      form.append("file", new Blob([new Uint8Array(content)]), "../my ext.zip");
      return ask("POST", "/v1/extensions", { body: form });
    };
    const answers = [await upload(archive), await upload(archive)];
    for (const { body, status } of answers) {
      expect(status).toBe(201);
      const { id } = body as { id: string };
      expect((await ask("GET", `/v1/extensions/${id}`)).body).toMatchObject({
        id,
        fileName: expect.stringMatching(/^my-ext-\w{8}\.zip$/) as unknown,
      });
      expect((await ask("DELETE", `/v1/extensions/${id}`)).status).toBe(204);
      expect((await ask("GET", `/v1/extensions/${id}`)).status).toBe(404);
    }
    const broken = await upload(Buffer.from("not an archive"));
    expect(broken).toMatchObject({ status: 400, body: { statusCode: 400 } });
    expect((await upload(await zipOf({ "readme.txt": "x" }))).status).toBe(400);
  });

  it("shows the project of the key, and its use", async () => {
    const { body } = await ask("GET", "/v1/projects");
    expect(body).toMatchObject([{ id: shop.id, name: "shop", defaultTimeout: 3600 }]);
    expect((await ask("GET", `/v1/projects/${shop.id}`)).body).toEqual((body as unknown[])[0]);
    expect((await ask("GET", `/v1/projects/${shop.id}/usage`)).body).toEqual({
      browserMinutes: expect.any(Number) as unknown,
      proxyBytes: 0,
    });
  });
});

describe("callers", () => {
  it("finds nothing of another project", async () => {
    const other = await server.addProject("other");
    const { id = "" } = await created();
    const context = ((await ask("POST", "/v1/contexts", { body: {} })).body as { id: string }).id;
    for (const [method, path, body] of [
      ["GET", `/v1/sessions/${id}`, undefined],
      ["POST", `/v1/sessions/${id}`, { status: "REQUEST_RELEASE" }],
      ["GET", `/v1/sessions/${id}/debug`, undefined],
      ["GET", `/v1/sessions/${id}/logs`, undefined],
      ["GET", `/v1/sessions/${id}/downloads`, undefined],
      ["GET", `/v1/sessions/${id}/recording/downloads`, undefined],
      ["GET", `/v1/sessions/${id}/replays`, undefined],
      ["GET", `/v1/contexts/${context}`, undefined],
      ["DELETE", `/v1/contexts/${context}`, undefined],
      ["GET", `/v1/projects/${shop.id}`, undefined],
      ["GET", `/v1/projects/${shop.id}/usage`, undefined],
    ] as const)
      expect((await ask(method, path, { key: other.key, body })).status, `${method} ${path}`).toBe(404);
    expect((await ask("GET", "/v1/sessions", { key: other.key })).body).toEqual([]);
    expect(await native()).toHaveLength(1);
  });

  it("requires one valid key, and answers at the root by its header", async () => {
    expect((await ask("GET", "/v1/sessions", { key: null })).body).toMatchObject({ statusCode: 401 });
    expect((await ask("GET", "/v1/sessions", { key: "sk_shoal_wrong" })).status).toBe(401);
    const two = await ask("GET", "/v1/sessions", { headers: { authorization: `Bearer ${server.key}` } });
    expect(two).toMatchObject({ status: 400, body: { statusCode: 400 } });
    const root = await server.request("GET", "/v1/projects", { key: null, headers: { "x-bb-api-key": shop.key } });
    expect(root.body).toMatchObject([{ id: shop.id }]);
    const withoutKey = await server.request("GET", "/v1/projects", { key: shop.key });
    expect(withoutKey.body).toMatchObject({ code: "not_found" });
  });

  it("chooses the project of an organization's key by the body, the query or a header", async () => {
    const body = { projectId: shop.id };
    const { body: session } = await ask("POST", "/v1/sessions", { key: server.key, body });
    expect(session).toMatchObject({ projectId: shop.id });
    const headers = { "x-bb-project-id": shop.id };
    expect((await ask("GET", "/v1/sessions?status=RUNNING", { key: server.key, headers })).body).toMatchObject([
      { id: (session as { id: string }).id },
    ]);
  });

  it("takes the project that the vendor's MCP server sends without one as no project", async () => {
    const projectId = "dummy-browserbase-project-id";
    const headers = { "x-bb-project-id": projectId };
    const { body: session } = await ask("POST", "/v1/sessions", { body: { projectId }, headers });
    expect(session).toMatchObject({ projectId: shop.id, status: "RUNNING" });
    expect((await ask("POST", "/v1/contexts", { body: { projectId } })).status).toBe(201);
    const { id } = session as { id: string };
    const released = await ask("POST", `/v1/sessions/${id}`, { body: { projectId, status: "REQUEST_RELEASE" } });
    expect(released.body).toMatchObject({ status: "COMPLETED" });
  });

  it("limits keys with a policy, and audits what they do", async () => {
    const resource = `projects/${shop.id}/*`;
    const statements = ["browsers:create", "browsers:use"].map((action) => ({ action, resource }));
    const limited = await server.request("POST", "/org/api_keys", {
      body: { name: "limited", policy: { statements } },
    });
    const { id: keyId, key } = limited.body as { id: string; key: string };
    const as = (method: string, path: string, body?: object) => ask(method, path, { key, body });
    const { id } = (await as("POST", "/v1/sessions", {})).body as { id: string };
    expect((await as("GET", `/v1/sessions/${id}`)).status).toBe(200);
    for (const answer of [
      await as("POST", "/v1/sessions", { proxies: [proxy("a")] }),
      await as("POST", `/v1/sessions/${id}`, { status: "REQUEST_RELEASE" }),
      await as("POST", "/v1/contexts", {}),
      await as("GET", "/v1/projects"),
    ])
      expect(answer.body).toMatchObject({ statusCode: 403, error: "Forbidden" });
    const entries = await eventually("the audit log has the calls", async () => {
      const rows = server.database.query.selectFrom("audit_logs").select(["operation", "path", "status"]);
      const found = await rows.where("user_id", "=", keyId).where("path", "like", "/browserbase/%").execute();
      return found.length >= 4 ? found : undefined;
    });
    expect(entries.map(({ operation, status }) => `${operation} ${String(status)}`).sort()).toEqual([
      "browsers.create 201",
      "browsers.create 403",
      "browsers.delete 403",
      "profiles.create 403",
    ]);
  });

  it("answers 501 with a sentence for missing operations, and 404 for unknown paths", async () => {
    for (const path of [
      "/v1/agents",
      "/v1/agents/runs/x",
      "/v1/fetch",
      "/v1/llm/responses",
      "/v1/sessions/a/recording",
    ])
      expect((await ask("POST", path)).body, path).toMatchObject({ statusCode: 501, error: "Not Implemented" });
    expect((await ask("POST", "/webdriver/session")).body).toMatchObject({ value: { error: "session not created" } });
    expect((await ask("GET", "/v1/nothing")).body).toMatchObject({ statusCode: 404, error: "Not Found" });
    expect((await ask("PATCH", "/v1/sessions")).body).toMatchObject({ statusCode: 405 });
  });

  it("drops keys for models, and keeps keys out of the log", async () => {
    const headers = { "x-model-api-key": "sk-model-secret" };
    await ask("POST", "/v1/sessions/start", { headers, body: { modelName: "x" } });
    await ask("GET", "/v1/nothing", { headers });
    expect(server.log()).not.toContain("sk-model-secret");
    expect(server.log()).not.toContain(shop.key);
  });

  it("serves its own document", async () => {
    const { body } = await ask("GET", "/openapi.json", { key: null });
    expect(body).toMatchObject({
      paths: { "/browserbase/v1/sessions": { post: { operationId: "browserbase.sessions.create" } } },
      components: { securitySchemes: { key: { name: "x-bb-api-key" } } },
    });
  });
});

it("says how to turn the dialect on while it is off", async () => {
  const off = await startTestServer();
  const headers = { "x-bb-api-key": off.key };
  for (const path of ["/browserbase/v1/sessions", "/browserbase", "/v1/sessions"])
    expect(await off.request("POST", path, { key: null, headers })).toMatchObject({
      status: 404,
      body: { statusCode: 404, message: expect.stringContaining("shoal serve --dialects browserbase") as unknown },
    });
  await off.close();
});

function proxy(host: string) {
  return { type: "external", server: `http://${host}.example:8080` };
}
