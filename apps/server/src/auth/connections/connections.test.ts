import { readFileSync } from "node:fs";
import type { CreatedApiKey } from "@shoal/schemas";
import { eventuallyPasses } from "@shoal/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Connections } from "./connections.ts";
import { blockedStatements } from "../../testing/blocked-statements.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

async function made(path: string, body: unknown): Promise<string> {
  const answer = await server.request("POST", path, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return (answer.body as { id: string }).id;
}

it("keeps the proxy and the telemetry destination of a connection from deletion until it changes", async () => {
  const proxy = await made("/proxies", { type: "custom", name: "exit", config: { host: "proxy.example", port: 3128 } });
  const endpoint = "https://otlp.example.com";
  const destination = await made("/telemetry/destinations", { name: "traces", endpoint });
  const telemetry = { enabled: true, export: { otlp: { enabled: true, destination: { name: "traces" } } } };
  const id = await made("/auth/connections", {
    domain: "example.com",
    profile_name: "shopper",
    browser: { proxy: { name: "exit" }, telemetry },
  });
  const path = `/auth/connections/${id}`;
  expect((await server.request("GET", path)).body).toMatchObject({
    proxy_id: proxy,
    browser: { proxy: { id: proxy, name: "exit" } },
    browser_telemetry: { enabled: true, export: { otlp: { enabled: true, destination: { id: destination } } } },
  });
  expect(await server.request("DELETE", `/proxies/${proxy}`)).toMatchObject({
    status: 400,
    body: { code: "resource_in_use", message: expect.stringContaining(id) as unknown },
  });
  expect(await server.request("DELETE", `/telemetry/destinations/${destination}`)).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining(id) as unknown },
  });
  const browser = { proxy: { mode: "direct" }, telemetry: null };
  expect((await server.request("PATCH", path, { body: { browser } })).body).toMatchObject({
    browser: { proxy: { mode: "direct" }, telemetry: null },
    browser_telemetry: null,
  });
  expect((await server.request("DELETE", `/proxies/${proxy}`)).status).toBe(204);
  expect((await server.request("DELETE", `/telemetry/destinations/${destination}`)).status).toBe(204);
});

it("refuses a region that it cannot promise, and telemetry without storage", async () => {
  const createWith = (fields: object) =>
    server.request("POST", "/auth/connections", {
      body: { domain: "example.com", profile_name: crypto.randomUUID(), ...fields },
    });
  const create = (browser: object) => createWith({ browser });
  expect(await create({ region: "default" })).toMatchObject({ status: 201 });
  expect(await create({ region: "moon" })).toMatchObject({ status: 400, body: { field: "body.browser.region" } });
  expect(await create({ telemetry: { enabled: true, storage: { enabled: true } } })).toMatchObject({ status: 201 });
  const unstored = { storage: { enabled: false } };
  const hint = expect.stringContaining("telemetry_retention_days") as unknown;
  for (const telemetry of [unstored, { enabled: true, ...unstored }]) {
    expect(await create({ telemetry })).toMatchObject({
      status: 501,
      body: { code: "not_implemented", field: "body.browser.telemetry.storage.enabled", message: hint },
    });
    expect(await createWith({ browser_telemetry: telemetry })).toMatchObject({
      status: 501,
      body: { field: "body.browser_telemetry.storage.enabled", message: hint },
    });
  }
  expect(await create({ telemetry: { enabled: false, ...unstored } })).toMatchObject({ status: 201 });
  const unnamed = { enabled: true, export: { otlp: { enabled: true } } };
  const field = "body.browser.telemetry.export.otlp.destination";
  expect(await create({ telemetry: unnamed })).toMatchObject({
    status: 400,
    body: { field, details: [{ field, message: expect.stringMatching(`^${field}: `) as unknown }] },
  });
  const unknown = { enabled: true, export: { otlp: { enabled: true, destination: { name: "unknown" } } } };
  expect(await create({ telemetry: unknown })).toMatchObject({
    status: 404,
    body: { message: expect.stringMatching(/^body\.browser\.telemetry\.export\.otlp\.destination: /) as unknown },
  });
});

it("refuses an operator a proxy that reads a stored credential, also by two changes at once", async () => {
  const ca_bundle = readFileSync(new URL("../../../../../tools/certificates/authority.pem", import.meta.url), "utf8");
  const config = { host: "proxy.example", port: 3128, ca_bundle };
  const proxy_id = await made("/proxies", { type: "custom", name: "reader", config });
  await made("/credentials", { name: "stored", domain: "example.com", values: { password: "secret" } });
  const id = await made("/auth/connections", { domain: "example.com", profile_name: "concurrent" });
  const created = await server.request("POST", "/org/api_keys", { body: { name: "operator", role: "operator" } });
  const { key } = created.body as CreatedApiKey;
  const change = (body: object) => server.request("PATCH", `/auth/connections/${id}`, { key, body });
  const changes = await server.database.query.transaction().execute(async (transaction) => {
    await transaction.selectFrom("auth_connections").select("id").where("id", "=", id).forUpdate().execute();
    const started = [change({ browser: { proxy: { id: proxy_id } } }), change({ credential: { name: "stored" } })];
    await eventuallyPasses(async () => {
      expect(await blockedStatements(server.database, '%update "auth_connections"%')).toBe(2);
    });
    return started;
  });
  const statuses = (await Promise.all(changes)).map(({ status }) => status);
  expect(statuses.sort()).toEqual([200, 403]);
  const row = await server.database.query
    .selectFrom("auth_connections")
    .select(["credential_id", "proxy_id"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  expect(Object.values(row).filter((value) => value === null)).toHaveLength(1);
});

it("deletes the remembered steps of a connection when skill_mode becomes disabled", async () => {
  const id = await made("/auth/connections", { domain: "example.com", profile_name: "steps" });
  const { project_id: projectId } = await server.database.query
    .selectFrom("auth_connections")
    .select("project_id")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  const plan = JSON.stringify({ steps: [] });
  await server.database.query.updateTable("auth_connections").set({ plan }).where("id", "=", id).execute();
  const unused = undefined as never;
  const parts = { credentials: unused, providers: unused, destinations: unused, proxies: unused };
  const connections = new Connections({
    ...parts,
    regions: { names: ["default"] },
    database: server.database,
    minCheckSeconds: () => 0,
  });
  const writer = { projectId, mayMoveSecrets: true };
  const planWith = async (skill_mode: "enabled" | "disabled") =>
    (await connections.withWishes(writer, id, { skill_mode })).plan;
  expect(await planWith("enabled")).toEqual({ steps: [] });
  expect(await planWith("disabled")).toBeNull();
});
