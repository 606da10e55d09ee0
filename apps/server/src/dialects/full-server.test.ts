import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../testing/test-server.ts";

const text = expect.any(String) as string;

/** The operation that creates a session, and the error that clients of the dialect read. */
const calls = [
  ["browserbase", "/browserbase/v1/sessions", { statusCode: 503, error: "Service Unavailable", message: text }],
  ["steel", "/steel/v1/sessions", { success: false, message: text }],
] as const;

describe("clients of other services on a full server", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ dialects: calls.map(([name]) => name), max_sessions: 1 });
    expect((await server.request("POST", "/browsers", { body: { timeout_seconds: 600 } })).status).toBe(200);
  });
  afterAll(() => server.close());

  it.each(calls)("get 503 with Retry-After in the form of %s", async (_name, path, error) => {
    const answer = await server.request("POST", path, { body: {} });
    expect(answer.body).toEqual(error);
    expect([answer.status, Number(answer.headers.get("retry-after")) > 0]).toEqual([503, true]);
    expect(JSON.stringify(answer.body)).toContain("max_sessions");
  });

  it("differ from clients of this service, which get 529", async () => {
    expect((await server.request("POST", "/browsers", { body: {} })).status).toBe(529);
  });
});
