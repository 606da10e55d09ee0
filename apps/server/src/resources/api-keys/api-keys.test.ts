import { ApiKey, CreatedApiKey } from "@shoal/schemas";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { createId } from "@shoal/primitives";
import { startTestServer, type TestRequest, type TestServer } from "../../testing/test-server.ts";

const dayMs = 86_400_000;
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

async function create(body: object, request: TestRequest = {}): Promise<CreatedApiKey> {
  const reply = await server.request("POST", "/org/api_keys", { ...request, body });
  expect(reply.status).toBe(201);
  return CreatedApiKey.parse(reply.body);
}

const works = async (key: string) => (await server.request("GET", "/profiles", { key })).status === 200;

/** Days from now, rounded; `null` = never. */
const daysUntil = (moment: string | null) =>
  moment === null ? null : Math.round((Date.parse(moment) - Date.now()) / dayMs);

async function idOf(key: string): Promise<string> {
  const { body } = await server.request("GET", "/org/api_keys?limit=100", { key });
  return (body as ApiKey[]).find(({ masked_key }) => masked_key.endsWith(key.slice(-4)))?.id ?? "none";
}

it("returns the secret of a key once", async () => {
  const made = await create({ name: "once" });
  expect(made.key).toMatch(/^sk_shoal_[\w-]{43}$/);
  expect(made).toMatchObject({
    name: "once",
    project_id: null,
    project_name: null,
    expires_at: null,
    deleted_at: null,
    masked_key: `sk_shoal_${made.key.slice(9, 13)}...${made.key.slice(-4)}`,
  });
  expect(made.created_by).toEqual({ id: await idOf(server.key), email: "admin@localhost", name: "admin" });
  const { key: _, ...shown } = made;
  expect((await server.request("GET", `/org/api_keys/${made.id}`)).body).toEqual(shown);
  const rows = await server.database.query.selectFrom("api_keys").selectAll().where("id", "=", made.id).execute();
  expect(JSON.stringify(rows)).not.toContain(made.key);
});

describe("authentication", () => {
  it.each<[string, Record<string, string>, string]>([
    ["no key", {}, "has no API key"],
    ["another scheme", { authorization: "Basic YTpi" }, "Bearer KEY"],
    ["an unknown key", { authorization: "Bearer sk_live_123" }, "not an API key of this service"],
    ["a key that was never made", { authorization: `Bearer sk_shoal_${"a".repeat(43)}` }, "unknown or was deleted"],
  ])("answers 401 with a hint to %s", async (_what, headers, message) => {
    const { status, body } = await server.request("GET", "/profiles", { key: null, headers });
    expect(status).toBe(401);
    expect(body).toMatchObject({ code: "unauthorized", message: expect.stringContaining(message) as unknown });
    expect(body).toMatchObject({ message: expect.stringContaining("apiKeys.create") as unknown });
  });

  it("accepts the scheme in upper and lower case", async () => {
    expect(
      (await server.request("GET", "/profiles", { key: null, headers: { authorization: `bearer ${server.key}` } }))
        .status,
    ).toBe(200);
  });

  it("rejects a cached key as soon as it expires", async () => {
    const made = await create({ name: "expiring", days_to_expire: 1 });
    expect(daysUntil(made.expires_at)).toBe(1);
    expect(await works(made.key)).toBe(true);
    const expiresAtMs = Date.parse(made.expires_at ?? "");
    vi.useFakeTimers({ toFake: ["Date"], now: expiresAtMs - 1 });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    expect(await works(made.key)).toBe(true);
    vi.setSystemTime(expiresAtMs);
    expect(await works(made.key)).toBe(false);
    expect((await server.request("GET", "/profiles", { key: made.key })).body).toMatchObject({
      message: expect.stringContaining("expired at") as unknown,
    });
  });

  it("rejects a key that another server deleted", async () => {
    const made = await create({ name: "deleted elsewhere" });
    expect(await works(made.key)).toBe(true);
    await server.database.query
      .updateTable("api_keys")
      .set({ deleted_at: new Date().toISOString() })
      .where("id", "=", made.id)
      .execute();
    await expect.poll(() => works(made.key)).toBe(false);
  });
});

describe("projects", () => {
  it.each(["x-kernel-project-id", "x-kernel-project", "x-shoal-project"])(
    "are named by %s, by id or by name",
    async (header) => {
      const project = await server.addProject(`by ${header}`);
      const made = await server.request("POST", "/profiles", {
        headers: { [header]: project.id },
        body: { name: "there" },
      });
      expect(made.status).toBe(201);
      expect((await server.request("GET", "/profiles/there", { headers: { [header]: `by ${header}` } })).body).toEqual(
        made.body,
      );
      expect((await server.request("GET", "/profiles/there", { key: project.key })).body).toEqual(made.body);
      expect((await server.request("GET", "/profiles/there")).status).toBe(404);
    },
  );

  it("must exist, and match the project of the key", async () => {
    const one = await server.addProject("one");
    const other = await server.addProject("other");
    const ask = (key: string, project: string) =>
      server.request("GET", "/profiles", { key, headers: { "x-shoal-project": project } });
    expect((await ask(one.key, one.id)).status).toBe(200);
    expect((await ask(one.key, "one")).status).toBe(200);
    expect(await ask(one.key, other.id)).toMatchObject({ status: 403, body: { code: "forbidden" } });
    expect(await ask(one.key, "nowhere")).toMatchObject({ status: 403, body: { code: "forbidden" } });
    expect(await ask(server.key, "nowhere")).toMatchObject({ status: 404, body: { code: "project_not_found" } });
    expect((await ask(server.key, "default")).status).toBe(200);
  });

  it("limit their keys to keys of the same project", async () => {
    const project = await server.addProject("bound");
    const other = await server.addProject("not bound");
    const made = await create({ name: "inherits" }, { key: project.key });
    expect(made).toMatchObject({ project_id: project.id, project_name: "bound" });
    expect(await create({ name: "explicit", project_id: project.id }, { key: project.key })).toMatchObject({
      project_id: project.id,
    });
    for (const project_id of [other.id, createId()])
      expect(
        await server.request("POST", "/org/api_keys", { key: project.key, body: { name: "x", project_id } }),
      ).toMatchObject({ status: 403 });
    const { body } = await server.request("GET", "/org/api_keys", { key: project.key });
    expect((body as ApiKey[]).map(({ name }) => name)).toEqual(["explicit", "inherits", "key of bound"]);
    expect((await server.request("GET", `/org/api_keys/${await idOf(server.key)}`, { key: project.key })).status).toBe(
      404,
    );
  });

  it("are named by id in project_id", async () => {
    const project = await server.addProject("by id only");
    expect(await create({ name: "k", project_id: project.id })).toMatchObject({
      project_id: project.id,
      project_name: "by id only",
    });
    expect(await create({ name: "k", project_id: null })).toMatchObject({ project_id: null });
    expect(await server.request("POST", "/org/api_keys", { body: { name: "k", project_id: "" } })).toMatchObject({
      status: 400,
    });
    for (const project_id of [createId(), "by id only"])
      expect(await server.request("POST", "/org/api_keys", { body: { name: "k", project_id } })).toMatchObject({
        status: 404,
        body: { code: "project_not_found" },
      });
  });
});

describe("create and update", () => {
  it.each([
    { name: "" },
    { name: "x".repeat(256) },
    {},
    { name: "k", days_to_expire: 0 },
    { name: "k", days_to_expire: 3651 },
    { name: "k", days_to_expire: 1.5 },
  ])("refuse %j", async (body) => {
    expect((await server.request("POST", "/org/api_keys", { body })).status).toBe(400);
  });

  it("take names of 1 to 255 characters and lifetimes of 1 to 3650 days", async () => {
    const made = await create({ name: "x".repeat(255), days_to_expire: 3650 });
    expect(daysUntil(made.expires_at)).toBe(3650);
    const renamed = await server.request("PATCH", `/org/api_keys/${made.id}`, { body: { name: "y" } });
    expect(renamed).toMatchObject({ status: 200, body: { id: made.id, name: "y", masked_key: made.masked_key } });
    expect(await works(made.key)).toBe(true);
    expect(await server.request("PATCH", `/org/api_keys/${made.id}`, { body: { name: "" } })).toMatchObject({
      status: 400,
    });
    expect(await server.request("PATCH", `/org/api_keys/${createId()}`, { body: { name: "z" } })).toMatchObject({
      status: 404,
    });
  });
});

it("deletes a key: it becomes invalid at once, and appears only with include_deleted", async () => {
  const made = await create({ name: "short-lived" });
  expect(await works(made.key)).toBe(true);
  expect(await server.request("DELETE", `/org/api_keys/${made.id}`, { key: made.key })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining("cannot delete itself") as unknown },
  });
  expect((await server.request("DELETE", `/org/api_keys/${made.id}`)).status).toBe(204);
  expect(await works(made.key)).toBe(false);
  expect((await server.request("DELETE", `/org/api_keys/${made.id}`)).status).toBe(404);
  expect((await server.request("PATCH", `/org/api_keys/${made.id}`, { body: { name: "x" } })).status).toBe(404);
  expect((await server.request("POST", `/org/api_keys/${made.id}/rotate`)).status).toBe(404);
  expect((await server.request("GET", `/org/api_keys/${made.id}`)).status).toBe(404);
  expect((await server.request("GET", `/org/api_keys/${made.id}?include_deleted=true`)).body).toMatchObject({
    deleted_at: expect.any(String) as unknown,
  });
});

describe("rotate", () => {
  const rotate = async (id: string, body?: object) => {
    const reply = await server.request("POST", `/org/api_keys/${id}/rotate`, body === undefined ? {} : { body });
    expect(reply.status).toBe(201);
    return CreatedApiKey.parse(reply.body);
  };
  const expiryOf = async (id: string) =>
    daysUntil(ApiKey.parse((await server.request("GET", `/org/api_keys/${id}`)).body).expires_at);

  it("keeps name, project and lifetime; the old key stays valid for seven days", async () => {
    const project = await server.addProject("rotating");
    const old = await create({ name: "r", project_id: project.id, days_to_expire: 30 });
    const fresh = await rotate(old.id);
    expect(fresh).toMatchObject({ name: "r", project_id: project.id, project_name: "rotating" });
    expect(fresh.id).not.toBe(old.id);
    expect(daysUntil(fresh.expires_at)).toBe(30);
    expect(await expiryOf(old.id)).toBe(7);
    expect([await works(old.key), await works(fresh.key)]).toEqual([true, true]);
  });

  it("invalidates the old key at once with expire_in_days 0", async () => {
    const old = await create({ name: "r" });
    expect(await works(old.key)).toBe(true);
    const fresh = await rotate(old.id, { expire_in_days: 0 });
    expect([await works(old.key), await works(fresh.key)]).toEqual([false, true]);
  });

  it("never extends the lifetime of the old key", async () => {
    const old = await create({ name: "r", days_to_expire: 3 });
    expect(daysUntil((await rotate(old.id)).expires_at)).toBe(3);
    expect(await expiryOf(old.id)).toBe(3);
    await rotate(old.id, { expire_in_days: 10, days_to_expire: 20 });
    expect(await expiryOf(old.id)).toBe(3);
  });

  it("accepts null for no expiry, and for the default grace period", async () => {
    const old = await create({ name: "r", days_to_expire: 30 });
    expect((await rotate(old.id, { days_to_expire: null, expire_in_days: null })).expires_at).toBeNull();
    expect(await expiryOf(old.id)).toBe(7);
  });

  it("shortens the default grace period to the lifetime of the new key", async () => {
    const old = await create({ name: "r" });
    expect(daysUntil((await rotate(old.id, { days_to_expire: 3 })).expires_at)).toBe(3);
    expect(await expiryOf(old.id)).toBe(3);
  });

  it.each([{ days_to_expire: 3, expire_in_days: 4 }])(
    "rejects %j: the new key would expire before the old one",
    async (body) => {
      const old = await create({ name: "r" });
      const reply = await server.request("POST", `/org/api_keys/${old.id}/rotate`, { body });
      expect(reply).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining("Set expire_in_days to 3 or less") as unknown },
      });
      expect(await expiryOf(old.id)).toBeNull();
    },
  );

  it.each([{ expire_in_days: -1 }, { expire_in_days: 3651 }, { days_to_expire: 0 }])("rejects %j", async (body) => {
    const old = await create({ name: "r" });
    expect((await server.request("POST", `/org/api_keys/${old.id}/rotate`, { body })).status).toBe(400);
  });
});

describe("list", () => {
  it("sorts, filters and pages", async () => {
    const project = await server.addProject("listing");
    const list = async (query: string) => {
      const { status, body } = await server.request("GET", `/org/api_keys?${query}`, { key: project.key });
      expect(status).toBe(200);
      return (body as ApiKey[]).map(({ name }) => name);
    };
    await create({ name: "Ärger", days_to_expire: 5 }, { key: project.key });
    const beta = await create({ name: "beta 100%", days_to_expire: 2 }, { key: project.key });
    const gone = await create({ name: "gone" }, { key: project.key });
    await server.request("DELETE", `/org/api_keys/${gone.id}`, { key: project.key });

    expect(await list("")).toEqual(["beta 100%", "Ärger", "key of listing"]);
    expect(await list("sort_direction=asc")).toEqual(["key of listing", "Ärger", "beta 100%"]);
    expect(await list("sort_by=name&sort_direction=asc")).toEqual(["Ärger", "beta 100%", "key of listing"]);
    expect(await list("sort_by=expires_at&sort_direction=asc")).toEqual(["beta 100%", "Ärger", "key of listing"]);
    expect(await list("sort_by=expires_at&sort_direction=desc")).toEqual(["Ärger", "beta 100%", "key of listing"]);
    expect(await list("status=deleted")).toEqual(["gone"]);
    expect(await list("status=all")).toHaveLength(4);
    expect(await list("include_deleted=true")).toHaveLength(4);
    expect(await list("name=arger")).toEqual(["Ärger"]);
    expect(await list("query=0%25")).toEqual(["beta 100%"]);
    expect(await list(`query=${beta.id.slice(0, 10)}`)).toEqual(["beta 100%"]);
    expect(await list(`query=${beta.id.slice(5)}`)).toEqual([]);
    expect(await list(`query=${encodeURIComponent(beta.masked_key)}`)).toEqual(["beta 100%"]);
    expect(await list("query=LISTING")).toEqual(["beta 100%", "Ärger", "key of listing"]);
    expect(await list("limit=1&offset=1")).toEqual(["Ärger"]);
  });
});
