import { contract, type Endpoint } from "@shoal/contract";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId } from "@shoal/primitives";
import { notImplemented } from "../http/not-implemented.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";
import { invocationRow } from "../testing/invocation-row.ts";
import { scheduleRow } from "../testing/schedule-row.ts";
import { deploymentRow } from "../testing/deployment-row.ts";
import { sessionRow } from "../testing/session-row.ts";

/** The operations on a single object, with their bodies; those of {@link plainResources} are added below. */
const onObjects: Record<string, { readonly object: string; readonly body?: unknown }> = {
  "invocations.get": { object: "invocation" },
  "invocations.update": { object: "invocation", body: { status: "failed" } },
  "invocations.follow": { object: "invocation" },
  "invocations.listBrowsers": { object: "invocation" },
  "invocations.deleteBrowsers": { object: "invocation" },
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
  "deployments.get": { object: "deployment" },
  "deployments.delete": { object: "deployment" },
  "deployments.follow": { object: "deployment" },
  "deployments.rollback": { object: "deployment" },
  "schedules.pause": { object: "schedule" },
  "schedules.resume": { object: "schedule" },
  "schedules.delete": { object: "schedule" },
  "extensions.get": { object: "extension" },
  "extensions.download": { object: "extension" },
  "extensions.delete": { object: "extension" },
  "apiKeys.get": { object: "key" },
  "apiKeys.update": { object: "key", body: { name: "stolen" } },
  "apiKeys.delete": { object: "key" },
  "apiKeys.rotate": { object: "key", body: {} },
  "browsers.get": { object: "session" },
  "browsers.update": { object: "session", body: { name: "stolen" } },
  "browsers.extend": { object: "session", body: {} },
  "browsers.fork": { object: "session", body: {} },
  "browsers.delete": { object: "session" },
  "browsers.replays.mark": { object: "session", body: { title: "stolen" } },
  "browsers.telemetry.events": { object: "session" },
  "browsers.telemetry.lastPicture": { object: "session" },
  "browsers.evidence": { object: "session" },
  "flows.runs.create": { object: "flows", body: {} },
  "flows.runs.list": { object: "flows" },
  "flows.runs.get": { object: "flows" },
  "flows.runs.picture": { object: "flows" },
  "flows.runs.cancel": { object: "flows" },
  "browsers.snapshot": { object: "session", body: {} },
  "snapshots.get": { object: "snapshot" },
  "snapshots.delete": { object: "snapshot" },
  "networkRecordings.get": { object: "recording" },
  "networkRecordings.delete": { object: "recording" },
  "search.get": { object: "search" },
  "search.contents": { object: "search", body: { limit: 1 } },
  "flows.record": { object: "session", body: { name: "stolen" } },
  "browsers.handoff.request": { object: "session", body: { message: "stolen" } },
  "browsers.handoff.get": { object: "session" },
  "browsers.handoff.release": { object: "session", body: {} },
  "browsers.handoff.cancel": { object: "session" },
  "browsers.liveViewLinks.create": { object: "session", body: {} },
  "browsers.liveViewLinks.list": { object: "session" },
  "browsers.liveViewLinks.delete": { object: "session" },
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
  "invocations.list",
  "apps.list",
  "deployments.list",
  "schedules.list",
  "profiles.list",
  "extensions.list",
  "apiKeys.list",
  "browsers.list",
  "browserPools.list",
  "networkRecordings.list",
  "snapshots.list",
  "projects.list",
  "projects.legacy.list",
];
/** Operations without an object of a project. */
const others = [
  "flows.import",
  "invocations.create",
  "profiles.create",
  "deployments.create",
  "schedules.create",
  "extensions.upload",
  "extensions.downloadFromChromeStore",
  "apiKeys.create",
  "browsers.create",
  "browsers.render",
  "browserPools.create",
  "projects.create",
  "projects.legacy.create",
  "organization.limits.get",
  "organization.limits.update",
  "organization.entitlements.get",
  "auth.context.get",
  // Each project has its own: bot-identities.test.ts, evidence.slow.ts.
  "botIdentity.get",
  "botIdentity.rotate",
  "evidenceKey.get",
  // The providers are the operator's.
  "search.create",
  "search.providers",
  // Entries are found by time; audit-logs.test.ts checks which projects are shown.
  "auditLogs.list",
  "auditLogs.exportChunk",
  "auditLogs.verify",
  // Rows are found by day; usage.slow.ts checks which projects are shown.
  "usage.list",
  "usage.export",
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

const document = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve("@shoal/contract/openapi.json"), "utf8"),
) as {
  readonly paths: Record<
    string,
    Record<string, { requestBody: { content: Record<string, { schema: { $ref: string } }> } }>
  >;
  readonly components: { readonly schemas: Record<string, { readonly examples: readonly object[] }> };
};
function exampleOf({ body, method, path }: Endpoint): object | undefined {
  if (body === undefined) return undefined;
  const reference = document.paths[path]?.[method.toLowerCase()]?.requestBody.content["application/json"]?.schema.$ref;
  return document.components.schemas[reference?.split("/").at(-1) ?? ""]?.examples[0];
}

const special = new Set([
  ...Object.keys(onObjects),
  ...lists,
  ...others,
  ...missing.map(({ operationId }) => operationId),
]);
/** Resources that are created from the example of their body and found by id. A new one needs no line in this file. */
const plainResources = control
  .filter(({ operationId }) => operationId.endsWith(".create") && !special.has(operationId))
  .map((create) => ({ create, resource: create.operationId.slice(0, -".create".length) }));
for (const { create, resource } of plainResources) {
  others.push(create.operationId);
  lists.push(`${resource}.list`);
  for (const endpoint of control)
    if (
      endpoint.operationId.startsWith(`${resource}.`) &&
      endpoint.path.startsWith(`${create.path}/{`) &&
      !missing.includes(endpoint)
    )
      onObjects[endpoint.operationId] = { object: resource, body: exampleOf(endpoint) };
}

let server: TestServer;
let owner: { id: string; key: string };
let stranger: { id: string; key: string };
let ids: Record<string, string>;
let unusableKeys: (string | null)[];

beforeAll(async () => {
  server = await startTestServer();
  owner = await server.addProject("precious project");
  stranger = await server.addProject("stranger");
  const profile = await server.request("POST", "/profiles", { key: owner.key, body: { name: "precious" } });
  const key = await server.request("POST", "/org/api_keys", { key: owner.key, body: { name: "precious" } });
  const extension = createId();
  // Without an archive, because no operation of a stranger may get that far.
  await server.database.query
    .insertInto("extensions")
    .values({
      id: extension,
      project_id: owner.id,
      name: "precious",
      blob: createId(),
      size_bytes: 1,
      checksum: "",
      last_used_at: null,
    })
    .execute();
  const deployment = createId();
  await server.database.query
    .insertInto("deployments")
    .values(deploymentRow({ id: deployment, project_id: owner.id, entrypoint: "precious.ts" }))
    .execute();
  await server.database.query
    .insertInto("app_versions")
    .values({
      id: createId(),
      project_id: owner.id,
      deployment_id: deployment,
      app_name: "precious",
      version: "latest",
      actions: "[]",
      is_current: true,
    })
    .execute();
  // The pool stays empty: this test needs no browsers.
  const pool = await server.request("POST", "/browser_pools", {
    key: owner.key,
    body: { name: "precious", size: 1, fill_rate_per_minute: 0 },
  });
  const invocation = createId();
  await server.database.query
    .insertInto("invocations")
    .values(invocationRow({ id: invocation, project_id: owner.id, app_name: "precious" }))
    .execute();
  const schedule = createId();
  await server.database.query
    .insertInto("schedules")
    .values(scheduleRow({ id: schedule, project_id: owner.id, app_name: "precious" }))
    .execute();
  const recording = createId();
  await server.database.query
    .insertInto("network_recordings")
    .values({
      ...{ id: recording, project_id: owner.id, session_id: "precious", server_id: createId() },
      ...{ blob: createId(), created_at: new Date(), finished_at: new Date() },
    })
    .execute();
  const snapshot = createId();
  await server.database.query
    .insertInto("snapshots")
    .values({
      ...{ id: snapshot, project_id: owner.id, session_id: "precious", engine: "restored", blob: createId() },
      ...{ size_bytes: 1, unpacked_bytes: 0, paused_ms: 0, settings: "{}" },
      ...{ created_at: new Date(), expires_at: new Date(Date.now() + 86_400_000) },
    })
    .execute();
  const search = createId();
  await server.database.query
    .insertInto("searches")
    .values({
      ...{ id: search, project_id: owner.id, answer: "{}" },
      ...{ created_at: new Date(), expires_at: new Date(Date.now() + 86_400_000) },
    })
    .execute();
  ids = {
    recording,
    search,
    snapshot,
    schedule,
    invocation,
    deployment,
    extension,
    pool: (pool.body as { id: string }).id,
    profile: (profile.body as { id: string }).id,
    key: (key.body as { id: string }).id,
    session: createId(),
    project: owner.id,
  };
  for (const { create, resource } of plainResources) {
    const example = { ...exampleOf(create), credential: undefined };
    const made = await server.request("POST", create.path, {
      key: owner.key,
      // A connection and a webhook have no name; the example of a connection refers to a credential.
      body: {
        ...example,
        name: "precious",
        description: "precious",
        ...("profile_name" in example && { profile_name: "precious" }),
      },
    });
    expect(made.status).toBeLessThan(300);
    ids[resource] = (made.body as { id: string }).id;
  }
  // A row is enough, because no operation of a stranger may reach the instance. Its server is another one, so that
  // nothing ends it.
  await server.database.query
    .insertInto("sessions")
    .values(
      sessionRow({
        id: ids.session ?? "",
        project_id: owner.id,
        name: "precious",
      }),
    )
    .execute();
  const gone = async (name: string) =>
    (await server.request("POST", "/org/api_keys", { key: owner.key, body: { name } })).body as {
      id: string;
      key: string;
    };
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
  expect(
    [...Object.keys(onObjects), ...lists, ...others, ...missing.map(({ operationId }) => operationId)].sort(),
  ).toEqual(control.map(({ operationId }) => operationId).sort());
});

describe.each(
  control
    .filter(({ operationId }) => operationId in onObjects)
    .map((endpoint) => [endpoint.operationId, endpoint] as const),
)("%s", (operationId, endpoint) => {
  it("answers 404 for another project's object, by id and by name", async () => {
    const entry = onObjects[operationId];
    if (entry === undefined) throw new Error("unreachable");
    const id = ids[entry.object] ?? "";
    for (const name of endpoint.path.includes("_or_name")
      ? [id, "precious"]
      : entry.object === "project"
        ? [owner.id, "precious%20project"]
        : [id]) {
      const path = endpoint.path.replace(/\{\w+\}/, name);
      const request = entry.body === undefined ? {} : { body: entry.body };
      expect(await server.request(endpoint.method, path, { key: stranger.key, ...request })).toMatchObject({
        status: 404,
        body: { code: "not_found" },
      });
      expect(await server.request(endpoint.method, path, { key: null, ...request })).toMatchObject({
        status: endpoint.auth === "none" ? 404 : 401,
      });
    }
  });
});

it("does not replay another project's recording", async () => {
  const body = { replay: { recording: ids.recording, on_missing: "pass" } };
  expect(await server.request("POST", "/browsers", { key: stranger.key, body })).toMatchObject({
    status: 404,
    body: { code: "not_found", field: "body.replay.recording" },
  });
});

it.each(lists)("%s does not show another project's objects", async (operationId) => {
  const path = endpoints.find((endpoint) => endpoint.operationId === operationId)?.path ?? "";
  for (const query of ["", "?query=precious"])
    expect(JSON.stringify((await server.request("GET", path + query, { key: stranger.key })).body)).not.toContain(
      "precious",
    );
  expect(JSON.stringify((await server.request("GET", path, { key: owner.key })).body)).toContain("precious");
});

it.each(instance.map((endpoint) => [endpoint.operationId, endpoint] as const))(
  "%s answers 404 for another project's session, 401 without a key",
  async (_id, endpoint) => {
    const path = endpoint.path.replace("{id}", ids.session ?? "").replaceAll(/\{\w+\}/g, "x");
    expect(await server.request(endpoint.method, path, { key: stranger.key })).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
    expect(await server.request(endpoint.method, path, { key: null })).toMatchObject({ status: 401 });
  },
);

it.each(endpoints.filter(({ auth }) => auth !== "none").map((endpoint) => [endpoint.operationId, endpoint] as const))(
  "%s answers 401 without a key, and to a malformed, unknown, expired or deleted one",
  async (_id, endpoint) => {
    const path = endpoint.path.replaceAll(/\{\w+\}/g, "x");
    for (const key of unusableKeys)
      expect(await server.request(endpoint.method, path, { key })).toMatchObject({
        status: 401,
        body: { code: "unauthorized" },
      });
  },
);

it.each(missing.map((endpoint) => [endpoint.operationId, endpoint] as const))(
  "%s answers 501 for any request",
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
