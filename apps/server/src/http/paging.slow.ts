import { contract, type Endpoint } from "@shoal/contract";
import fc from "fast-check";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId } from "@shoal/primitives";
import { notImplemented } from "./not-implemented.ts";
import { deploymentRow } from "../testing/deployment-row.ts";
import { invocationRow } from "../testing/invocation-row.ts";
import { connectionRow } from "../testing/connection-row.ts";
import { scheduleRow } from "../testing/schedule-row.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";
import { sessionRow } from "../testing/session-row.ts";

/** A list, and how the test adds and removes objects directly in the database: many at once, with chosen times. */
interface ListUnderTest {
  readonly path: string;
  /** Organisation-wide: read with a separate key. */
  readonly isOrganization?: true;
  /** Ids of the items, unless the test chooses them. */
  readonly newId?: () => string;
  insert(id: string, createdAt: string): Promise<unknown>;
  remove(id: string): Promise<unknown>;
}

let server: TestServer;
let owner: { id: string; key: string };
beforeAll(async () => {
  server = await startTestServer();
  owner = await server.addProject("pages");
  await query()
    .insertInto("profiles")
    .values({ id: profileId, project_id: owner.id, name: "versioned", created_at: new Date().toISOString() })
    .execute();
  // Deleted, so that it is in no list.
  await query()
    .insertInto("deployments")
    .values(deploymentRow({ id: deploymentOfApps, project_id: owner.id, deleted_at: new Date().toISOString() }))
    .execute();
  await insertConnection({ id: connectionId, created_at: new Date(0).toISOString() });
  await insertWebhook({ id: webhookId, created_at: new Date(0).toISOString() });
  ({ id: defaultProjectId } = await query()
    .selectFrom("projects")
    .select("id")
    .where("is_default", "=", true)
    .executeTakeFirstOrThrow());
  // Not in the owner's project, whose sessions are counted.
  await query()
    .insertInto("sessions")
    .values(sessionRow({ id: viewedSessionId, project_id: defaultProjectId, created_at: new Date(0).toISOString() }))
    .execute();
  // Nor in the list of the owner's flows.
  await query()
    .insertInto("flows")
    .values({ id: flowId, project_id: defaultProjectId, name: "paged", start_url: "https://example.com/" })
    .execute();
  await query()
    .insertInto("flow_versions")
    .values({ flow_id: flowId, version: 1, content: JSON.stringify(flowContent) })
    .execute();
});
afterAll(() => server.close());

const profileId = createId();
const viewedSessionId = createId();
const flowId = createId();
const flowContent = { start_url: "https://example.com/", parameters: [], steps: [{ action: "reload" }] };
let defaultProjectId = "";
const deploymentOfApps = createId();
let latestVersion = 0;
const query = () => server.database.query;
const base = (id: string, created_at: string) => ({ id, project_id: owner.id, name: id, created_at });
const removeFrom =
  (
    table:
      | "app_versions"
      | "deployments"
      | "schedules"
      | "webhooks"
      | "webhook_deliveries"
      | "invocations"
      | "profiles"
      | "proxies"
      | "extensions"
      | "telemetry_destinations"
      | "auth_connections"
      | "auth_flows"
      | "credentials"
      | "credential_providers"
      | "browser_pools"
      | "sessions"
      | "live_view_links"
      | "projects"
      | "api_keys"
      | "audit_export_destinations"
      | "flows"
      | "flow_runs"
      | "network_recordings"
      | "snapshots"
      | "vaults",
  ) =>
  (id: string) =>
    query().deleteFrom(table).where("id", "=", id).execute();

const webhookId = createId();
const insertWebhook = (row: { readonly id: string; readonly created_at: string }) =>
  query()
    .insertInto("webhooks")
    .values({
      ...row,
      project_id: owner.id,
      url: "https://example.com/",
      host: "example.com",
      event_types: [],
      description: null,
      secret: Buffer.alloc(1),
    })
    .execute();
const connectionId = createId();
const insertConnection = (row: { readonly id: string; readonly created_at: string }) =>
  query()
    .insertInto("auth_connections")
    .values(connectionRow({ project_id: owner.id, profile_id: profileId, ...row }))
    .execute();

const lists: Record<string, ListUnderTest> = {
  "profiles.list": {
    path: "/profiles",
    insert: (id, at) => query().insertInto("profiles").values(base(id, at)).execute(),
    remove: removeFrom("profiles"),
  },
  "extensions.list": {
    path: "/extensions",
    insert: (id, at) =>
      query()
        .insertInto("extensions")
        .values({ ...base(id, at), blob: id, size_bytes: 1, checksum: "" })
        .execute(),
    remove: removeFrom("extensions"),
  },
  "proxies.list": {
    path: "/proxies",
    insert: (id, at) =>
      query()
        .insertInto("proxies")
        .values({ ...base(id, at), type: "datacenter", protocol: "https", bypass_hosts: "[]", config: "{}" })
        .execute(),
    remove: removeFrom("proxies"),
  },
  "telemetry.destinations.list": {
    path: "/telemetry/destinations",
    insert: (id, at) =>
      query()
        .insertInto("telemetry_destinations")
        .values({
          ...base(id, at),
          endpoint: "https://otlp.example.com",
          description: null,
          header_names: "[]",
          headers: null,
        })
        .execute(),
    remove: removeFrom("telemetry_destinations"),
  },
  "credentials.list": {
    path: "/credentials",
    insert: (id, at) =>
      query()
        .insertInto("credentials")
        .values({ ...base(id, at), domain: "example.com", sso_provider: null, totp: null })
        .execute(),
    remove: removeFrom("credentials"),
  },
  "auth.connections.list": {
    path: "/auth/connections",
    insert: (id, created_at) => insertConnection({ id, created_at }),
    remove: removeFrom("auth_connections"),
  },
  "auth.connections.timeline": {
    path: `/auth/connections/${connectionId}/timeline`,
    insert: (id, created_at) =>
      query()
        .insertInto("auth_flows")
        .values({ id, connection_id: connectionId, type: "health_check", status: "NEEDS_AUTH", step: null, created_at })
        .execute(),
    remove: removeFrom("auth_flows"),
  },
  "credentialProviders.list": {
    path: "/org/credential_providers",
    insert: (id, at) =>
      query()
        .insertInto("credential_providers")
        .values({ ...base(id, at), provider_type: "onepassword", token: Buffer.from("sealed") })
        .execute(),
    remove: removeFrom("credential_providers"),
  },
  "browsers.list": {
    path: "/browsers?status=all",
    insert: (id, at) =>
      query()
        .insertInto("sessions")
        .values(
          sessionRow({
            ...base(id, at),
            ended_at: at,
            ended_reason: "deleted",
          }),
        )
        .execute(),
    remove: removeFrom("sessions"),
  },
  "browsers.liveViewLinks.list": {
    path: `/browsers/${viewedSessionId}/live_view_links`,
    isOrganization: true,
    insert: (id, created_at) =>
      query()
        .insertInto("live_view_links")
        .values({
          id,
          project_id: defaultProjectId,
          session_id: viewedSessionId,
          key_id: createId(),
          scope: "view",
          label: null,
          created_at,
          expires_at: new Date(Date.now() + 3_600_000).toISOString(),
        })
        .execute(),
    remove: removeFrom("live_view_links"),
  },
  "apiKeys.list": {
    path: "/org/api_keys",
    insert: (id, at) =>
      query()
        .insertInto("api_keys")
        .values({
          ...base(id, at),
          key_hash: Buffer.from(id),
          masked_key: "sk_…",
          created_by_id: "test",
          created_by_email: "test@localhost",
        })
        .execute(),
    remove: removeFrom("api_keys"),
  },
  "apps.list": {
    path: "/apps",
    insert: (id, at) =>
      query()
        .insertInto("app_versions")
        .values({
          id,
          project_id: owner.id,
          deployment_id: deploymentOfApps,
          app_name: id,
          version: "latest",
          actions: "[]",
          is_current: true,
          created_at: at,
        })
        .execute(),
    remove: removeFrom("app_versions"),
  },
  "webhooks.list": {
    path: "/webhooks",
    insert: (id, created_at) => insertWebhook({ id, created_at }),
    remove: removeFrom("webhooks"),
  },
  "webhooks.deliveries.list": {
    path: `/webhooks/${webhookId}/deliveries`,
    insert: (id, created_at) =>
      query()
        .insertInto("webhook_deliveries")
        .values({
          id,
          webhook_id: webhookId,
          event_id: id,
          event_type: "browser.ended",
          payload: "{}",
          status: "failed",
          next_attempt_at: null,
          created_at,
        })
        .execute(),
    remove: removeFrom("webhook_deliveries"),
  },
  "schedules.list": {
    path: "/schedules",
    insert: (id, at) =>
      query()
        .insertInto("schedules")
        .values(scheduleRow({ id, project_id: owner.id, created_at: at }))
        .execute(),
    remove: removeFrom("schedules"),
  },
  "deployments.list": {
    path: "/deployments",
    insert: (id, created_at) =>
      query()
        .insertInto("deployments")
        .values(deploymentRow({ id, project_id: owner.id, created_at }))
        .execute(),
    remove: removeFrom("deployments"),
  },
  "invocations.list": {
    path: "/invocations",
    insert: (id, at) =>
      query()
        .insertInto("invocations")
        .values(invocationRow({ id, project_id: owner.id, status: "succeeded", started_at: at, finished_at: at }))
        .execute(),
    remove: removeFrom("invocations"),
  },
  // In a region without a server, so that the pool stays empty.
  "browserPools.list": {
    path: "/browser_pools",
    insert: (id, at) =>
      query()
        .insertInto("browser_pools")
        .values({
          ...base(id, at),
          size: 1,
          region: "elsewhere",
          config: JSON.stringify({ fill_rate_per_minute: 0, timeout_seconds: 600 }),
        })
        .execute(),
    remove: removeFrom("browser_pools"),
  },
  "profiles.versions.list": {
    path: "/profiles/versioned/versions",
    // Versions only increase.
    newId: () => String((latestVersion += 1)),
    insert: (id, at) =>
      query()
        .insertInto("profile_versions")
        .values({
          profile_id: profileId,
          version: Number(id),
          blob: createId(),
          size_bytes: 1,
          checksum: "",
          source: "import",
          session_id: null,
          created_at: at,
        })
        .execute(),
    remove: (id) =>
      query()
        .deleteFrom("profile_versions")
        .where("profile_id", "=", profileId)
        .where("version", "=", Number(id))
        .execute(),
  },
  ...Object.fromEntries(
    [
      ["projects.list", "/org/projects"],
      ["projects.legacy.list", "/projects"],
    ].map(([operationId = "", path = ""]): [string, ListUnderTest] => [
      operationId,
      {
        path,
        isOrganization: true,
        insert: (id, created_at) => query().insertInto("projects").values({ id, name: id, created_at }).execute(),
        remove: removeFrom("projects"),
      },
    ]),
  ),
  "auditLogs.exportDestinations.list": {
    path: "/audit-logs/export/destinations",
    isOrganization: true,
    insert: (id, created_at) =>
      query()
        .insertInto("audit_export_destinations")
        .values({
          id,
          bucket: id,
          prefix: "",
          region: "us-east-1",
          role_arn: "arn:aws:iam::123456789012:role/none",
          kms_key_id: null,
          external_id: id,
          status: "paused",
          created_at,
        })
        .execute(),
    remove: removeFrom("audit_export_destinations"),
  },
  "flows.list": {
    path: "/flows",
    insert: (id, at) =>
      query()
        .insertInto("flows")
        .values({ ...base(id, at), start_url: "https://example.com/" })
        .execute(),
    remove: removeFrom("flows"),
  },
  "flows.runs.list": {
    path: `/flows/${flowId}/runs`,
    insert: (id, created_at) =>
      query()
        .insertInto("flow_runs")
        .values({
          id,
          created_at,
          project_id: defaultProjectId,
          flow_id: flowId,
          flow_version: 1,
          status: "succeeded",
          row_count: 1,
          server_id: "ended",
        })
        .execute(),
    remove: removeFrom("flow_runs"),
    isOrganization: true,
  },
  "networkRecordings.list": {
    path: "/network_recordings",
    insert: (id, created_at) =>
      query()
        .insertInto("network_recordings")
        .values({ id, created_at, project_id: owner.id, session_id: id, server_id: "ended", finished_at: created_at })
        .execute(),
    remove: removeFrom("network_recordings"),
  },
  "snapshots.list": {
    path: "/snapshots",
    insert: (id, created_at) =>
      query()
        .insertInto("snapshots")
        .values({
          id,
          created_at,
          project_id: owner.id,
          session_id: id,
          engine: "restored",
          blob: id,
          size_bytes: 1,
          unpacked_bytes: 0,
          paused_ms: 0,
          settings: "{}",
          expires_at: "2100-01-01T00:00:00.000Z",
        })
        .execute(),
    remove: removeFrom("snapshots"),
  },
  "vaults.list": {
    path: "/vaults",
    insert: (id, at) => query().insertInto("vaults").values(base(id, at)).execute(),
    remove: removeFrom("vaults"),
  },
};

/** Lists of another form, which begin at a position in a log, with the tests that page through them. */
const elsewhere: Readonly<Record<string, string>> = {
  "browsers.telemetry.events": "../storage/telemetry-files/history.slow.ts",
  "auditLogs.list": "../audit/logs/audit-logs.test.ts",
  "usage.list": "../usage/usage.slow.ts",
  "browsers.process.list": "../../../../packages/instance/src/operations/process/spawn.test.ts",
  "browsers.downloads.list": "../sessions/downloads/downloads.test.ts",
};

/** A version of a profile has a number; one of an app has a label and an id. A flow shows its latest one. */
const idOf = (item: unknown): string => {
  const { id, session_id, version } = item as { id?: string; session_id?: string; version?: number | string };
  return typeof version === "number" && !("start_url" in (item as object)) ? String(version) : (id ?? session_id ?? "");
};

async function pageOf(
  list: ListUnderTest,
  limit: number,
  offset: number,
): Promise<{ ids: string[]; next: number | undefined }> {
  const { body, headers, status } = await server.request(
    "GET",
    `${list.path}${list.path.includes("?") ? "&" : "?"}limit=${String(limit)}&offset=${String(offset)}`,
    list.isOrganization ? {} : { key: owner.key },
  );
  expect(status).toBe(200);
  const ids = (body as unknown[]).map(idOf);
  const next = Number(headers.get("x-next-offset"));
  expect(headers.get("x-has-more")).toBe(String(next !== 0));
  return { ids, next: next === 0 ? undefined : next };
}

/** Reads every page of a list; `between` runs after each page. */
async function readAll(
  list: ListUnderTest,
  limit: number,
  between: (page: number) => Promise<void> = () => Promise.resolve(),
): Promise<string[]> {
  const seen: string[] = [];
  let offset: number | undefined = 0;
  for (let page = 0; offset !== undefined; page += 1) {
    const { ids, next }: { ids: string[]; next: number | undefined } = await pageOf(list, limit, offset);
    seen.push(...ids);
    await between(page);
    offset = next;
  }
  return seen;
}

/** Each page begins with the last item of the previous one, which shows whether rows were deleted above it. */
async function readCarefully(
  list: ListUnderTest,
  limit: number,
  between: (page: number) => Promise<void>,
): Promise<string[]> {
  const seen = new Set<string>();
  let offset = 0;
  for (let page = 0; ; page += 1) {
    const { ids, next } = await pageOf(list, limit, offset);
    await between(page);
    if (offset > 0 && !seen.has(ids[0] ?? "")) {
      offset = Math.max(0, offset - limit + 1);
      continue;
    }
    for (const id of ids) seen.add(id);
    if (next === undefined) return [...seen];
    offset = next - 1;
  }
}

/** Changes during the reading: a row is added or removed. */
const change = fc.oneof(
  fc.record({ kind: fc.constant("insert" as const), agoMs: fc.integer({ min: 0, max: 20 }) }),
  fc.record({ kind: fc.constant("delete" as const), which: fc.nat() }),
);

it("covers every list of the contract", () => {
  const missing = new Set<string>(notImplemented);
  const paged = Object.entries<Endpoint>(contract).filter(
    ([name, { responses }]) =>
      !missing.has(name) && Object.values(responses).some(({ kind }) => kind === "page" || kind === "tokenPage"),
  );
  expect([...Object.keys(lists), ...Object.keys(elsewhere)].sort()).toEqual(
    paged.map(([, { operationId }]) => operationId).sort(),
  );
  for (const file of Object.values(elsewhere))
    expect(readFileSync(new URL(file, import.meta.url), "utf8")).toMatch(/it\(".*page/);
});

describe.each(Object.entries(lists))("%s", (_operationId, list) => {
  let live: string[] = [];
  const now = Date.parse("2026-01-01T00:00:00.000Z");
  const at = (agoMs: number) => new Date(now - agoMs).toISOString();
  async function insert(agoMs: number): Promise<void> {
    const id = list.newId?.() ?? createId();
    await list.insert(id, at(agoMs));
    live.push(id);
  }
  async function remove(which: number): Promise<void> {
    const [id] = live.splice(which % Math.max(1, live.length), 1);
    if (id !== undefined) await list.remove(id);
  }
  async function clear(): Promise<void> {
    await Promise.all(live.map((id) => list.remove(id)));
    live = [];
  }
  /** Items of the list that the test did not add, such as the calling key. */
  let present: readonly string[] = [];
  const own = (ids: readonly string[]) => ids.filter((id) => !present.includes(id));
  beforeAll(async () => {
    present = (await pageOf(list, 100, 0)).ids;
  });

  it("shows each row once, in one order for every page size, including rows of the same moment", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        async (ages, limit) => {
          for (const agoMs of ages) await insert(agoMs);
          const whole = own((await pageOf(list, 100, 0)).ids);
          expect([...whole].sort()).toEqual([...live].sort());
          expect(own(await readAll(list, limit))).toEqual(whole);
          expect((await pageOf(list, limit, whole.length + 1)).next).toBeUndefined();
          await clear();
        },
      ),
      { numRuns: 8, endOnFailure: true },
    );
  });

  it("misses no row while rows are added, and repeats none while rows are deleted", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 3, maxLength: 10 }),
        fc.array(change, { maxLength: 6 }),
        fc.integer({ min: 1, max: 4 }),
        async (ages, changes, limit) => {
          for (const agoMs of ages) await insert(agoMs);
          const before = [...live];
          const coming = own(
            await readAll(list, limit, async (page) => {
              if (changes[page] !== undefined) await insert(0);
            }),
          );
          expect(before.filter((id) => !coming.includes(id))).toEqual([]);
          const going = own(
            await readAll(list, limit, async (page) => {
              const next = changes[page];
              if (next?.kind === "delete") await remove(next.which);
            }),
          );
          expect(new Set(going).size).toBe(going.length);
          await clear();
        },
      ),
      { numRuns: 6, endOnFailure: true },
    );
  });

  it("shows each remaining row exactly once to a reader with overlapping pages, for any sequence of changes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 3, maxLength: 10 }),
        fc.array(change, { maxLength: 8 }),
        fc.integer({ min: 2, max: 4 }),
        async (ages, changes, limit) => {
          for (const agoMs of ages) await insert(agoMs);
          const before = [...live];
          const seen = own(
            await readCarefully(list, limit, async (page) => {
              const next = changes[page];
              if (next?.kind === "insert") await insert(next.agoMs);
              else if (next !== undefined) await remove(next.which);
            }),
          );
          expect(before.filter((id) => live.includes(id) && !seen.includes(id))).toEqual([]);
          await clear();
        },
      ),
      { numRuns: 12, endOnFailure: true },
    );
  });
});
