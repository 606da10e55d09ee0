import { contract, type Endpoint } from "@shoal/contract";
import { examineHost } from "@shoal/placement";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId } from "@shoal/primitives";
import { notImplemented } from "../http/not-implemented.ts";
import { deploymentRow } from "../testing/deployment-row.ts";
import { referenceFields } from "../testing/reference-fields.ts";
import { sessionRow } from "../testing/session-row.ts";
import { tableContents } from "../testing/table-contents.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";

type Kind =
  | "connection"
  | "vault"
  | "credential"
  | "profile"
  | "extension"
  | "proxy"
  | "destination"
  | "session"
  | "snapshot"
  | "project"
  | "invocation"
  | "app";

/**
 * Fields of bodies that refer to an object of a project. Add every new one: each operation that accepts it is tried.
 */
const names: Readonly<Record<string, Kind>> = {
  "body.project_id": "project",
  "body.invocation_id": "invocation",
  "body.app_name": "app",
  "body.session_id": "session",
  "body.snapshot.id": "snapshot",
  "body.profile.id": "profile",
  "body.profile.name": "profile",
  "body.browser.profile.id": "profile",
  "body.browser.profile.name": "profile",
  "body.extensions[].id": "extension",
  "body.extensions[].name": "extension",
  "body.credential.name": "credential",
  "body.spec.connection_id": "connection",
  "body.vaults[].id": "vault",
  "body.vaults[].name": "vault",
  "body.proxy_id": "proxy",
  "body.proxy.id": "proxy",
  "body.proxy.name": "proxy",
  "body.network.proxy_routes[].proxy.id": "proxy",
  "body.network.proxy_routes[].proxy.name": "proxy",
  "body.browser.proxy.id": "proxy",
  "body.browser.proxy.name": "proxy",
  "body.browser_telemetry.export.otlp.destination.id": "destination",
  "body.browser_telemetry.export.otlp.destination.name": "destination",
  "body.browser.telemetry.export.otlp.destination.id": "destination",
  "body.browser.telemetry.export.otlp.destination.name": "destination",
  "body.telemetry.export.otlp.destination.id": "destination",
  "body.telemetry.export.otlp.destination.name": "destination",
};
/** Fields that look like references but are not. */
const others: readonly string[] = [
  "invocations.create body.action_name",
  "schedules.create body.action_name",
  // Checked as in flows.runs.create.
  ...["profile.id", "profile.name", "proxy.id", "proxy.name", "conditions.permissions[].name"].map(
    (field) => `schedules.create body.flow_run.browser.${field}`,
  ),
  "browsers.act body.to.name",
  "browsers.render body.cookies[].name",
  // Elements of pages, and names inside a flow.
  ...["flows.create", "flows.update"].flatMap((operation) =>
    ["parameters[].name", "steps[].target.name", "steps[].target.within.name", "steps[].expect[].element.name"].map(
      (field) => `${operation} body.${field}`,
    ),
  ),
  "browsers.update body.network.mutation_id",
  ...["browsers.create", "browsers.update", "browserPools.create", "browserPools.update"].map(
    (operation) => `${operation} body.network.headers[].name`,
  ),
  ...[
    "browsers.create",
    "browsers.update",
    "browserPools.create",
    "browserPools.update",
    "profiles.create",
    "profiles.update",
  ].map((operation) => `${operation} body.conditions.permissions[].name`),
  "flows.runs.create body.browser.conditions.permissions[].name",
  "browserPools.update body.expected_network.headers[].name",
  // Compared with the pool's own settings: every other proxy is a 409.
  "browserPools.update body.expected_network.proxy_routes[].proxy.id",
  "browserPools.update body.expected_network.proxy_routes[].proxy.name",
  "browsers.loadExtensions body.extensions[].name",
  "profiles.storageState.import body.cookies[].name",
  "profiles.storageState.import body.origins[].localStorage[].name",
  // Another project's profile of this name stays its own.
  "auth.connections.create body.profile_name",
  "auth.connections.submit body.interaction_id",
  "auth.connections.submit body.mfa_option_id",
  "auth.connections.submit body.selected_choice_id",
  "auth.connections.submit body.sign_in_option_id",
  "vaults.items.put body.spec.fields[].name",
  // Ids of running sessions of the project are tried in vaults.slow.ts.
  "vaults.items.operate body.browser_id",
  "vaults.items.update body.spec.add_fields[].name",
  // Compared with the item of the path.
  "vaults.items.update body.expected_item_id",
  "auditLogs.exportDestinations.create body.kms_key_id",
  "auditLogs.exportDestinations.update body.kms_key_id",
];
/**
 * For its own objects, without the reference; `{own}` is the stranger's object. A refused request must not change
 * anything.
 */
const requests: Readonly<
  Record<
    string,
    {
      readonly own?: "connection" | "flow" | "session" | "pool" | "vault";
      readonly body: Readonly<Record<string, unknown>>;
    }
  >
> = {
  "apiKeys.create": { body: { name: "stolen" } },
  "auth.connections.create": { body: { domain: "stolen.example", profile_name: "stolen" } },
  "auth.connections.login": { own: "connection", body: { record_session: false } },
  "auth.connections.update": { own: "connection", body: { auto_reauth: false, login_url: "https://stolen.example" } },
  "browsers.create": { body: { name: "stolen", tags: { stolen: "yes" }, telemetry: { enabled: true } } },
  "browsers.render": { body: { html: "<p>stolen", timeout_ms: 2000 } },
  "browsers.update": {
    own: "session",
    body: {
      name: "stolen",
      tags: { stolen: "yes" },
      viewport: { width: 800, height: 600 },
      telemetry: { enabled: true },
    },
  },
  "flows.runs.create": { own: "flow", body: {} },
  "invocations.create": { body: { action_name: "run", payload: "{}" } },
  "schedules.create": { body: { action_name: "run", cron: "0 9 * * *" } },
  "browserPools.create": { body: { name: "stolen", size: 1, fill_rate_per_minute: 0 } },
  "browserPools.update": {
    own: "pool",
    body: { name: "stolen", size: 2, start_url: "about:blank", telemetry: { enabled: true } },
  },
  "browserPools.acquire": { own: "pool", body: { name: "stolen", acquire_timeout_seconds: 0 } },
  "browserPools.release": { own: "pool", body: {} },
  "vaults.items.put": { own: "vault", body: { type: "credential", spec: { provider: "managed_auth" } } },
};
/** Instead of the request of the operation: most of its fields do not go with the reference. */
const ownRequests: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "browsers.create body.snapshot.id": { name: "stolen", tags: { stolen: "yes" } },
};
/** Other fields of the object that has the reference. */
const siblings: Readonly<Record<string, object>> = { "proxy_routes[]": { hosts: ["shop.example"] } };
/** Replaces 404 `not_found`. */
const refusals: Readonly<Partial<Record<Kind, { readonly status: number; readonly code: string }>>> = {
  // The key is bound to its own project.
  project: { status: 403, code: "forbidden" },
};

const missing = new Set<string>(notImplemented);
const table = Object.entries<Endpoint>(contract)
  .filter(([name]) => !missing.has(name))
  .flatMap(([, endpoint]) =>
    referenceFields(endpoint).map((field) => ({ endpoint, field, row: `${endpoint.operationId} ${field}` })),
  )
  .filter(({ row }) => !others.includes(row));

const host = process.env.SHOAL_REQUIRE_ALL === "1" ? undefined : await examineHost();
const lacksFull =
  host?.findings.some(({ name, advice }) => name === "windows" && advice?.includes(" chromium") === true) === true;

let server: TestServer;
let stranger: { id: string; key: string };
/** Objects of the other project. */
let ids: Record<Kind, string>;
let own: Record<"connection" | "flow" | "session" | "pool" | "vault", string>;

beforeAll(async () => {
  server = await startTestServer();
  const owner = await server.addProject("precious");
  stranger = await server.addProject("stranger");
  const made = async (key: string, path: string, body: unknown): Promise<string> => {
    const answer = await server.request("POST", path, { key, body });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    const { id, session_id } = answer.body as { id?: string; session_id?: string };
    return id ?? session_id ?? "";
  };
  ids = {
    project: owner.id,
    invocation: createId(),
    app: createId(),
    extension: createId(),
    session: createId(),
    snapshot: createId(),
    profile: await made(owner.key, "/profiles", { name: "precious" }),
    proxy: await made(owner.key, "/proxies", {
      type: "custom",
      name: "precious",
      config: { host: "proxy.example", port: 3128 },
    }),
    vault: await made(owner.key, "/vaults", { name: "precious" }),
    connection: await made(owner.key, "/auth/connections", { domain: "shop.example", profile_name: "connected" }),
    credential: await made(owner.key, "/credentials", { name: "precious", domain: "example.com", values: {} }),
    destination: await made(owner.key, "/telemetry/destinations", {
      name: "precious",
      endpoint: "https://otlp.example.com",
    }),
  };
  const pool = await made(owner.key, "/browser_pools", { name: "precious", size: 1, fill_rate_per_minute: 0 });
  // Rows without an archive or an instance, because no request of a stranger may get that far.
  await server.database.query
    .insertInto("extensions")
    .values({
      id: ids.extension,
      project_id: owner.id,
      name: "precious",
      blob: createId(),
      size_bytes: 1,
      checksum: "",
      last_used_at: null,
    })
    .execute();
  await server.database.query
    .insertInto("snapshots")
    .values({
      ...{ id: ids.snapshot, project_id: owner.id, session_id: ids.session, engine: "restored", blob: createId() },
      ...{ size_bytes: 1, unpacked_bytes: 0, paused_ms: 0, settings: "{}" },
      ...{ created_at: new Date(), expires_at: new Date(Date.now() + 86_400_000) },
    })
    .execute();
  const deployment = createId();
  await server.database.query
    .insertInto("deployments")
    .values(deploymentRow({ id: deployment, project_id: owner.id }))
    .execute();
  await server.database.query
    .insertInto("app_versions")
    .values({
      id: ids.app,
      project_id: owner.id,
      deployment_id: deployment,
      app_name: "precious",
      version: "latest",
      actions: JSON.stringify([{ name: "run" }]),
      is_current: true,
    })
    .execute();
  await server.database.query
    .insertInto("sessions")
    .values(
      sessionRow({
        id: ids.session,
        project_id: owner.id,
        name: "precious",
        pool_id: pool,
        pool_state: "leased",
      }),
    )
    .execute();
  own = {
    connection: await made(stranger.key, "/auth/connections", { domain: "own.example", profile_name: "own" }),
    flow: await made(stranger.key, "/flows", {
      name: "own",
      start_url: "about:blank",
      steps: [{ action: "expect", expect: [{ url: "about:blank" }] }],
    }),
    session: await made(stranger.key, "/browsers", { timeout_seconds: 3600 }),
    vault: await made(stranger.key, "/vaults", { name: "own" }),
    pool: await made(stranger.key, "/browser_pools", { name: "own", size: 1, fill_rate_per_minute: 0 }),
  };
});
afterAll(() => server.close());

/** Sets the value at a path: `body.extensions[].id`. */
function withReference(body: Readonly<Record<string, unknown>>, field: string, value: string): unknown {
  const copy = structuredClone(body);
  const steps = field.split(".").slice(1);
  let place: Record<string, unknown> = copy;
  for (const [index, step] of steps.entries()) {
    const isLast = index === steps.length - 1;
    const name = step.replace("[]", "");
    const next = (isLast ? value : { ...siblings[step], ...(place[name] ?? {}) }) as Record<string, unknown>;
    place[name] = step.endsWith("[]") ? [next] : next;
    place = next;
  }
  return copy;
}

it("knows every body field that refers to an object, and has a request for each operation that accepts it", () => {
  expect(table.filter(({ field }) => names[field] === undefined).map(({ row }) => row)).toEqual([]);
  expect(table.filter(({ endpoint }) => requests[endpoint.operationId] === undefined).map(({ row }) => row)).toEqual(
    [],
  );
  expect(Object.keys(names).filter((field) => !table.some((each) => each.field === field))).toEqual([]);
  expect(
    Object.keys(requests).filter((operationId) => !table.some(({ endpoint }) => endpoint.operationId === operationId)),
  ).toEqual([]);
  expect(table.length).toBeGreaterThan(30);
});

describe.each(table)("$row", ({ endpoint, field, row }) => {
  const kind = names[field] ?? "profile";
  const isImpossible = kind === "extension" && lacksFull;
  it.skipIf(isImpossible)(
    `rejects another project's ${kind}, and creates and changes nothing${isImpossible ? " (skipped, no full Chromium: apt install chromium)" : ""}`,
    async () => {
      const { own: target, body } = requests[endpoint.operationId] ?? { body: {} };
      const path = endpoint.path
        .replace(/\{\w+\}/, target === undefined ? "" : own[target])
        .replaceAll(/\{\w+\}/g, "stolen");
      const session = async () => {
        const {
          expires_at: _moves,
          page_url: _followsThePage,
          ...seen
        } = (await server.request("GET", `/browsers/${own.session}`, { key: stranger.key })).body as {
          expires_at?: string;
          page_url?: string;
        };
        return { ...seen, usage: undefined };
      };
      const before = [await tableContents(server.database), await session()];
      // A field for an id rejects a name, and the reverse. No answer reveals whether the object exists.
      for (const [wanted, unsaid] of [
        [ids[kind], "precious"],
        ["precious", ids[kind]],
      ] as const) {
        const answer = await server.request(endpoint.method, path, {
          key: stranger.key,
          body: withReference(ownRequests[row] ?? body, field, wanted),
        });
        const refused = refusals[kind] ?? { status: 404, code: "not_found" };
        expect(answer, `${wanted}: ${JSON.stringify(answer.body)}`).toMatchObject({
          status: refused.status,
          body: { code: refused.code },
        });
        expect(JSON.stringify(answer.body)).not.toContain(unsaid);
      }
      expect([await tableContents(server.database), await session()]).toEqual(before);
    },
  );
});
