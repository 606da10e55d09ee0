import { Browser, Proxy } from "@shoal/schemas";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "@shoal/testkit";
import { connectCdp } from "../../testing/cdp-client.ts";
import { startProxyServer, type TestProxyServer } from "../../testing/proxy-server.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

const secret = "p@ss:word-of-the-proxy";
let site: Server;
let port: number;
let upstream: TestProxyServer;
let server: TestServer;
beforeAll(async () => {
  site = createServer((request, response) => {
    if (request.url === "/address") response.end('{"ip": "203.0.113.7"}');
    else if (request.url === "/forbidden") response.writeHead(403).end();
    else response.writeHead(200, { "content-type": "text/html" }).end("<body>by way of the proxy</body>");
  });
  await once(site.listen(0, "127.0.0.1"), "listening");
  port = (site.address() as AddressInfo).port;
  upstream = await startProxyServer(`user:${secret}`);
  server = await startTestServer({
    allow_private_hosts: [`127.0.0.1:${String(upstream.port)}`, `localhost:${String(port)}`],
    proxy_check_url: `http://localhost:${String(port)}/address`,
    proxy_residential: `http://user:${encodeURIComponent(secret)}@127.0.0.1:${String(upstream.port)}?country={country}[&city={city}]`,
  });
});
afterAll(async () => {
  await server.close();
  upstream.close();
  site.closeAllConnections();
  site.close();
});

const custom = (change: object = {}) => ({
  type: "custom",
  protocol: "http",
  config: { host: "127.0.0.1", port: upstream.port, username: "user", password: secret, ...change },
});

it("reports that the operator provides proxies", async () => {
  expect(await server.request("GET", "/org/entitlements")).toMatchObject({
    status: 200,
    body: { features: { managed_proxies: { enabled: true }, custom_proxies: { enabled: true } } },
  });
});

async function create(body: object): Promise<Proxy & { id: string }> {
  const reply = await server.request("POST", "/proxies", { body });
  expect(reply).toMatchObject({ status: 201 });
  const proxy = Proxy.parse(reply.body);
  return { ...proxy, id: proxy.id ?? "" };
}

describe("create", () => {
  it("stores all fields, with an encrypted password", async () => {
    const made = await create({ ...custom(), name: "Büro", bypass_hosts: ["intranet.example", "*.Example.com"] });
    expect(made).toEqual({
      id: made.id,
      name: "Büro",
      type: "custom",
      protocol: "http",
      bypass_hosts: ["intranet.example", "*.example.com"],
      config: { host: "127.0.0.1", port: upstream.port, username: "user", has_password: true, has_ca_bundle: false },
    });
    expect((await server.request("GET", `/proxies/${made.id}`)).body).toEqual(made);
    const row = await server.database.query
      .selectFrom("proxies")
      .selectAll()
      .where("id", "=", made.id)
      .executeTakeFirstOrThrow();
    expect(JSON.stringify(row) + String(row.password)).not.toContain(secret);
    expect(server.log()).not.toContain(secret);
  });

  it("stores certificates without returning them", async () => {
    const pem = readFileSync(new URL("../../../../../tools/certificates/authority.pem", import.meta.url), "utf8");
    const made = await create(custom({ ca_bundle: `an authority\r\n${pem.replaceAll("\n", "\r\n")}` }));
    expect(made.config).toMatchObject({ has_password: true, has_ca_bundle: true });
    const project = await server.request("GET", "/proxies?limit=100");
    const shown = [
      made,
      project.body,
      (await server.request("GET", `/proxies/${made.id}`)).body,
      (await server.request("PATCH", `/proxies/${made.id}`, { body: { name: "office" } })).body,
    ];
    expect(JSON.stringify(shown)).not.toContain("CERTIFICATE");
    expect(server.log()).not.toContain("CERTIFICATE");
    const row = await server.database.query
      .selectFrom("proxies")
      .select("ca_bundle")
      .where("id", "=", made.id)
      .executeTakeFirstOrThrow();
    expect(row.ca_bundle).toBe(pem);
    expect(await create(custom({ ca_bundle: "" }))).toMatchObject({ config: { has_ca_bundle: false } });
  });

  it("uses TLS to the proxy by default", async () => {
    expect(await create({ type: "custom", config: { host: "PROXY.example", port: 1 } })).toMatchObject({
      protocol: "https",
      config: { host: "proxy.example", port: 1, has_password: false },
    });
  });

  it.each<[string, object, string]>([
    ["no config", { config: undefined }, "body.config: a custom proxy needs host and port"],
    ["a host with a port", { config: { host: "a.example:80", port: 1 } }, "body.config.host"],
    ["a host with a path", { config: { host: "a.example/x", port: 1 } }, "body.config.host"],
    ["a host with credentials", { config: { host: "u:p@a.example", port: 1 } }, "body.config.host"],
    [
      "an address with a zone",
      { config: { host: "fe80::1%lo", port: 1 } },
      "body.config.host: is neither a host name nor an address. Write it without a zone",
    ],
    ["an address with a zone in brackets", { config: { host: "[fe80::1%lo]", port: 1 } }, "body.config.host"],
    ["an empty host", { config: { host: "", port: 1 } }, "body.config.host"],
    ["port 0", { config: { host: "a.example", port: 0 } }, "body.config.port: expected at least 1"],
    ["port 65536", { config: { host: "a.example", port: 65_536 } }, "body.config.port"],
    [
      "a colon in the user name",
      { protocol: "http", config: { host: "a.example", port: 1, username: "a:b" } },
      "body.config.username: must not contain a colon",
    ],
    [
      "a line break in the password",
      { config: { host: "a.example", port: 1, password: "a\r\nb" } },
      "body.config.password: must not contain control characters",
    ],
    [
      "a password that SOCKS5 has no room for",
      { protocol: "socks5", config: { host: "a.example", port: 1, password: "ä".repeat(128) } },
      "body.config.password: expected at most 255 bytes",
    ],
    [
      "certificates that are none",
      {
        config: {
          host: "a.example",
          port: 1,
          ca_bundle: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
        },
      },
      "body.config.ca_bundle: block 1 of 1 cannot be read as a certificate",
    ],
    [
      "certificates of another type of proxy",
      { type: "residential", config: { country: "DE", ca_bundle: "" } },
      "ca_bundle",
    ],
    ["a field of another type", { config: { host: "a.example", port: 1, country: "DE" } }, "country"],
    ["an address to bypass", { bypass_hosts: ["ok.example", "10.0.0.1"] }, "body.bypass_hosts[1]"],
    ["a port to bypass", { bypass_hosts: ["a.example:80"] }, "body.bypass_hosts[0]"],
    ["a star in the middle", { bypass_hosts: ["a.*.example"] }, "body.bypass_hosts[0]"],
    [
      "101 hosts to bypass",
      { bypass_hosts: Array.from({ length: 101 }, (_, index) => `h${String(index)}.example`) },
      "body.bypass_hosts",
    ],
    ["another protocol", { protocol: "ftp" }, "body.protocol"],
  ])("rejects %s", async (_what, change, message) => {
    const { status, body } = await server.request("POST", "/proxies", {
      body: { type: "custom", config: { host: "a.example", port: 1 }, ...change },
    });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(message);
  });

  it.each([
    {
      config: { host: "a.example", port: 65_535, username: "x".repeat(1024), password: "x".repeat(1024) },
      bypass_hosts: Array.from({ length: 100 }, (_, index) => `h${String(index)}.example`),
    },
    { protocol: "socks5", config: { host: "::1", port: 1, username: "a:b", password: "ä".repeat(127) } },
    { config: { host: "bücher.example", port: 1 }, bypass_hosts: ["*.bücher.example", "localhost"] },
  ])("accepts values at the limits", async (body) => {
    await create({ type: "custom", ...body });
  });

  it("lists the configured types in the error for another type", async () => {
    expect(await create({ type: "residential", config: { country: "DE", city: "berlin" } })).toMatchObject({
      type: "residential",
      config: { country: "DE", city: "berlin" },
    });
    const { status, body } = await server.request("POST", "/proxies", { body: { type: "mobile" } });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      code: "proxy_not_available",
      message: expect.stringMatching(/no mobile proxies, but residential.*proxy_mobile/) as unknown,
    });
  });
});

it("renames and deletes", async () => {
  const { id } = await create(custom());
  expect((await server.request("PATCH", `/proxies/${id}`, { body: { name: "new" } })).body).toMatchObject({
    id,
    name: "new",
  });
  expect((await server.request("PATCH", `/proxies/${id}`, { body: { name: "" } })).status).toBe(400);
  expect((await server.request("DELETE", `/proxies/${id}`)).status).toBe(204);
  for (const method of ["GET", "DELETE"])
    expect(await server.request(method, `/proxies/${id}`)).toMatchObject({ status: 404, body: { code: "not_found" } });
  expect((await server.request("POST", `/proxies/${id}/check`)).status).toBe(404);
});

it("lists newest first, by parts of names, hosts and addresses, and by exact names", async () => {
  const project = await server.addProject("lists");
  for (const [name, host] of [
    ["Café", "first.example"],
    ["cafe", "second.example"],
    ["100%", "third.example"],
  ]) {
    await server.request("POST", "/proxies", {
      key: project.key,
      body: { type: "custom", name, config: { host, port: 1 } },
    });
  }
  const names = async (query: string) =>
    ((await server.request("GET", `/proxies${query}`, project)).body as Proxy[]).map(({ name }) => name);
  expect(await names("")).toEqual(["100%", "cafe", "Café"]);
  expect(await names("?name=CAFE")).toEqual(["cafe", "Café"]);
  expect(await names("?query=SECOND")).toEqual(["cafe"]);
  expect(await names("?query=%25")).toEqual(["100%"]);
  const page = await server.request("GET", "/proxies?limit=2", project);
  expect([(page.body as Proxy[]).length, page.headers.get("x-next-offset")]).toEqual([2, "2"]);
});

describe("check", () => {
  it("returns and stores the duration and the exit address", async () => {
    for (const body of [custom(), { type: "residential" }]) {
      const { id } = await create(body);
      const { status, body: checked } = await server.request("POST", `/proxies/${id}/check`);
      expect(status).toBe(200);
      expect(checked).toMatchObject({
        id,
        status: "available",
        ip_address: "203.0.113.7",
        last_checked: expect.any(String) as unknown,
        latency_ms: expect.any(Number) as unknown,
      });
      const { latency_ms: _latency, ...kept } = Proxy.parse(checked);
      expect((await server.request("GET", `/proxies/${id}`)).body).toEqual(kept);
    }
  });

  it("answers 422 with the reason, and stores the failure", async () => {
    const { id } = await create(custom({ password: "wrong" }));
    const { status, body } = await server.request("POST", `/proxies/${id}/check`);
    expect(status).toBe(422);
    expect(body).toMatchObject({
      code: "proxy_check_failed",
      message: expect.stringContaining("user name and password") as unknown,
    });
    expect((await server.request("GET", `/proxies/${id}`)).body).toMatchObject({ status: "unavailable" });
    const { id: inside } = await create(custom({ host: "10.1.2.3" }));
    expect(await server.request("POST", `/proxies/${inside}/check`)).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining("private network") as unknown },
    });
  });

  it("loads a page chosen by the caller without storing the result", async () => {
    const { id } = await create(custom());
    const check = (url: string) => server.request("POST", `/proxies/${id}/check`, { body: { url } });
    expect(await check(`http://localhost:${String(port)}/`)).toMatchObject({
      status: 200,
      body: { latency_ms: expect.any(Number) as unknown },
    });
    expect(await check(`http://localhost:${String(port)}/forbidden`)).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining("status 403") as unknown },
    });
    for (const url of [
      "ftp://example.com/",
      "nonsense",
      "http://169.254.169.254/latest",
      "http://[::ffff:10.0.0.1]/",
      `http://127.0.0.1:${String(port)}/`,
    ])
      expect(await check(url)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining("body.url") as unknown },
      });
    expect((await server.request("GET", `/proxies/${id}`)).body).not.toHaveProperty("status");
  });
});

describe("a session", () => {
  it("uses its proxy, another one after a change, or none", async () => {
    const first = await create({ ...custom(), name: "of sessions" });
    const reply = await server.request("POST", "/browsers", {
      body: { proxy_id: first.id, start_url: `http://far.invalid:${String(port)}/start` },
    });
    const browser = Browser.parse(reply.body);
    expect(browser).toMatchObject({ proxy_id: first.id, proxy: { id: first.id, name: "of sessions" } });
    await expect.poll(() => upstream.asked).toContain(`GET http://far.invalid:${String(port)}/start`);

    const cdp = await connectCdp(browser.cdp_ws_url);
    const { targetInfos } = (await cdp.send("Target.getTargets")) as {
      targetInfos: { targetId: string; type: string }[];
    };
    const { sessionId } = await cdp.send("Target.attachToTarget", {
      targetId: targetInfos.find(({ type }) => type === "page")?.targetId,
      flatten: true,
    });
    const shown = async (url: string) => {
      const { loaderId } = await cdp.send("Page.navigate", { url }, sessionId);
      // The answer comes before the new document replaces the old one.
      await eventually("the document", async () => {
        const { frameTree } = await cdp.send("Page.getFrameTree", {}, sessionId);
        return (frameTree as { frame: { loaderId: string } }).frame.loaderId === loaderId;
      });
      return eventually("its text", async () => {
        const expression = 'document.readyState === "complete" && { text: document.body.innerText }';
        const { result } = await cdp.send("Runtime.evaluate", { expression, returnByValue: true }, sessionId);
        return (result as { value: { text: string } | false }).value;
      });
    };
    const path = `/browsers/${browser.session_id}`;
    const byProxy = { text: "by way of the proxy" };
    expect(await shown(`http://far.invalid:${String(port)}/one`)).toEqual(byProxy);
    const taken = await server.request("PATCH", path, { body: { proxy: { mode: "direct" } } });
    expect(taken.body).toMatchObject({ proxy: { mode: "direct" } });
    expect(taken.body).not.toHaveProperty("proxy_id");
    expect(await shown(`http://far.invalid:${String(port)}/two`)).not.toEqual(byProxy);
    expect((await server.request("PATCH", path, { body: { proxy: { name: "of sessions" } } })).body).toMatchObject({
      proxy_id: first.id,
    });
    expect(await shown(`http://far.invalid:${String(port)}/three`)).toEqual(byProxy);
    // The session continues with a deleted proxy.
    await server.request("DELETE", `/proxies/${first.id}`);
    expect(await shown(`http://far.invalid:${String(port)}/four`)).toEqual(byProxy);
    for (const proxy_id of [null, ""])
      expect((await server.request("PATCH", path, { body: { proxy_id } })).body).not.toHaveProperty("proxy");
    expect(await shown(`http://far.invalid:${String(port)}/five`)).not.toEqual(byProxy);
    expect(upstream.asked.join()).not.toMatch(/two|five/);
    cdp.close();
    await server.request("DELETE", path);
  });

  it("requires a proxy of its project with a unique name", async () => {
    const [owner, stranger] = [await server.addProject("owner"), await server.addProject("stranger")];
    const made = async () =>
      (await server.request("POST", "/proxies", { key: owner.key, body: { ...custom(), name: "twice" } })).body as {
        id: string;
      };
    const { id } = await made();
    await made();
    for (const body of [{ proxy_id: id }, { proxy: { id } }, { proxy: { name: "twice" } }])
      expect(await server.request("POST", "/browsers", { key: stranger.key, body })).toMatchObject({
        status: 404,
        body: { code: "not_found" },
      });
    expect(
      await server.request("POST", "/browsers", { key: owner.key, body: { proxy: { name: "twice" } } }),
    ).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/Several proxies .*"twice".*proxy\.id/) as unknown },
    });
    for (const { key } of [owner, stranger])
      expect((await server.request("GET", "/browsers", { key })).body).toEqual([]);
  });

  it("takes a name in each place of an id, and refuses a name of two", async () => {
    const { key } = await server.addProject("names");
    const ask = (method: string, path: string, body?: object) =>
      server.request(method, path, { key, ...(body && { body }) });
    const idOf = async (name: string) => {
      const { body } = await ask("POST", "/proxies", { ...custom(), name });
      return (body as { id: string }).id;
    };
    const [one, twin] = [await idOf("the office"), await idOf("twin")];
    await idOf("twin");
    // An id comes before a name.
    const named = await idOf(one);
    expect((await ask("GET", `/proxies/${one}`)).body).toMatchObject({ id: one, name: "the office" });
    expect((await ask("GET", "/proxies/the%20office")).body).toMatchObject({ id: one });
    expect((await ask("PATCH", "/proxies/the%20office", { name: "office" })).body).toMatchObject({ id: one });
    expect((await ask("GET", "/proxies/the%20office")).status).toBe(404);
    expect((await ask("POST", "/proxies/office/check", { url: "ftp://a" })).body).toMatchObject({
      code: "bad_request",
    });
    for (const body of [
      { proxy_id: "office" },
      { proxy: { id: "office" } },
      { proxy: { name: "office" } },
      { proxy_id: one },
    ]) {
      const made = await ask("POST", "/browsers", body);
      expect([body, made.body]).toMatchObject([body, { proxy_id: one, proxy: { id: one } }]);
      const { session_id } = made.body as { session_id: string };
      expect((await ask("PATCH", `/browsers/${session_id}`, { proxy_id: null })).status).toBe(200);
      expect((await ask("PATCH", `/browsers/${session_id}`, body)).body).toMatchObject({ proxy_id: one });
      await ask("DELETE", `/browsers/${session_id}`);
    }
    const pool = await ask("POST", "/browser_pools", { name: "by-name", size: 1, proxy_id: "office" });
    expect(pool.body).toMatchObject({ browser_pool_config: { proxy_id: one } });
    const changed = (proxy_id: string) => ask("PATCH", "/browser_pools/by-name", { proxy_id });
    expect((await changed(twin)).body).toMatchObject({ browser_pool_config: { proxy_id: twin } });
    expect((await changed("office")).body).toMatchObject({ browser_pool_config: { proxy_id: one } });
    for (const answer of [
      await ask("GET", "/proxies/twin"),
      await ask("PATCH", "/proxies/twin", { name: "x" }),
      await ask("DELETE", "/proxies/twin"),
      await ask("POST", "/proxies/twin/check", {}),
      await ask("POST", "/browsers", { proxy_id: "twin" }),
      await ask("POST", "/browsers", { proxy: { name: "twin" } }),
      await changed("twin"),
    ])
      expect(answer).toMatchObject({
        status: 400,
        body: {
          code: "bad_request",
          message: expect.stringContaining('Several proxies of this project are named "twin"') as unknown,
        },
      });
    expect((await ask("DELETE", "/browser_pools/by-name", { force: true })).status).toBe(204);
    const { key: stranger } = await server.addProject("other names");
    expect((await server.request("GET", "/proxies/office", { key: stranger })).status).toBe(404);
    expect((await ask("DELETE", "/proxies/office")).status).toBe(204);
    expect((await ask("DELETE", `/proxies/${one}`)).status).toBe(204);
    expect((await ask("GET", `/proxies/${named}`)).status).toBe(404);
  });
});
