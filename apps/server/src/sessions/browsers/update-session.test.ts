import { Browser, Profile } from "@shoal/schemas";
import { sql } from "kysely";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type CdpClient, connectCdp } from "../../testing/cdp-client.ts";
import { startTestServer, type TestReply, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
let id: string;
let session: Browser;

async function create(body: object): Promise<Browser> {
  const { body: browser, status } = await server.request("POST", "/browsers", {
    body: { timeout_seconds: 3600, ...body },
  });
  expect(status, JSON.stringify(browser)).toBe(200);
  return Browser.parse(browser);
}

/** Creates a profile with state, and a way to corrupt that state. */
async function profileWithState(name: string): Promise<{ spoil(): void }> {
  Profile.parse((await server.request("POST", "/profiles", { body: { name } })).body);
  const folder = join(server.dataDir, "blobs");
  mkdirSync(folder, { recursive: true });
  const files = () =>
    new Set(
      readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
        statSync(join(folder, path)).isFile(),
      ),
    );
  const before = files();
  const cookie = {
    name: "a",
    value: "b",
    domain: "site.example",
    path: "/",
    expires: -1,
    httpOnly: false,
    secure: false,
    sameSite: "Lax",
  };
  expect(
    (await server.request("PUT", `/profiles/${name}/storage_state`, { body: { cookies: [cookie], origins: [] } }))
      .status,
  ).toBe(200);
  const made = [...files()].filter((path) => !before.has(path));
  return {
    spoil() {
      for (const path of made) writeFileSync(join(folder, path), "other content");
    },
  };
}

beforeAll(async () => {
  server = await startTestServer({ proxy_residential: "http://127.0.0.1:9?country={country}" });
  await server.request("POST", "/profiles", { body: { name: "held" } });
  await create({ name: "taken", profile: { name: "held", save_changes: true } });
  session = await create({
    name: "mine",
    tags: { team: "a" },
    viewport: { width: 800, height: 600 },
    telemetry: { browser: { console: { enabled: true } } },
  });
  id = session.session_id;
});
afterAll(() => server.close());

const patch = (body: object): Promise<TestReply> => server.request("PATCH", `/browsers/${id}`, { body });

/** Returns the visible state of the session, as the API and the browser show it. */
async function seen() {
  const { location, name, tags, viewport, profile, telemetry, proxy } = Browser.parse(
    (await server.request("GET", `/browsers/${id}`)).body,
  );
  const client = await connectCdp(session.cdp_ws_url);
  try {
    const { targetInfos } = (await client.send("Target.getTargets")) as {
      targetInfos: readonly { targetId: string; type: string }[];
    };
    const page = targetInfos.find(({ type }) => type === "page");
    const { sessionId } = (await client.send("Target.attachToTarget", { targetId: page?.targetId, flatten: true })) as {
      sessionId: string;
    };
    const { result } = (await client.send(
      "Runtime.evaluate",
      { expression: "[innerWidth, innerHeight]", returnByValue: true },
      sessionId,
    )) as {
      result: { value: unknown };
    };
    return { location, name, tags, viewport, profile, telemetry, proxy, inside: result.value };
  } finally {
    client.close();
    await client.closed;
  }
}

describe("a change that is refused changes nothing", () => {
  let before: Awaited<ReturnType<typeof seen>>;
  beforeEach(async () => {
    before = await seen();
    expect(before).toMatchObject({ name: "mine", tags: { team: "a" }, inside: [800, 600] });
  });

  const others = {
    tags: { team: "b" },
    viewport: { width: 1000, height: 700 },
    location: { timezone: "Asia/Tokyo" },
    telemetry: { browser: { network: { enabled: true } } },
  };
  it.each([
    ["a taken name", { ...others, name: "taken" }, 409, "name_taken"],
    [
      "a profile that another session writes to",
      { ...others, name: "new", profile: { name: "held", save_changes: true } },
      409,
      "profile_in_use",
    ],
    ["a missing profile", { ...others, name: "new", profile: { name: "missing" } }, 404, "not_found"],
    ["a missing proxy", { ...others, name: "new", proxy: { id: "missing" } }, 404, "not_found"],
    [
      "a missing telemetry destination",
      { ...others, name: "new", telemetry: { export: { otlp: { destination: { name: "missing" } } } } },
      404,
      "not_found",
    ],
  ])("%s", async (_what, body, status, code) => {
    expect(await patch(body)).toMatchObject({ status, body: { code } });
    expect(await seen()).toEqual(before);
  });

  it.each(["javascript:alert(1)", "https://", "view-source:https://a.example", "about:blank\0"])(
    "the start page %j",
    async (start_url) => {
      expect(await patch({ ...others, name: "new", start_url })).toMatchObject({
        status: 400,
        body: { code: "bad_request", message: expect.stringMatching(/^body\.start_url: /) as unknown },
      });
      expect(await seen()).toEqual(before);
    },
  );

  it("a viewport during a recording", async () => {
    const { body } = await server.request("POST", `/browsers/${id}/replays`, { body: {} });
    const { replay_id } = body as { replay_id: string };
    expect(await patch({ ...others, name: "new" })).toMatchObject({ status: 409 });
    expect(await seen()).toEqual(before);
    expect((await server.request("POST", `/browsers/${id}/replays/${replay_id}/stop`)).status).toBe(200);
  });

  it("a profile whose state cannot be loaded, after all other changes have taken effect", async () => {
    const spoilt = await profileWithState("spoilt");
    spoilt.spoil();
    const { status } = await patch({ ...others, name: "new", profile: { name: "spoilt", save_changes: true } });
    expect(status).toBe(500);
    expect(await seen()).toEqual(before);
    expect((await server.request("DELETE", "/profiles/spoilt")).status).toBe(204);
  });
});

it("applies every field of an accepted change, one change at a time", async () => {
  await profileWithState("good");
  const [first, second] = await Promise.all([
    patch({ name: "one", tags: { turn: "1" } }),
    patch({ name: "two", viewport: { width: 900, height: 500 }, profile: { name: "good" } }),
  ]);
  expect([first.status, second.status]).toEqual([200, 200]);
  const last = (await seen()).name;
  // Requests on two connections arrive in either order.
  expect(["one", "two"]).toContain(last);
  expect(await seen()).toMatchObject({
    tags: { turn: "1" },
    viewport: { width: 900, height: 500 },
    profile: { name: "good" },
    inside: [900, 500],
  });
  expect(await patch({ name: "three", profile: { name: "held" } })).toMatchObject({
    status: 409,
    body: { code: "conflict" },
  });
  expect(await seen()).toMatchObject({ name: last });
});

/** Ids of the targets that a client sees; `undefined` after its connection has ended. */
async function targetsOf(client: CdpClient): Promise<readonly string[] | undefined> {
  return Promise.race([
    client
      .send("Target.getTargets")
      .then(({ targetInfos }) => (targetInfos as readonly { targetId: string }[]).map(({ targetId }) => targetId)),
    client.closed.then(() => undefined),
  ]);
}

describe.each([
  ["a browser", {}],
  ["a shared browser", { isolation: "context" }],
] as const)("a change of what pages see in %s", (_, options) => {
  it("keeps clients connected if it changes nothing", async () => {
    const { cdp_ws_url: url, session_id } = await create(options);
    const client = await connectCdp(url);
    const before = await targetsOf(client);
    for (const body of [
      { conditions: {} },
      { location: {} },
      { conditions: { color_scheme: null } },
      { location: { timezone: null, locale: null } },
      { conditions: {}, location: {}, network: {} },
    ])
      expect(await server.request("PATCH", `/browsers/${session_id}`, { body }), JSON.stringify(body)).toMatchObject({
        status: 200,
      });
    expect(before).toHaveLength(1);
    expect(await targetsOf(client)).toEqual(before);
    client.close();
    expect((await server.request("DELETE", `/browsers/${session_id}`)).status).toBe(204);
  });
});

it("keeps clients connected at a change to the present values", async () => {
  const seenBy = { conditions: { color_scheme: "dark" }, location: { timezone: "Asia/Tokyo" } };
  const { cdp_ws_url: url, session_id } = await create(seenBy);
  const client = await connectCdp(url);
  const before = await targetsOf(client);
  for (const body of [seenBy, { location: { timezone: "asia/tokyo" } }, { conditions: { color_scheme: "dark" } }])
    expect((await server.request("PATCH", `/browsers/${session_id}`, { body })).status).toBe(200);
  expect(before).toHaveLength(1);
  expect(await targetsOf(client)).toEqual(before);
  client.close();
  expect((await server.request("DELETE", `/browsers/${session_id}`)).status).toBe(204);
});

it("keeps the time zone of the proxy at a change of the locale, also without the proxy", async () => {
  const { body: proxy } = await server.request("POST", "/proxies", {
    body: { type: "residential", config: { country: "JP" } },
  });
  const { id: proxyId } = proxy as { readonly id: string };
  const { session_id } = await create({ proxy: { id: proxyId }, location: { timezone: "exit" } });
  expect((await server.request("DELETE", `/proxies/${proxyId}`)).status).toBe(204);
  const { body, status } = await server.request("PATCH", `/browsers/${session_id}`, {
    body: { location: { locale: "en-US" } },
  });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({
    location: { timezone: "Asia/Tokyo", timezone_source: "exit", locale: "en-US", locale_source: "override" },
  });
  expect((await server.request("DELETE", `/browsers/${session_id}`)).status).toBe(204);
});

/** Address and title of the page in front. */
async function page() {
  const { body } = await server.request("POST", `/browsers/${id}/observe`, { body: {} });
  return body as { url: string; title: string };
}

describe("a start page", () => {
  const titled = (title: string) => `data:text/html,<title>${title}</title>`;

  it("is opened in the front tab, after the other changes, again and again", async () => {
    for (const title of ["first", "second", "second"]) {
      const answer = await patch({ start_url: titled(title), tags: { title }, viewport: { width: 640, height: 480 } });
      expect(answer).toMatchObject({ status: 200, body: { start_url: titled(title), tags: { title } } });
      expect(await page()).toMatchObject({ title });
      await server.request("POST", `/browsers/${id}/act`, { body: { type: "navigate", url: titled("other") } });
    }
    expect(await seen()).toMatchObject({ inside: [640, 480] });
  });

  it.each([{}, { start_url: "" }])("stays with %j", async (body) => {
    await patch({ start_url: titled("present") });
    expect((await patch({ ...body, tags: { a: "b" } })).status).toBe(200);
    expect(await page()).toMatchObject({ title: "present" });
    expect((await server.request("GET", `/browsers/${id}`)).body).toMatchObject({ start_url: titled("present") });
  });

  it("that cannot be opened is reported, and the other changes stay", async () => {
    expect(await patch({ start_url: "http://missing.invalid/?secret", tags: { kept: "yes" } })).toMatchObject({
      status: 409,
      body: {
        code: "navigation_failed",
        message: expect.stringMatching(
          /^body\.start_url: Cannot open .*net::ERR_.*\(the other changes were made\)/,
        ) as unknown,
      },
    });
    expect((await server.request("GET", `/browsers/${id}`)).body).toMatchObject({ tags: { kept: "yes" } });
    const { body } = await patch({ start_url: "http://missing.invalid/" });
    expect(body).toMatchObject({
      code: "navigation_failed",
      message: expect.not.stringContaining("other changes") as unknown,
    });
  });
});

describe("a profile is not saved", () => {
  const saved = async (of: string) => (await server.request("POST", `/browsers/${of}/profile/save`)).body;

  it("by a session without one, which can still load one", async () => {
    const { session_id: empty } = await create({});
    expect(await saved(empty)).toMatchObject({
      code: "conflict",
      message: `Browser ${empty} does not save to a profile. Load one with browsers.update, with profile.save_changes.`,
    });
    await server.request("POST", "/profiles", { body: { name: "loaded-later" } });
    const change = { body: { profile: { name: "loaded-later", save_changes: true } } };
    const changed = await server.request("PATCH", `/browsers/${empty}`, change);
    expect(changed.status, JSON.stringify(changed.body)).toBe(200);
    expect(await saved(empty)).toMatchObject({ name: "loaded-later" });
  });

  it("by a session that only reads it, which cannot change that", async () => {
    await server.request("POST", "/profiles", { body: { name: "read" } });
    const { session_id: reader } = await create({ profile: { name: "read" } });
    expect(await saved(reader)).toMatchObject({
      code: "conflict",
      hint: "It only reads its profile, as every fork does. Save the session that it was forked from, or create one with profile.save_changes.",
    });
    const change = { body: { profile: { name: "read", save_changes: true } } };
    expect(await server.request("PATCH", `/browsers/${reader}`, change)).toMatchObject({ status: 409 });
  });
});

it("keeps the note of a stored value that was typed in the session when its options change", async () => {
  const { session_id: changed } = await create({});
  const { query } = server.database;
  await sql`update sessions set options = options || '{"typed_stored": true}' where id = ${changed}`.execute(query);
  const { status } = await server.request("PATCH", `/browsers/${changed}`, {
    body: { disconnect_timeout_seconds: 60 },
  });
  expect(status).toBe(200);
  const row = await query.selectFrom("sessions").select("options").where("id", "=", changed).executeTakeFirst();
  expect(row?.options).toMatchObject({ disconnect_timeout_seconds: 60, typed_stored: true });
  await server.request("DELETE", `/browsers/${changed}`);
});
