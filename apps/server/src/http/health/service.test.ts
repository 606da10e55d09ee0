import { Health, Readiness } from "@shoal/schemas";
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findChromium } from "@shoal/placement";
import { eventuallyPasses } from "@shoal/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { version } from "../../config/version.ts";

let server: TestServer;
let folder: string;
let chromium: string;
beforeAll(async () => {
  const found = await findChromium({});
  if (found === undefined) throw new Error("These tests need a Chromium.");
  folder = mkdtempSync(join(tmpdir(), "shoal-chromium-"));
  // A copy, so that the test can remove it while the service runs.
  chromium = join(folder, "chromium");
  copyFileSync(found.executable, chromium);
  chmodSync(chromium, 0o755);
  server = await startTestServer({ chromium });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

it("answers /health without a key", async () => {
  const { status, body, headers } = await server.request("GET", "/health", { key: null });
  expect(status).toBe(200);
  expect(Health.parse(body)).toEqual({ status: "ok", version });
  expect(headers.get("x-request-id")).toBeTruthy();
});

it("is ready while all checks pass, and names the failed checks with 503", async () => {
  // A check that takes longer than three seconds fails.
  const ready = await eventuallyPasses(async () => {
    const answer = await server.request("GET", "/ready", { key: null });
    expect(answer.status).toBe(200);
    return answer;
  });
  expect(Readiness.parse(ready.body)).toEqual({
    status: "ready",
    checks: { database: "ok", chromium: "ok", placement: "ok" },
  });
  rmSync(chromium);
  await expect.poll(async () => (await server.request("GET", "/ready", { key: null })).status).toBe(503);
  const { body, headers } = await server.request("GET", "/ready", { key: null });
  expect(body).toMatchObject({ code: "not_ready", message: expect.stringContaining("chromium: ") as unknown });
  expect((body as { details: { message: string }[] }).details.map(({ message }) => message.split(":")[0])).toEqual([
    "database",
    "chromium",
    "placement",
  ]);
  expect(headers.get("retry-after")).toBe("1");
});

it("serves the OpenAPI document without a key", async () => {
  const { status, body } = await server.request("GET", "/openapi.json", { key: null });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    openapi: expect.stringMatching(/^3\.1/) as unknown,
    paths: { "/profiles/{id_or_name}": { get: { operationId: "profiles.get" } } },
  });
});

it.each(["GET /nowhere", "GET /profiles/a/b/c", "PUT /browsers"])(
  "answers %s with the usual error body",
  async (target) => {
    const [method = "", path = ""] = target.split(" ");
    const { status, body, headers } = await server.request(method, path);
    expect([404, 405]).toContain(status);
    expect(body).toMatchObject({ code: expect.any(String) as unknown, message: expect.any(String) as unknown });
    expect(headers.get("x-request-id")).toBeTruthy();
  },
);

it("logs each request with its id, without any key", async () => {
  await server.request("GET", "/profiles?query=x", { headers: { "x-request-id": "my-request-1" } });
  await expect.poll(() => server.log()).toContain("my-request-1");
  const line =
    server
      .log()
      .split("\n")
      .find((text) => text.includes("my-request-1")) ?? "{}";
  expect(JSON.parse(line)).toMatchObject({
    level: "debug",
    method: "GET",
    path: "/profiles",
    status: 200,
    duration_ms: expect.any(Number) as unknown,
  });
  await server.request("GET", "/profiles/nobody", { headers: { "x-request-id": "my-request-2" } });
  await expect.poll(() => server.log()).toContain("my-request-2");
  expect(server.log()).not.toContain(server.key.slice(9));
});

it("logs the cause of a 500 under the request's id, and hides it from the client", async () => {
  await server.database.query.schema.alterTable("profiles").renameTo("profiles_away").execute();
  try {
    const { status, body } = await server.request("GET", "/profiles", { headers: { "x-request-id": "broken-1" } });
    expect(status).toBe(500);
    expect(body).toMatchObject({ code: "internal_error", message: expect.stringContaining("broken-1") as unknown });
    expect(JSON.stringify(body)).not.toContain("relation");
  } finally {
    await server.database.query.schema.alterTable("profiles_away").renameTo("profiles").execute();
  }
  const line = server
    .log()
    .split("\n")
    .find((text) => text.includes('"request_id":"broken-1"') && text.includes('"level":"error"'));
  expect(line).toContain("relation");
});
