import { AuditLogEntry, Browser } from "@shoal/schemas";
import { once } from "node:events";
import { request } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";
import { connectCdp } from "../../testing/cdp-client.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { refusedUpgrade } from "../../testing/upgrade.ts";

let server: TestServer;
let project: { readonly id: string; readonly key: string };
let browser: Browser;
beforeAll(async () => {
  server = await startTestServer();
  project = await server.addProject("watched");
  browser = Browser.parse(
    (await server.request("POST", "/browsers", { key: project.key, body: { timeout_seconds: 3600 } })).body,
  );
});
afterAll(() => server.close());

async function visit(url: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  const asking = request(url.replace(/^ws/, "http"), {
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "user-agent": "visitor/1",
      ...headers,
    },
  });
  asking.end();
  const [response, socket] = (await once(asking, "upgrade")) as [{ statusCode?: number }, { destroy(): void }];
  expect(response.statusCode).toBe(101);
  socket.destroy();
}

/** Reads the entries of an operation with the key of the project. */
async function entries(operation: string): Promise<AuditLogEntry[]> {
  const window = `start=${new Date(Date.now() - 3_600_000).toISOString()}&end=${new Date(Date.now() + 3_600_000).toISOString()}`;
  const { body } = await server.request("GET", `/audit-logs?${window}&service=browsers`, { key: project.key });
  return z
    .array(AuditLogEntry)
    .parse(body)
    .filter((entry) => entry.operation === operation);
}

const common = () => ({
  method: "GET",
  project_id: project.id,
  client_ip: "127.0.0.1",
  domain: new URL(server.baseUrl).host,
});

it("records each CDP client once, without its messages", async () => {
  const path = `/browsers/${browser.session_id}/cdp`;
  const client = await connectCdp(browser.cdp_ws_url);
  for (let times = 0; times < 5; times += 1) await client.send("Browser.getVersion");
  await expect
    .poll(() => entries("browsers.cdp.connect"))
    .toMatchObject([
      { ...common(), auth_strategy: "session_token", user_id: "", path, route: "/browsers/{id}/cdp", status: 101 },
    ]);
  client.close();
  await client.closed;
  await visit(browser.cdp_ws_url);
  await expect
    .poll(() => entries("browsers.cdp.connect"))
    .toMatchObject([{ user_agent: "visitor/1", status: 101 }, { status: 101 }]);
  const { jwt = "" } = Object.fromEntries(new URL(browser.cdp_ws_url).searchParams);
  expect(JSON.stringify(await entries("browsers.cdp.connect"))).not.toContain(jwt);
});

it("records WebDriver clients", async () => {
  await visit(browser.webdriver_ws_url);
  await expect
    .poll(() => entries("browsers.webdriver.connect"))
    .toMatchObject([
      { ...common(), auth_strategy: "session_token", path: `/browsers/${browser.session_id}/webdriver`, status: 101 },
    ]);
});

it("records connections to a terminal, by token or key, successful or not", async () => {
  const spawned = z.object({ process_id: z.string() }).parse(
    (
      await server.request("POST", `/browsers/${browser.session_id}/process/spawn`, {
        key: project.key,
        body: { command: "cat", allocate_tty: true },
      })
    ).body,
  );
  const path = (id: string) => `/browsers/${browser.session_id}/process/${id}/attach`;
  await visit(browser.cdp_ws_url.replace("/cdp?", `/process/${spawned.process_id}/attach?`));
  await visit(server.baseUrl + path(spawned.process_id), { authorization: `Bearer ${project.key}` });
  expect(await refusedUpgrade(server.baseUrl + path("none"), { authorization: `Bearer ${project.key}` })).toMatchObject(
    { status: 404 },
  );
  await expect
    .poll(() => entries("browsers.process.attach"))
    .toMatchObject([
      { ...common(), auth_strategy: "api_key", email: "test@localhost", path: path("none"), status: 404 },
      {
        ...common(),
        auth_strategy: "api_key",
        email: "test@localhost",
        path: path(spawned.process_id),
        route: "/browsers/{id}/process/{process_id}/attach",
        status: 101,
      },
      { ...common(), auth_strategy: "session_token", email: "", path: path(spawned.process_id), status: 101 },
    ]);
});

it("records connections to a live view with their mode, without the URL", async () => {
  const { browser_live_view_read_only_url: watch = "", browser_live_view_url: control = "" } = browser;
  await visit(`${control}/socket`);
  await visit(`${watch}/socket`);
  const path = (what: string) => `/browsers/${browser.session_id}/live-view/${what}`;
  await expect
    .poll(() => entries("browsers.liveView.control"))
    .toMatchObject([{ ...common(), auth_strategy: "live_view", path: path("control"), status: 101 }]);
  await expect
    .poll(() => entries("browsers.liveView.watch"))
    .toMatchObject([{ ...common(), auth_strategy: "live_view", path: path("watch"), status: 101 }]);
});

it("does not record unauthorized connections", async () => {
  expect(await refusedUpgrade(`${server.baseUrl}/browsers/${browser.session_id}/cdp?jwt=guessed`)).toMatchObject({
    status: 401,
  });
  const stranger = await server.addProject("stranger");
  const path = `/browsers/${browser.session_id}/process/none/attach`;
  expect(await refusedUpgrade(server.baseUrl + path, { authorization: `Bearer ${stranger.key}` })).toMatchObject({
    status: 404,
  });
  const before = (await entries("browsers.cdp.connect")).length;
  await visit(browser.cdp_ws_url);
  // Earlier entries would be written as well.
  await expect.poll(async () => (await entries("browsers.cdp.connect")).length).toBe(before + 1);
});

it("records reads of the cookies and local storage of a profile", async () => {
  await server.request("POST", "/profiles", { key: project.key, body: { name: "kept" } });
  await server.request("GET", "/profiles/kept", { key: project.key });
  expect((await server.request("GET", "/profiles/kept/storage_state", { key: project.key })).status).toBe(202);
  const window = `start=${new Date(Date.now() - 3_600_000).toISOString()}&end=${new Date(Date.now() + 3_600_000).toISOString()}`;
  const { body } = await server.request("GET", `/audit-logs?${window}&service=profiles&method=GET`, {
    key: project.key,
  });
  expect(body).toMatchObject([
    {
      ...common(),
      auth_strategy: "api_key",
      operation: "profiles.storageState.get",
      path: "/profiles/kept/storage_state",
      status: 202,
    },
  ]);
});
