import { Profile } from "@shoal/schemas";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId, isId } from "@shoal/primitives";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

async function create(name?: string): Promise<Profile> {
  const { status, body } = await server.request("POST", "/profiles", { body: name === undefined ? {} : { name } });
  expect(status).toBe(201);
  return Profile.parse(body);
}

async function names(query: string, project?: { key: string }): Promise<(string | null | undefined)[]> {
  const { status, body } = await server.request("GET", `/profiles${query}`, project);
  expect(status).toBe(200);
  return (body as Profile[]).map((profile) => profile.name);
}

describe("get", () => {
  it("finds a profile by id and by name", async () => {
    const made = await create("by both");
    expect(isId(made.id)).toBe(true);
    for (const path of [made.id, "by%20both"])
      expect((await server.request("GET", `/profiles/${path}`)).body).toEqual(made);
  });

  it("prefers an id to a name", async () => {
    const first = await create("first");
    const second = await create(first.id);
    expect((await server.request("GET", `/profiles/${first.id}`)).body).toMatchObject({ id: first.id, name: "first" });
    expect((await server.request("GET", `/profiles/${second.id}`)).body).toMatchObject({ name: first.id });
  });

  it("answers null for the name of a profile without one", async () => {
    expect(await create()).toMatchObject({ name: null });
  });

  it.each([createId(), "nobody", "a%00b", "%F0%9F%90%9F", "x".repeat(255)])("answers 404 for %s", async (missing) => {
    const { status, body } = await server.request("GET", `/profiles/${missing}`);
    expect(status).toBe(404);
    expect(body).toMatchObject({ code: "not_found", message: expect.stringContaining("profiles.list") as unknown });
  });
});

describe("names", () => {
  it("are unique per project; a duplicate is not retryable", async () => {
    await create("unique");
    const again = await server.request("POST", "/profiles", { body: { name: "unique" } });
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({ code: "name_taken" });
    expect(again.headers.get("x-should-retry")).toBe("false");
    const { key } = await server.addProject("names");
    expect((await server.request("POST", "/profiles", { key, body: { name: "unique" } })).status).toBe(201);
  });

  it("go to one of many concurrent requests", async () => {
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => server.request("POST", "/profiles", { body: { name: "race" } })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
  });

  it.each([
    ["empty", ""],
    ["too long", "x".repeat(256)],
    ["with a line break", "a\nb"],
  ])("must not be %s", async (_what, name) => {
    const { status, body } = await server.request("POST", "/profiles", { body: { name } });
    expect(status).toBe(400);
    expect(body).toMatchObject({ message: expect.stringContaining("name") as unknown });
  });

  it("can change; the old name is free at once", async () => {
    const made = await create("before");
    await server.request("GET", "/profiles/before");
    const renamed = await server.request("PATCH", "/profiles/before", { body: { name: "after" } });
    expect(renamed.status).toBe(200);
    expect(renamed.body).toMatchObject({ id: made.id, name: "after", updated_at: expect.any(String) as unknown });
    expect((await server.request("GET", "/profiles/before")).status).toBe(404);
    expect((await server.request("GET", "/profiles/after")).body).toEqual(renamed.body);
    expect((await server.request("GET", `/profiles/${made.id}`)).body).toEqual(renamed.body);
    await create("before");
    expect((await server.request("PATCH", "/profiles/before", { body: { name: "after" } })).status).toBe(409);
    expect((await server.request("PATCH", "/profiles/nobody", { body: { name: "x" } })).status).toBe(404);
  });
});

it("deletes a profile, once", async () => {
  const made = await create("short-lived");
  await server.request("GET", "/profiles/short-lived");
  expect(await server.request("DELETE", "/profiles/short-lived")).toMatchObject({ status: 204, body: undefined });
  for (const path of ["short-lived", made.id]) {
    expect((await server.request("GET", `/profiles/${path}`)).status).toBe(404);
    expect((await server.request("DELETE", `/profiles/${path}`)).status).toBe(404);
  }
});

describe("list", () => {
  it("pages through everything once, newest first", async () => {
    const { key } = await server.addProject("paging");
    for (let index = 1; index <= 7; index += 1)
      await server.request("POST", "/profiles", { key, body: { name: `p${String(index)}` } });
    const seen: unknown[] = [];
    let offset: string | null = "0";
    do {
      const reply = await server.request("GET", `/profiles?limit=3&offset=${offset}`, { key });
      seen.push(...(reply.body as Profile[]).map((profile) => profile.name));
      offset = reply.headers.get("x-next-offset");
      expect(reply.headers.get("x-has-more")).toBe(String(offset !== "0"));
      expect(reply.headers.get("x-limit")).toBe("3");
    } while (offset !== "0");
    expect(seen).toEqual(["p7", "p6", "p5", "p4", "p3", "p2", "p1"]);
    expect(await names("?limit=7", { key })).toHaveLength(7);
    expect(await names("?offset=7", { key })).toEqual([]);
  });

  it("finds parts of names and ids, with literal % and _", async () => {
    const project = await server.addProject("searching");
    for (const name of ["100% Sure", "under_score", "underXscore", String.raw`back\slash`, "Café"])
      await server.request("POST", "/profiles", { key: project.key, body: { name } });
    expect(await names("?query=%25", project)).toEqual(["100% Sure"]);
    expect(await names("?query=r_s", project)).toEqual(["under_score"]);
    expect(await names("?query=SURE", project)).toEqual(["100% Sure"]);
    expect(await names("?query=%5C", project)).toEqual([String.raw`back\slash`]);
    expect(await names("?query=a%00b", project)).toEqual([]);
    const { body } = await server.request("GET", "/profiles?name=under_score", project);
    const [profile] = body as Profile[];
    expect(await names(`?query=${profile?.id.slice(3, 12).toUpperCase() ?? ""}`, project)).toEqual(["under_score"]);
  });

  it("finds an exact name, ignoring case and accents", async () => {
    const project = await server.addProject("folding");
    for (const name of ["Café", "cafeteria", "ПРИВЕТ"])
      await server.request("POST", "/profiles", { key: project.key, body: { name } });
    expect(await names("?name=CAFE", project)).toEqual(["Café"]);
    expect(await names(`?name=${encodeURIComponent("привет")}`, project)).toEqual(["ПРИВЕТ"]);
    expect(await names("?name=caf", project)).toEqual([]);
  });

  it.each(["limit=0", "limit=101", "limit=x", "offset=-1"])("rejects %s", async (query) => {
    expect((await server.request("GET", `/profiles?${query}`)).status).toBe(400);
  });
});

it("never returns a cached profile that another server changed", async () => {
  const made = await create("theirs");
  await server.request("GET", `/profiles/${made.id}`);
  await server.database.query.updateTable("profiles").set({ name: "theirs now" }).where("id", "=", made.id).execute();
  await expect
    .poll(async () => (await server.request("GET", `/profiles/${made.id}`)).body)
    .toMatchObject({ name: "theirs now" });
});

it.each([
  ["/browsers", {}],
  ["/browser_pools", { size: 1 }],
])("POST %s names the profile whose location needs a proxy", async (path, fields) => {
  const made = await server.request("POST", "/profiles", { body: { location: { timezone: "exit" } } });
  const { id } = Profile.parse(made.body);
  expect(await server.request("POST", path, { body: { ...fields, profile: { id } } })).toMatchObject({
    status: 400,
    body: {
      ...{ code: "invalid_browser_location", field: "body.profile" },
      message: expect.stringContaining("timezone exit needs a proxy") as unknown,
    },
  });
});
