import { contract, type Endpoint } from "@shoal/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId } from "./ids.ts";
import { notImplemented } from "./not-implemented.ts";
import { startTestServer, type TestServer } from "./testing/test-server.ts";
import { sessionRow } from "./testing/session-row.ts";

/** Every operation on a single object; its body, where it takes one. Whoever gives an operation its handler adds a line. */
const onObjects: Record<
  string,
  { readonly object: "pool" | "profile" | "key" | "session" | "project" | "proxy" | "extension" | "destination"; readonly body?: unknown }
> = {
  "profiles.get": { object: "profile" },
  "profiles.update": { object: "profile", body: { name: "stolen" } },
  "profiles.delete": { object: "profile" },
  "profiles.download": { object: "profile" },
  "profiles.versions.list": { object: "profile" },
  "profiles.rollback": { object: "profile", body: { version: 1 } },
  "profiles.clone": { object: "profile", body: {} },
  "profiles.storageState.get": { object: "profile" },
  "profiles.storageState.import": { object: "profile", body: { cookies: [], origins: [] } },
  "browsers.saveProfile": { object: "session" },
  "extensions.get": { object: "extension" },
  "extensions.download": { object: "extension" },
  "extensions.delete": { object: "extension" },
  "telemetry.destinations.get": { object: "destination" },
  "telemetry.destinations.update": { object: "destination", body: { name: "stolen" } },
  "telemetry.destinations.delete": { object: "destination" },
  "proxies.get": { object: "proxy" },
  "proxies.update": { object: "proxy", body: { name: "stolen" } },
  "proxies.delete": { object: "proxy" },
  "proxies.check": { object: "proxy", body: {} },
  "apiKeys.get": { object: "key" },
  "apiKeys.update": { object: "key", body: { name: "stolen" } },
  "apiKeys.delete": { object: "key" },
  "apiKeys.rotate": { object: "key", body: {} },
  "browsers.get": { object: "session" },
  "browsers.update": { object: "session", body: { name: "stolen" } },
  "browsers.extend": { object: "session", body: {} },
  "browsers.delete": { object: "session" },
  "browsers.replays.mark": { object: "session", body: { title: "stolen" } },
  "browsers.telemetry.events": { object: "session" },
  "browserPools.get": { object: "pool" },
  "browserPools.update": { object: "pool", body: { size: 2 } },
  "browserPools.delete": { object: "pool", body: { force: true } },
  "browserPools.acquire": { object: "pool", body: { acquire_timeout_seconds: 0 } },
  "browserPools.release": { object: "pool", body: { session_id: "x" } },
  "browserPools.flush": { object: "pool" },
  ...Object.fromEntries(
    ["projects", "projects.legacy"].flatMap((area) => [
      [`${area}.get`, { object: "project" }],
      [`${area}.update`, { object: "project", body: { name: "stolen" } }],
      [`${area}.delete`, { object: "project" }],
      [`${area}.limits.get`, { object: "project" }],
      [`${area}.limits.update`, { object: "project", body: { max_concurrent_sessions: 1 } }],
    ]),
  ),
};
/** Every list; it must not show the other project's object. */
const lists = [
  "profiles.list",
  "extensions.list",
  "proxies.list",
  "apiKeys.list",
  "browsers.list",
  "browserPools.list",
  "telemetry.destinations.list",
  "projects.list",
  "projects.legacy.list",
];
/** Operations without an object of a project. */
const others = [
  "profiles.create",
  "extensions.upload",
  "extensions.downloadFromChromeStore",
  "proxies.create",
  "apiKeys.create",
  "browsers.create",
  "browserPools.create",
  "telemetry.destinations.create",
  "projects.create",
  "projects.legacy.create",
  "organization.limits.get",
  "organization.limits.update",
  "organization.entitlements.get",
  "auth.context.get",
  // Entries are looked for by time; audit-logs.test.ts tells whose are shown.
  "auditLogs.list",
  "auditLogs.exportChunk",
  "auditLogs.verify",
  // A project's key is refused: audit-export/destinations.test.ts.
  ...["create", "list", "get", "update", "delete", "test"].map((verb) => `auditLogs.exportDestinations.${verb}`),
  "service.health",
  "service.ready",
  "service.openapi",
];

const endpoints: readonly Endpoint[] = Object.values(contract);
const control = endpoints.filter(({ plane }) => plane === "control");
const missing = notImplemented.map((name): Endpoint => contract[name]);
const instance = endpoints.filter(({ plane }) => plane === "instance");

let server: TestServer;
let owner: { id: string; key: string };
let stranger: { id: string; key: string };
let ids: Record<"pool" | "profile" | "key" | "session" | "project" | "proxy" | "extension" | "destination", string>;
let unusableKeys: (string | null)[];

beforeAll(async () => {
  server = await startTestServer();
  owner = await server.addProject("precious project");
  stranger = await server.addProject("stranger");
  const profile = await server.request("POST", "/profiles", { key: owner.key, body: { name: "precious" } });
  const key = await server.request("POST", "/org/api_keys", { key: owner.key, body: { name: "precious" } });
  const proxy = await server.request("POST", "/proxies", {
    key: owner.key,
    body: { type: "custom", name: "precious", config: { host: "proxy.example", port: 3128 } },
  });
  const destination = await server.request("POST", "/telemetry/destinations", {
    key: owner.key,
    body: { name: "precious", endpoint: "https://otlp.example.com" },
  });
  const extension = createId();
  // Without its archive: no operation of a stranger may get that far.
  await server.database.query
    .insertInto("extensions")
    .values({ id: extension, project_id: owner.id, name: "precious", blob: createId(), size_bytes: 1, checksum: "", last_used_at: null })
    .execute();
  // It fills with nothing: its browsers are of no account here.
  const pool = await server.request("POST", "/browser_pools", { key: owner.key, body: { name: "precious", size: 1, fill_rate_per_minute: 0 } });
  ids = {
    destination: (destination.body as { id: string }).id,
    extension,
    pool: (pool.body as { id: string }).id,
    proxy: (proxy.body as { id: string }).id,
    profile: (profile.body as { id: string }).id,
    key: (key.body as { id: string }).id,
    session: createId(),
    project: owner.id,
  };
  // A row is enough here: no operation of a stranger may get as far as the instance. Its server is another one, so that nothing ends it.
  await server.database.query
    .insertInto("sessions")
    .values(
      sessionRow({
        id: ids.session,
        project_id: owner.id,
        name: "precious",
      }),
    )
    .execute();
  const gone = async (name: string) =>
    (await server.request("POST", "/org/api_keys", { key: owner.key, body: { name } })).body as { id: string; key: string };
  const [expired, deleted] = [await gone("expired"), await gone("deleted")];
  await server.database.query
    .updateTable("api_keys")
    .set({ expires_at: new Date(Date.now() - 1) })
    .where("id", "=", expired.id)
    .execute();
  await server.request("DELETE", `/org/api_keys/${deleted.id}`, { key: owner.key });
  unusableKeys = [null, "malformed", `sk_shoal_${"x".repeat(43)}`, expired.key, deleted.key];
});
afterAll(() => server.close());

it("knows every operation, and lists those without a handler in order", () => {
  expect(notImplemented).toEqual([...new Set(notImplemented)].sort());
  expect([...Object.keys(onObjects), ...lists, ...others, ...missing.map(({ operationId }) => operationId)].sort()).toEqual(
    control.map(({ operationId }) => operationId).sort(),
  );
});

describe.each(control.filter(({ operationId }) => operationId in onObjects).map((endpoint) => [endpoint.operationId, endpoint] as const))(
  "%s",
  (operationId, endpoint) => {
    it("answers 404 for another project's object, by id and by name", async () => {
      const entry = onObjects[operationId];
      if (entry === undefined) throw new Error("unreachable");
      for (const name of endpoint.path.includes("_or_name")
        ? [ids[entry.object], "precious"]
        : entry.object === "project"
          ? [owner.id, "precious%20project"]
          : [ids[entry.object]]) {
        const path = endpoint.path.replace(/\{\w+\}/, name);
        const request = entry.body === undefined ? {} : { body: entry.body };
        expect(await server.request(endpoint.method, path, { key: stranger.key, ...request })).toMatchObject({
          status: 404,
          body: { code: "not_found" },
        });
        expect(await server.request(endpoint.method, path, { key: null, ...request })).toMatchObject({ status: 401 });
      }
    });
  },
);

it.each(lists)("%s does not show another project's objects", async (operationId) => {
  const path = endpoints.find((endpoint) => endpoint.operationId === operationId)?.path ?? "";
  for (const query of ["", "?query=precious"])
    expect(JSON.stringify((await server.request("GET", path + query, { key: stranger.key })).body)).not.toContain("precious");
  expect(JSON.stringify((await server.request("GET", path, { key: owner.key })).body)).toContain("precious");
});

it.each(instance.map((endpoint) => [endpoint.operationId, endpoint] as const))(
  "%s answers 404 for another project's session, 401 without a key",
  async (_id, endpoint) => {
    const path = endpoint.path.replace("{id}", ids.session).replaceAll(/\{\w+\}/g, "x");
    expect(await server.request(endpoint.method, path, { key: stranger.key })).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(await server.request(endpoint.method, path, { key: null })).toMatchObject({ status: 401 });
  },
);

it.each(endpoints.filter(({ auth }) => auth !== "none").map((endpoint) => [endpoint.operationId, endpoint] as const))(
  "%s answers 401 without a key, and to a malformed, unknown, expired or deleted one",
  async (_id, endpoint) => {
    const path = endpoint.path.replaceAll(/\{\w+\}/g, "x");
    for (const key of unusableKeys)
      expect(await server.request(endpoint.method, path, { key })).toMatchObject({ status: 401, body: { code: "unauthorized" } });
  },
);

it.each(missing.map((endpoint) => [endpoint.operationId, endpoint] as const))(
  "%s answers 501, whatever else the request says",
  async (operationId, endpoint) => {
    const path = endpoint.path.replaceAll(/\{\w+\}/g, "x");
    const answer = await server.request(endpoint.method, `${path}?nonsense=1`, {
      key: endpoint.auth === "none" ? null : owner.key,
      ...(endpoint.method !== "GET" && { body: "{" }),
    });
    expect(answer).toMatchObject({ status: 501, body: { code: "not_implemented" } });
    expect((answer.body as { message: string }).message).toContain(operationId);
  },
);
