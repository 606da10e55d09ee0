import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createBrowser } from "@shoal/contract";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { readSettings } from "../server/settings.ts";
import { PretendService } from "../testing/pretend-service.ts";
import type { Caller } from "./caller.ts";
import { McpEndpoint, type McpEndpointOptions } from "./endpoint.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function settingsOf(given: Readonly<Record<string, string>>) {
  const settings = readSettings(given);
  if ("problem" in settings) throw new Error(settings.problem);
  return settings;
}

function start(options: Partial<McpEndpointOptions> = {}, given: Readonly<Record<string, string>> = {}) {
  const service = new PretendService();
  const endpoint = new McpEndpoint({
    version: "1.2.3",
    createId: () => crypto.randomUUID(),
    maxConnections: 100,
    maxConnectionsPerKey: 100,
    idleMs: 60_000,
    onError: () => undefined,
    ...options,
  });
  closing.push(() => endpoint.close());
  const settings = settingsOf(given);
  const caller = (keyId: string): Caller => ({
    keyId,
    projectId: "project",
    settings,
    mayCall: () => true,
    connect: () => service.transport,
  });
  const connect = async (keyId = "key", mode?: "auto") => {
    const client = new Client(
      { name: "test", version: "1" },
      mode === undefined ? {} : { versionNegotiation: { mode } },
    );
    const http = new StreamableHTTPClientTransport(new URL("http://shoal.test/mcp"), {
      fetch: (url, init) => endpoint.handle(new Request(url, init), caller(keyId)),
    });
    await client.connect(http);
    closing.push(() => client.close());
    return { client, http };
  };
  const post = (body: unknown, headers: Record<string, string> = {}, keyId = "key") =>
    endpoint.handle(
      new Request("http://shoal.test/mcp", {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
      caller(keyId),
    );
  return { connect, endpoint, post, service };
}

const textOf = async (client: Client, name: string, args: Record<string, unknown> = {}) => {
  const { content } = await client.callTool({ name, arguments: args });
  return content.map((part) => (part.type === "text" ? part.text : part.type)).join("\n");
};

it("starts a browser for each connection, and ends it with the session", async () => {
  const { connect, service } = start();
  const [one, two] = [await connect(), await connect()];
  const titles = await Promise.all([textOf(one.client, "snapshot"), textOf(two.client, "snapshot")]);
  expect(new Set(titles).size).toBe(2);
  await one.http.terminateSession();
  await expect.poll(() => service.running().length).toBe(1);
  await expect(textOf(one.client, "snapshot")).rejects.toThrow();
});

it("serves clients of the newest revision without a session of the protocol", async () => {
  const { connect, endpoint } = start();
  const { client, http } = await connect("key", "auto");
  expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
  const { structuredContent } = await client.callTool({ name: "open_browser", arguments: {} });
  const { session } = structuredContent as { session: string };
  expect(await textOf(client, "snapshot", { session })).toContain(session);
  expect([http.sessionId, endpoint.connections]).toEqual([undefined, 0]);
});

it("lists sessions to clients of the newest revision with the group sessions alone, and takes ids only without it", async () => {
  const { connect, service } = start();
  await service.transport.call(createBrowser, { body: {} });
  const [other = ""] = service.running();
  const { client } = await connect("key", "auto");
  expect((await client.listResources()).resources).toEqual([]);
  const named = { uri: "shoal://browsers/main" };
  await expect(client.readResource(named)).rejects.toThrow("Select the group sessions to read main");
  expect(await textOf(client, "snapshot", { session: "main" })).toContain("needs the id of a session");
  const all = start({}, { tools: "observe,sessions" });
  await all.service.transport.call(createBrowser, { body: {} });
  const seeing = await all.connect("key", "auto");
  expect((await seeing.client.listResources()).resources).toMatchObject([{ uri: `shoal://browsers/${other}` }]);
  expect(await textOf(seeing.client, "snapshot", { session: "main" })).toContain("Browser main was not found");
});

it("answers 404 to another key, as for an unknown session", async () => {
  const { connect, post } = start();
  const { http } = await connect("key");
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  const own = await post(list, { "mcp-session-id": http.sessionId ?? "" });
  const foreign = await post(list, { "mcp-session-id": http.sessionId ?? "" }, "other");
  const unknown = await post(list, { "mcp-session-id": "unknown" });
  expect([own.status, foreign.status, unknown.status]).toEqual([200, 404, 404]);
  expect(await foreign.text()).toBe(await unknown.text());
});

it("ends an idle connection with its browser", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { endpoint, post, service } = start({ idleMs: 60_000 });
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  };
  const answer = await post(initialize);
  const id = answer.headers.get("mcp-session-id") ?? "";
  expect(await answer.text()).toContain('"protocolVersion":"2025-06-18"');
  const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "snapshot", arguments: {} } };
  await (await post(call, { "mcp-session-id": id })).text();
  expect(service.created).toHaveLength(1);
  vi.advanceTimersByTime(59_000);
  expect(endpoint.connections).toBe(1);
  // The endpoint looks every five seconds.
  vi.advanceTimersByTime(6_000);
  await expect.poll(() => [endpoint.connections, service.running().length]).toEqual([0, 0]);
  expect((await post(call, { "mcp-session-id": id })).status).toBe(404);
});

it("limits the connections of a key and of the server", async () => {
  const { connect, endpoint } = start({ maxConnections: 3, maxConnectionsPerKey: 2 });
  await connect("one");
  await connect("one");
  await expect(connect("one")).rejects.toThrow("2 MCP sessions");
  await connect("two");
  await expect(connect("three")).rejects.toThrow("3 MCP sessions");
  expect(endpoint.connections).toBe(3);
});

it("keeps nothing of a request that is not an initialize", async () => {
  const { endpoint, post } = start();
  const replies = await Promise.all([
    post({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    post("{"),
    post("[]"),
    post({ jsonrpc: "2.0", method: "notifications/initialized" }),
  ]);
  for (const reply of replies) await reply.text();
  expect(replies.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
  expect((await post("x", { "content-type": "text/plain" })).status).toBe(415);
  expect(endpoint.connections).toBe(0);
});

it("ends all browsers when the service stops", async () => {
  const { connect, endpoint, service } = start();
  const { client } = await connect();
  await textOf(client, "snapshot");
  await endpoint.close();
  expect(service.running()).toEqual([]);
});

it("lets a client resume the stream of a call that broke off", async () => {
  const { endpoint, post, service } = start();
  const version = "2025-11-25";
  const opened = await post({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: version, capabilities: {}, clientInfo: { name: "test", version: "1" } },
  });
  const session = opened.headers.get("mcp-session-id") ?? "";
  expect(await opened.text()).toMatch(/^id: \S+\nretry: 1000\ndata: \n\n/);
  const headers = { "mcp-session-id": session, "mcp-protocol-version": version };
  await post({ jsonrpc: "2.0", method: "notifications/initialized" }, headers);

  const held = Promise.withResolvers<undefined>();
  service.holding = held.promise;
  const called = await post(
    { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "snapshot", arguments: {} } },
    headers,
  );
  const reader = called.body?.getReader();
  const first = Buffer.from((await reader?.read())?.value ?? []).toString();
  const [, lastEventId = ""] = /^id: (\S+)\nretry: 1000\ndata: \n\n/.exec(first) ?? [];
  await reader?.cancel();
  held.resolve(undefined);

  const resumed = await endpoint.handle(
    new Request("http://shoal.test/mcp", {
      headers: { ...headers, accept: "text/event-stream", "last-event-id": lastEventId },
    }),
    {
      keyId: "key",
      projectId: "project",
      settings: settingsOf({}),
      mayCall: () => true,
      connect: () => service.transport,
    },
  );
  expect(resumed.status).toBe(200);
  const again = resumed.body?.getReader();
  let text = "";
  while (!text.includes('"id":2')) {
    const { done, value } = (await again?.read()) ?? { done: true, value: undefined };
    if (done) break;
    text += Buffer.from(value).toString();
  }
  expect(text).toMatch(/^id: \S+\n.*"id":2/ms);
  await again?.cancel();
});
