import { contract, type Endpoint } from "@shoal/contract";
import fc from "fast-check";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId } from "./ids.ts";
import { notImplemented } from "./not-implemented.ts";
import { startTestServer, type TestServer } from "./testing/test-server.ts";
import { sessionRow } from "./testing/session-row.ts";

/** A list of objects, and how objects get into it and out of it without going through the service: many at once, with moments of the test's choosing. */
interface ListUnderTest {
  readonly path: string;
  /** Of the organisation: asked with a key of its own. */
  readonly isOrganization?: true;
  /** What its items are called, where that is not of the test's choosing. */
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
});
afterAll(() => server.close());

const profileId = createId();
let latestVersion = 0;
const query = () => server.database.query;
const base = (id: string, created_at: string) => ({ id, project_id: owner.id, name: id, created_at });
const removeFrom =
  (
    table:
      | "profiles"
      | "proxies"
      | "extensions"
      | "telemetry_destinations"
      | "browser_pools"
      | "sessions"
      | "projects"
      | "api_keys"
      | "audit_export_destinations",
  ) =>
  (id: string) =>
    query().deleteFrom(table).where("id", "=", id).execute();

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
        .values({ ...base(id, at), endpoint: "https://otlp.example.com", description: null, header_names: "[]", headers: null })
        .execute(),
    remove: removeFrom("telemetry_destinations"),
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
  "apiKeys.list": {
    path: "/org/api_keys",
    insert: (id, at) =>
      query()
        .insertInto("api_keys")
        .values({ ...base(id, at), key_hash: Buffer.from(id), masked_key: "sk_…", created_by_id: "test", created_by_email: "test@localhost" })
        .execute(),
    remove: removeFrom("api_keys"),
  },
  // Of a region that no server is in: nobody fills it.
  "browserPools.list": {
    path: "/browser_pools",
    insert: (id, at) =>
      query()
        .insertInto("browser_pools")
        .values({ ...base(id, at), size: 1, region: "elsewhere", config: JSON.stringify({ fill_rate_per_minute: 0, timeout_seconds: 600 }) })
        .execute(),
    remove: removeFrom("browser_pools"),
  },
  "profiles.versions.list": {
    path: "/profiles/versioned/versions",
    // A later one is always a newer one.
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
    remove: (id) => query().deleteFrom("profile_versions").where("profile_id", "=", profileId).where("version", "=", Number(id)).execute(),
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
};

/** Lists of another shape, which begin at a place in a log rather than at a row: each with the tests that read it page by page. */
const elsewhere: Readonly<Record<string, string>> = {
  "browsers.telemetry.events": "telemetry/history.test.ts",
  "auditLogs.list": "audit-logs/audit-logs.test.ts",
};

const idOf = (item: unknown): string => {
  const { id, session_id, version } = item as { id?: string; session_id?: string; version?: number };
  return version === undefined ? (id ?? session_id ?? "") : String(version);
};

async function pageOf(list: ListUnderTest, limit: number, offset: number): Promise<{ ids: string[]; next: number | undefined }> {
  const { body, headers, status } = await server.request(
    "GET",
    `${list.path}${list.path.includes("?") ? "&" : "?"}limit=${String(limit)}&offset=${String(offset)}`,
    list.isOrganization ? {} : { key: owner.key },
  );
  expect(status).toBe(200);
  const ids = (body as unknown[]).map(idOf);
  expect(headers.get("x-has-more")).toBe(String(headers.get("x-next-offset") !== null));
  const next = headers.get("x-next-offset");
  return { ids, next: next === null ? undefined : Number(next) };
}

/** Every item of a list, page after page, as anybody reads it; `between` happens after each page. */
async function readAll(list: ListUnderTest, limit: number, between: (page: number) => Promise<void> = () => Promise.resolve()): Promise<string[]> {
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

/** As a careful reader does it: each page begins with the last item of the one before, which shows whether rows were deleted above it. */
async function readCarefully(list: ListUnderTest, limit: number, between: (page: number) => Promise<void>): Promise<string[]> {
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

/** What happens while somebody reads: a row comes, or one of those that are there goes. */
const change = fc.oneof(
  fc.record({ kind: fc.constant("insert" as const), agoMs: fc.integer({ min: 0, max: 20 }) }),
  fc.record({ kind: fc.constant("delete" as const), which: fc.nat() }),
);

it("knows every list of the contract", () => {
  const missing = new Set<string>(notImplemented);
  const paged = Object.entries<Endpoint>(contract).filter(
    ([name, { responses }]) => !missing.has(name) && Object.values(responses).some(({ kind }) => kind === "page" || kind === "tokenPage"),
  );
  expect([...Object.keys(lists), ...Object.keys(elsewhere)].sort()).toEqual(paged.map(([, { operationId }]) => operationId).sort());
  for (const file of Object.values(elsewhere)) expect(readFileSync(new URL(file, import.meta.url), "utf8")).toMatch(/it\(".*page/);
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
  /** What the list holds beside the test's own: the key that asks, the project of others. */
  let present: readonly string[] = [];
  const own = (ids: readonly string[]) => ids.filter((id) => !present.includes(id));
  beforeAll(async () => {
    present = (await pageOf(list, 100, 0)).ids;
  });

  it("shows each row once, in one order whatever the size of the pages, also those of the same moment", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), async (ages, limit) => {
        for (const agoMs of ages) await insert(agoMs);
        const whole = own((await pageOf(list, 100, 0)).ids);
        expect([...whole].sort()).toEqual([...live].sort());
        expect(own(await readAll(list, limit))).toEqual(whole);
        expect((await pageOf(list, limit, whole.length + 1)).next).toBeUndefined();
        await clear();
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });

  it("misses nothing while rows come, and shows nothing twice while rows go", async () => {
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

  it("shows a careful reader each row that stays exactly once, whatever comes and goes", async () => {
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
