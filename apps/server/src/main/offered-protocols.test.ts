import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

async function send(method: string, path: string, body?: string) {
  const headers = {
    connection: "Upgrade, HTTP2-Settings",
    "http2-settings": "AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA",
    upgrade: "h2c",
    authorization: `Bearer ${server.key}`,
    ...(body !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
  };
  const asking = request(server.baseUrl + path, { method, headers, agent: false }).end(body);
  const [answer] = (await once(asking, "response")) as [IncomingMessage];
  return { status: answer.statusCode, body: await json(answer) };
}

it("answers requests that offer HTTP/2, as clients of Java send them", async () => {
  expect(await send("POST", "/profiles", '{"name":"java"}')).toMatchObject({ status: 201, body: { name: "java" } });
  expect(await send("GET", "/profiles/java")).toMatchObject({ status: 200, body: { name: "java" } });
});
