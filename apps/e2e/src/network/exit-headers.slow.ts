import { type BrowserHeader, type CreateBrowser, Shoal } from "@shoal/client";
import { CertificateAuthority } from "@shoal/primitives/certificates";
import { eventually, filesBelow } from "@shoal/testkit";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { refusalOf } from "../testing/refusal.ts";
import { runService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

const token = `tok-${crypto.randomUUID()}`;
const password = `p:ss-${crypto.randomUUID()}`;
const on = { enabled: true };

interface Seen {
  readonly url: string;
  readonly isSecure: boolean;
  readonly headers: IncomingHttpHeaders;
}

let seen: Seen[] = [];
function note(request: IncomingMessage): void {
  seen.push({ url: request.url ?? "", isSecure: "encrypted" in request.socket, headers: request.headers });
}
const answer: RequestListener = (request, response) => {
  note(request);
  response.setHeader("access-control-allow-origin", "*");
  response.writeHead(200, { "content-type": "text/html" }).end("<title>site</title><p>hello");
};

let folder: string;
let plain: Site;
let secure: Server;
/** Its certificate is not valid for the service. */
let strange: Server;
let port: number;
let test: Awaited<ReturnType<typeof runService>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-exit-headers-"));
  const authority = new CertificateAuthority("Sites of a test");
  writeFileSync(join(folder, "authority.pem"), authority.certificate);
  plain = await serveSite(answer);
  secure = createServer(
    {
      SNICallback: (name, done) => {
        done(null, authority.contextFor(name));
      },
    },
    answer,
  );
  const sockets = new WebSocketServer({ server: secure });
  sockets.on("connection", (socket, request) => {
    note(request);
    socket.send("welcome");
  });
  await once(secure.listen(0, "127.0.0.1"), "listening");
  port = portOf(secure);
  const stranger = new CertificateAuthority("Strangers of a test");
  strange = createServer(
    {
      SNICallback: (name, done) => {
        done(null, stranger.contextFor(name));
      },
    },
    answer,
  );
  await once(strange.listen(0, "127.0.0.1"), "listening");
  test = await runService(["--allow-private-hosts", "127.0.0.1", "--allow-private-hosts", "localhost"], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, "authority.pem") },
  });
  await test.shoal.credentials.create({
    name: "api",
    domain: `localhost:${port}`,
    sites: [`localhost:${plain.host.split(":")[1] ?? ""}`, `localhost:${portOf(strange)}`],
    values: { token, username: "ada", password },
  });
});
afterAll(async () => {
  await test.end();
  for (const server of [secure, strange]) {
    server.closeAllConnections();
    server.close();
  }
  await plain.close();
  rmSync(folder, { recursive: true, force: true });
});

// `listen` made the address.
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

const header = (change: Partial<BrowserHeader> = {}): BrowserHeader => ({
  hosts: ["localhost"],
  name: "X-Api-Key",
  secret: { credential: "api", field: "token" },
  ...change,
});

const headersOf = (url: string, name: string) =>
  seen.filter((each) => each.url === url).map(({ headers }) => headers[name]);

async function visit(network: CreateBrowser["network"], script: string): Promise<{ id: string; result: unknown }> {
  const { session_id: id } = await test.shoal.browsers.create({ timeout_seconds: 600, ...(network && { network }) });
  const { result, error } = await test.shoal.browsers.playwright.execute(id, { code: script });
  expect(error).toBeUndefined();
  return { id, result };
}

it("adds headers and HTTP authentication for named hosts alone, and no stored byte has their values", async () => {
  const { browsers } = test.shoal;
  seen = [];
  let answers = "";
  const keep = async <T>(answered: Promise<T>): Promise<T> => {
    const value = await answered;
    answers += JSON.stringify(value);
    return value;
  };
  const site = `https://localhost:${port}`;
  const unencrypted = `http://localhost:${plain.host.split(":")[1] ?? ""}`;
  const made = await keep(
    browsers.create({
      timeout_seconds: 600,
      telemetry: { browser: { console: on, network: on, page: on, control: on, connection: on, interaction: on } },
      network: {
        headers: [header(), header({ name: "X-Token", prefix: "Token " })],
        http_auth: [{ hosts: ["localhost"], credential: "api" }],
      },
    }),
  );
  const { id } = await test.shoal.credentials.get("api");
  expect(made.network?.headers?.[0]).toEqual({ ...header(), secret: { credential: id, field: "token" } });
  expect(made.network?.http_auth).toEqual([{ hosts: ["localhost"], credential: id }]);
  const { session_id } = made;
  const executed = await keep(
    browsers.playwright.execute(session_id, {
      code: `
        await context.tracing.start({ snapshots: true, screenshots: true }).catch(() => undefined);
        const requests = [];
        page.on("request", async (request) => requests.push(await request.allHeaders()));
        page.on("response", async (response) => requests.push(await response.allHeaders()));
        await page.goto("${site}/page");
        await page.evaluate(async ([plain, elsewhere]) => {
          await fetch("/fetched", { method: "POST", body: "x", headers: { "x-api-key": "of the page", "x-own": "kept" } });
          await fetch(plain + "/plain", { mode: "no-cors" }).catch(() => undefined);
          await fetch(elsewhere + "/elsewhere", { mode: "no-cors" });
          await new Promise((resolve, reject) => {
            const socket = new WebSocket("wss://" + location.host + "/socket");
            socket.onmessage = resolve;
            socket.onerror = reject;
          });
        }, ["${unencrypted}", "${plain.url.slice(0, -1)}"]);
        await page.goto("${unencrypted}/plain-page");
        return { requests, html: await page.content() };`,
    }),
  );
  expect(executed.error).toBeUndefined();
  await keep(browsers.curl(session_id, { url: `${site}/curled` }));
  const basic = `Basic ${Buffer.from(`ada:${password}`).toString("base64")}`;
  for (const url of ["/page", "/fetched", "/socket", "/plain-page", "/curled"])
    expect(
      ["x-api-key", "x-token", "authorization"].map((name) => headersOf(url, name)),
      url,
    ).toEqual([[token], [`Token ${token}`], [basic]]);
  expect(seen.find(({ url }) => url === "/socket")?.isSecure).toBe(true);
  expect(headersOf("/fetched", "x-own")).toEqual(["kept"]);
  expect(headersOf("/elsewhere", "x-api-key")).toEqual([undefined]);
  expect(headersOf("/elsewhere", "authorization")).toEqual([undefined]);
  await keep(browsers.get(session_id));
  await keep(browsers.list());
  await eventually("the last request is in the telemetry", async () => {
    const { items } = await browsers.telemetry.events(session_id, { limit: 100, order: "desc" });
    return JSON.stringify(items).includes("/plain-page");
  });
  await browsers.delete(session_id);
  for await (const event of await browsers.telemetry.events(session_id, { limit: 100 }))
    answers += JSON.stringify(event);
  const start = new Date(Date.now() - 600_000).toISOString();
  for await (const entry of await test.shoal.auditLogs.list({
    start,
    end: new Date(Date.now() + 60_000).toISOString(),
  }))
    answers += JSON.stringify(entry);
  const secrets = [token, password, basic.slice(6), Buffer.from(token).toString("base64").slice(0, -4)];
  for (const secret of secrets) {
    expect(answers).not.toContain(secret);
    for (const [path, content] of filesBelow(test.folder)) expect(content.includes(secret), path).toBe(false);
  }
});

it("changes them in a running session, and takes them away", async () => {
  const { browsers } = test.shoal;
  const { id } = await visit(undefined, `await page.goto("about:blank")`);
  const goTo = async (path: string) => {
    const { error } = await browsers.playwright.execute(id, {
      code: `await page.goto("http://localhost:${plain.host.split(":")[1] ?? ""}${path}")`,
    });
    expect(error).toBeUndefined();
  };
  seen = [];
  const changed = await browsers.update(id, { network: { headers: [header()] } });
  expect(changed.network?.headers).toHaveLength(1);
  await goTo("/first");
  await browsers.playwright.execute(id, { code: `await page.goto("https://localhost:${port}/secure")` });
  const renamed = await browsers.update(id, { network: { headers: [header({ name: "X-Other" })] } });
  expect(renamed.browser_restarts).toBe(changed.browser_restarts);
  await goTo("/second");
  await browsers.update(id, { network: { deny: ["x.example"] } });
  await goTo("/third");
  expect((await browsers.update(id, { network: { headers: null } })).network?.headers).toBeUndefined();
  await goTo("/fourth");
  const rows = ["/first", "/secure", "/second", "/third", "/fourth"];
  expect(rows.map((url) => headersOf(url, "x-api-key")[0])).toEqual([token, token, undefined, undefined, undefined]);
  expect(rows.map((url) => headersOf(url, "x-other")[0])).toEqual([undefined, undefined, token, token, undefined]);
  await browsers.delete(id);
});

it("adds none to requests of pages of other sites, except when a link leads to the host", async () => {
  const { browsers } = test.shoal;
  const { session_id: id } = await browsers.create({ timeout_seconds: 600, network: { headers: [header()] } });
  seen = [];
  const site = `https://localhost:${port}`;
  const { error } = await browsers.playwright.execute(id, {
    code: `
      await page.goto("${plain.url}hostile");
      await page.evaluate(async (site) => {
        await fetch(site + "/cross-fetch");
        await fetch(site + "/cross-post", { method: "POST", mode: "no-cors", body: "x" });
        await new Promise((resolve) => {
          const frame = document.body.appendChild(document.createElement("iframe"));
          frame.onload = resolve;
          frame.src = site + "/cross-frame";
        });
        await new Promise((resolve) => {
          const socket = new WebSocket(site.replace("https", "wss") + "/cross-socket");
          socket.onmessage = socket.onerror = resolve;
        });
        document.body.innerHTML = '<a href="' + site + '/link">link</a><form method=post action="' + site + '/form"><button>send</button></form>';
      }, "${site}");
      await Promise.all([page.waitForURL("${site}/form"), page.click("button")]);
      await page.goBack();
      await page.evaluate((site) => { document.body.innerHTML = '<a href="' + site + '/link">link</a>'; }, "${site}");
      await Promise.all([page.waitForURL("${site}/link"), page.click("a")]);
      await page.evaluate(() => fetch("/own"));`,
  });
  expect(error).toBeUndefined();
  for (const url of ["/cross-fetch", "/cross-post", "/cross-frame", "/cross-socket", "/form"])
    expect(headersOf(url, "x-api-key"), url).toEqual([undefined]);
  for (const url of ["/link", "/own"]) expect(headersOf(url, "x-api-key"), url).toEqual([token]);
  await browsers.delete(id);
});

it("adds them in browsers of a pool, whose other settings a caller without the right may change", async () => {
  const { apiKeys, browserPools, browsers } = test.shoal;
  const { id: pool } = await browserPools.create({
    ...{ name: `headers-${crypto.randomUUID()}`, size: 1, fill_rate_per_minute: 100 },
    network: { headers: [header()] },
  });
  const leased = await browserPools.acquire(pool, { acquire_timeout_seconds: 60 });
  const { session_id: id, network } = leased ?? expect.fail("The pool has no browser.");
  expect(network?.headers).toHaveLength(1);
  seen = [];
  await browsers.playwright.execute(id, { code: `await page.goto("https://localhost:${port}/pooled")` });
  expect(headersOf("/pooled", "x-api-key")).toEqual([token]);
  const { key } = await apiKeys.create({ name: `pools-${crypto.randomUUID()}`, role: "operator" });
  const operator = new Shoal({ baseUrl: test.service.baseUrl, apiKey: key });
  const changed = await operator.browserPools.update(pool, { timeout_seconds: 700 });
  expect(changed.browser_pool_config.network?.headers).toHaveLength(1);
  const other = { headers: [header({ name: "X-Other" })] };
  expect(await refusalOf(operator.browserPools.update(pool, { network: other }))).toMatchObject({ status: 403 });
  await browserPools.delete(pool, { force: true });
});

it("sends no header to a host without a valid certificate, and shows why", async () => {
  const { browsers } = test.shoal;
  const { session_id: id } = await browsers.create({ timeout_seconds: 600, network: { headers: [header()] } });
  seen = [];
  const url = `https://localhost:${portOf(strange)}/strange`;
  const { error } = await browsers.playwright.execute(id, { code: `await page.goto("${url}")` });
  expect(error).toContain("the service itself verifies its certificate");
  const navigated = await refusalOf(browsers.act(id, { type: "navigate", url }));
  expect(navigated.message).toContain("certificate");
  expect(seen).toEqual([]);
  await browsers.delete(id);
});

it("stops when the credential is deleted, and says so", async () => {
  const { browsers, credentials } = test.shoal;
  const domain = `localhost:${port}`;
  const { id: credential } = await credentials.create({ name: "short-lived", domain, values: { token } });
  const headers = [header({ secret: { credential, field: "token" } })];
  const { session_id: id } = await browsers.create({ timeout_seconds: 600, network: { headers } });
  await credentials.delete(credential);
  const { error } = await browsers.playwright.execute(id, { code: `await page.goto("https://${domain}/deleted")` });
  expect(error).toContain("could not be opened");
  const refused = await refusalOf(browsers.update(id, { network: { http_auth: null } }));
  expect(refused).toMatchObject({ status: 404 });
  expect(refused.message).toContain("network.headers already");
  await browsers.update(id, { network: { headers: null, http_auth: null } });
  await browsers.delete(id);
});

it.each([
  ["a host that is not a site of the credential", header({ hosts: ["localhost", "a.example"] }), 403, "hosts[1]"],
  ["all names below a site of one name", header({ hosts: ["*.localhost"] }), 403, "hosts[0]"],
  ["another port", header({ hosts: ["localhost:1"] }), 403, "hosts[0]"],
  ["an invalid host", header({ hosts: ["https://localhost"] }), 400, "hosts[0]"],
  ["a header of the connection", header({ name: "Content-Length" }), 400, "name"],
  ["cookies", header({ name: "cookie" }), 400, "name"],
  ["the host", header({ name: "HOST" }), 400, "name"],
  ["an invalid name", header({ name: "a b" }), 400, "name"],
  ["a line break before the value", header({ prefix: "a\r\nb: " }), 400, "prefix"],
  ["an unknown credential", header({ secret: { credential: "none", field: "token" } }), 404, "secret.credential"],
  ["an unknown value", header({ secret: { credential: "api", field: "none" } }), 404, "secret.field"],
  ["the name of a property", header({ secret: { credential: "api", field: "__proto__" } }), 404, "secret.field"],
])("refuses %s, and names the field", async (_what, wrong, status, field) => {
  const refusal = await refusalOf(test.shoal.browsers.create({ network: { headers: [wrong] } }));
  expect(refusal).toMatchObject({ status });
  expect(JSON.stringify(refusal)).toContain(`body.network.headers[0].${field}`);
  const pool = { name: `pool-${crypto.randomUUID()}`, size: 1, fill_rate_per_minute: 0 };
  expect(await refusalOf(test.shoal.browserPools.create({ ...pool, network: { headers: [wrong] } }))).toMatchObject({
    status,
  });
});

it("refuses two values of one header, a shared browser, and callers without the right", async () => {
  const { apiKeys, browsers } = test.shoal;
  const twice = await refusalOf(browsers.create({ network: { headers: [header(), header({ name: "x-api-key" })] } }));
  expect(twice).toMatchObject({ status: 400 });
  const both = {
    headers: [header({ name: "authorization" })],
    http_auth: [{ hosts: ["localhost"], credential: "api" }],
  };
  expect(await refusalOf(browsers.create({ network: both }))).toMatchObject({ status: 400 });
  const project = await test.shoal.projects.create({ name: `other-${crypto.randomUUID().slice(0, 8)}` });
  const other = new Shoal({ baseUrl: test.service.baseUrl, apiKey: test.service.apiKey, project: project.id });
  const { id: foreign } = await other.credentials.create({
    name: "foreign",
    domain: `localhost:${port}`,
    values: { token },
  });
  for (const credential of [foreign, "foreign"]) {
    const headers = [header({ secret: { credential, field: "token" } })];
    expect(await refusalOf(browsers.create({ network: { headers } }))).toMatchObject({ status: 404 });
  }
  const shared = browsers.create({ isolation: "context", network: { headers: [header()] } });
  expect(await refusalOf(shared)).toMatchObject({ status: 400 });
  const { session_id: id } = await browsers.create({ timeout_seconds: 600 });
  for (const limits of [{ role: "operator" as const }, { operations: ["browsers.*", "browserPools.*"] }]) {
    const { key } = await apiKeys.create({ name: `limited-${crypto.randomUUID()}`, ...limits });
    const limited = new Shoal({ baseUrl: test.service.baseUrl, apiKey: key });
    for (const network of [{ headers: [header()] }, { http_auth: [{ hosts: ["localhost"], credential: "api" }] }])
      for (const call of [
        () => limited.browsers.create({ network }),
        () => limited.browsers.update(id, { network }),
        () => limited.browserPools.create({ name: "limited", size: 1, network }),
      ])
        expect(await refusalOf(call())).toMatchObject({ status: 403 });
  }
  const { key } = await apiKeys.create({ name: "user", operations: ["browsers.*", "credentials.use"] });
  const user = new Shoal({ baseUrl: test.service.baseUrl, apiKey: key });
  const allowed = await user.browsers.create({ network: { headers: [header()] } });
  await user.browsers.delete(allowed.session_id);
  await browsers.delete(id);
});
