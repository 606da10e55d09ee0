import { get } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

function post(body: unknown, headers: Readonly<Record<string, string>> = {}, query = "") {
  return fetch(`${server.baseUrl}/mcp${query}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${server.key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

async function connect() {
  const answer = await post(initialize);
  expect(answer.status, await answer.clone().text()).toBe(200);
  await answer.text();
  return { "mcp-session-id": answer.headers.get("mcp-session-id") ?? "" };
}

it("names its metadata to callers without a key", async () => {
  const refused = await fetch(`${server.baseUrl}/mcp`, { method: "POST" });
  expect(refused.status).toBe(401);
  const url = /^Bearer resource_metadata="(.*)"$/.exec(refused.headers.get("www-authenticate") ?? "")?.[1] ?? "";
  expect(url).toBe(`${server.baseUrl}/.well-known/oauth-protected-resource/mcp`);
  expect(await (await fetch(url)).json()).toEqual({
    resource: `${server.baseUrl}/mcp`,
    resource_name: "Shoal",
    bearer_methods_supported: ["header"],
  });
});

it.each([
  ["a page of a website", { origin: "https://evil.example" }],
  ["a page without an origin", { origin: "null" }],
])("refuses %s", async (_who, headers) => {
  const refused = await post(initialize, headers);
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({ code: "forbidden" });
});

it("refuses the name of a website that points to this machine", async () => {
  const { port } = new URL(server.baseUrl);
  const rebound = await new Promise<number | undefined>((resolve, reject) => {
    get({ port, path: "/mcp", headers: { host: `evil.example:${port}` } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).on("error", reject);
  });
  expect(rebound).toBe(403);
});

it("accepts a local page", async () => {
  const { port } = new URL(server.baseUrl);
  const answer = await post(initialize, { origin: `http://localhost:${port}` });
  expect(answer.status).toBe(200);
  await answer.text();
});

it("refuses unknown settings and large messages", async () => {
  const unknown = await post(initialize, {}, "?tool=act");
  expect(await unknown.json()).toMatchObject({ code: "bad_request", field: "query.tool" });
  const large = await post(`"${"x".repeat(4 * 2 ** 20)}"`);
  expect(large.status).toBe(413);
});

it.each([
  ["values", `[${"{},".repeat(60_000)}{}]`, 413],
  ["levels", "[".repeat(2_000_000), 400],
  ["levels of an argument", JSON.stringify(initialize).replace('"test"', `${"[".repeat(300)}${"]".repeat(300)}`), 400],
])("refuses a message with too many %s before it is parsed", async (_what, message, status) => {
  const session = await connect();
  for (const headers of [{}, session]) {
    const refused = await post(message, headers);
    expect(refused.status).toBe(status);
    expect(await refused.json()).toMatchObject({ message: expect.stringContaining("The message") as unknown });
  }
});

it("lists and calls tools", async () => {
  const session = await connect();
  const list = await post({ jsonrpc: "2.0", id: 2, method: "tools/list" }, session);
  expect(await list.text()).toContain('"name":"navigate"');
  const call = { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "close_browser", arguments: {} } };
  expect(await (await post(call, session)).text()).toContain("no own browser");
});

it("ends a session with DELETE, and answers 404 afterwards", async () => {
  const session = await connect();
  const end = await fetch(`${server.baseUrl}/mcp`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${server.key}`, ...session },
  });
  expect(end.status).toBe(200);
  expect((await post({ jsonrpc: "2.0", id: 2, method: "ping" }, session)).status).toBe(404);
});

it("ends the open stream of a deleted key", async () => {
  const created = await server.request("POST", "/org/api_keys", { body: { name: "short" } });
  const { id, key } = created.body as { id: string; key: string };
  const answer = await post(initialize, { authorization: `Bearer ${key}` });
  await answer.text();
  const stream = await fetch(`${server.baseUrl}/mcp`, {
    headers: {
      authorization: `Bearer ${key}`,
      accept: "text/event-stream",
      "mcp-session-id": answer.headers.get("mcp-session-id") ?? "",
    },
  });
  expect(stream.status).toBe(200);
  await server.request("DELETE", `/org/api_keys/${id}`);
  expect(await stream.text()).toContain("event: error");
});
