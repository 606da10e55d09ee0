import { getProfile, watchEvents, writeFile } from "@shoal/contract";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { Server as ProxyServer } from "proxy-chain";
import * as undici from "undici";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConnectionError, createTransport } from "../index.ts";
import { fetchVia } from "./index.ts";
import { failureOf, profile, reply, serve, type TestServer } from "./testing/misbehaving-server.ts";

const apiKey = "sk_secret_0123456789";
const params = { id_or_name: "p1" };
let proxy: ProxyServer;
let server: TestServer;
const passed: string[] = [];

beforeAll(async () => {
  server = await serve((request, response) => {
    if (request.url?.endsWith("/events") === true)
      response
        .writeHead(200, { "content-type": "text/event-stream" })
        .end('id: 1\ndata: {"type":"CREATE","path":"/a"}\n\n');
    else
      request
        .on("end", () => {
          reply(response, request.method === "GET" ? 200 : 201, request.method === "GET" ? profile : undefined);
        })
        .resume();
  });
  proxy = new ProxyServer({
    port: 0,
    host: "127.0.0.1",
    prepareRequestFunction: ({ hostname, port, username, password }) => {
      passed.push(`${hostname}:${port}`);
      return { requestAuthentication: username !== "user" || password !== "pass" };
    },
  });
  await proxy.listen();
});
afterAll(async () => {
  await proxy.close(true);
  await server[Symbol.asyncDispose]();
});

describe("proxy", () => {
  it("of a dispatcher, passed with fetch, carries the calls", async () => {
    await using dispatcher = closing(new undici.ProxyAgent(`http://user:pass@127.0.0.1:${proxy.port}`));
    const transport = createTransport({ baseUrl: server.baseUrl, apiKey, fetch: fetchVia(undici, dispatcher.agent) });
    passed.length = 0;
    expect(await transport.call(getProfile, { params })).toEqual(profile);
    await transport.call(writeFile, {
      params: { id: "b1" },
      query: { path: "/a" },
      body: new Blob(["content"]).stream(),
    });
    for await (const event of transport.stream(watchEvents, { params: { id: "b1", watch_id: "w1" } }))
      expect(event.path).toBe("/a");
    expect(server.seen).toHaveLength(3);
    expect(passed).toContain(new URL(server.baseUrl).host);
  });

  it("that rejects its password causes a ConnectionError, without the password or the key", async () => {
    await using dispatcher = closing(new undici.ProxyAgent(`http://user:wr0ngpassw0rd@127.0.0.1:${proxy.port}`));
    const transport = createTransport({
      baseUrl: server.baseUrl,
      apiKey,
      maxRetries: 0,
      fetch: fetchVia(undici, dispatcher.agent),
    });
    const error = await failureOf(transport.call(getProfile, { params }));
    expect(ConnectionError.isInstance(error)).toBe(true);
    expect(String(error) + String((error as Error).cause)).not.toMatch(/wr0ng|sk_secret/);
  });

  it("of the environment is used with NODE_USE_ENV_PROXY=1", async () => {
    passed.length = 0;
    const { host } = new URL(server.baseUrl);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--conditions=@shoal/source", "--no-warnings", join(import.meta.dirname, "testing/one-call.ts"), server.baseUrl],
      {
        env: {
          ...process.env,
          NODE_USE_ENV_PROXY: "1",
          HTTP_PROXY: `http://user:pass@127.0.0.1:${proxy.port}`,
          NO_PROXY: "",
          no_proxy: "",
        },
      },
    );
    expect(stdout.trim()).toBe("p1");
    expect(passed).toContain(host);
  });
});

function closing(agent: undici.ProxyAgent) {
  return { agent, [Symbol.asyncDispose]: () => agent.close() };
}
