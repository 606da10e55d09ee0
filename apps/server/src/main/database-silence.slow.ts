import { ErrorBody } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({}, { proxied: true });
});
afterAll(() => server.close());

it("ends every wait for a silent database, and recovers when the database answers again", async () => {
  const { proxy } = server;
  if (proxy === undefined) throw new Error("unreachable");
  proxy.pause();
  try {
    // More requests than connections: requests waiting for a connection fail first, requests waiting for an answer
    // later.
    const replies = await Promise.all(Array.from({ length: 30 }, () => server.request("GET", "/profiles")));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 503));
    for (const { body, headers } of replies) {
      expect(ErrorBody.parse(body).code).toBe("database_unavailable");
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect((await server.request("GET", "/health", { key: null })).status).toBe(200);
    expect((await server.request("GET", "/ready", { key: null })).status).toBe(503);
  } finally {
    proxy.resume();
  }
  await expect.poll(async () => (await server.request("GET", "/profiles")).status).toBe(200);
  expect((await server.request("POST", "/profiles", { body: { name: "well" } })).status).toBeLessThan(300);
});
