import { examineHost, type Placement } from "@shoal/placement";
import { Browser, Extension } from "@shoal/schemas";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Doom, doomedInstances } from "../../testing/doomed-instances.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { manifest, zipOf } from "../../testing/zip.ts";

const { findings } = await examineHost();
const isFullMissing =
  process.env.SHOAL_REQUIRE_ALL !== "1" &&
  findings.some(({ advice, name }) => name === "windows" && advice?.includes(" chromium") === true);

const instances = doomedInstances();
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({}, { aroundPlacement: instances.around });
  await storeProfile(server);
  const form = new FormData();
  form.set(
    "file",
    new Blob([new Uint8Array(await zipOf({ "manifest.json": manifest }))], { type: "application/zip" }),
    "extension.zip",
  );
  form.set("name", "empty");
  const uploaded = await fetch(`${server.baseUrl}/extensions`, {
    method: "POST",
    body: form,
    headers: { authorization: `Bearer ${server.key}` },
  });
  Extension.parse(await uploaded.json());
});
afterAll(() => server.close());

async function storeProfile(to: TestServer): Promise<void> {
  expect((await to.request("POST", "/profiles", { body: { name: "kept" } })).status).toBe(201);
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
    (await to.request("PUT", "/profiles/kept/storage_state", { body: { cookies: [cookie], origins: [] } })).status,
  ).toBe(200);
}

const profile = { name: "kept", save_changes: true };
const rowsOf = (name: string) =>
  server.database.query
    .selectFrom("sessions")
    .select(["id", "ended_at", "ended_reason"])
    .where("name", "=", name)
    .execute();

/** The folders of sessions, without the files that sessions share. */
function sessionFolders(): readonly string[] {
  const sessions = join(server.dataDir, "sessions");
  return readdirSync(sessions)
    .filter((folder) => folder.startsWith("server-"))
    .flatMap((folder) => readdirSync(join(sessions, folder)).filter((name) => name !== "owner.json"));
}

/** Checks that name, profile and files of the session are free. */
async function expectNothingLeft(name: string): Promise<void> {
  await expect.poll(async () => (await rowsOf(name)).filter(({ ended_at }) => ended_at === null)).toEqual([]);
  await expect.poll(() => sessionFolders()).toEqual([]);
  const next = await server.request("POST", "/browsers", { body: { name, profile } });
  expect(next.status, JSON.stringify(next.body)).toBe(200);
  expect((await server.request("DELETE", `/browsers/${Browser.parse(next.body).session_id}`)).status).toBe(204);
  await expect.poll(() => sessionFolders()).toEqual([]);
}

const steps: readonly { readonly step: string; readonly doom: Doom; readonly more: object }[] = [
  ...(isFullMissing
    ? []
    : (["before", "during"] as const).map((when) => ({
        step: `${when} its extensions arrive`,
        doom: { at: "extensions", when } as const,
        more: { extensions: [{ name: "empty" }] },
      }))),
  ...(["before", "during"] as const).map((when) => ({
    step: `${when} its profile arrives`,
    doom: { at: "profile", when } as const,
    more: {},
  })),
  { step: "after its start", doom: { at: "start", when: "after" }, more: {} },
];
const missing = isFullMissing ? " (without extensions: they need a full Chromium)" : "";

it.each(steps)(`leaves nothing of a session whose instance dies $step${missing}`, async ({ doom, more, step }) => {
  const name = step.replaceAll(" ", "-");
  instances.doom(doom);
  const { body, status } = await server.request("POST", "/browsers", {
    body: {
      name,
      profile,
      start_url: "data:text/html,x",
      telemetry: { browser: { console: { enabled: true } } },
      ...more,
    },
  });
  expect(instances.isDone()).toBe(true);
  if (status === 200) {
    expect(doom.at).toBe("start");
    await expect
      .poll(async () => (await rowsOf(name)).map(({ ended_reason }) => ended_reason))
      .toEqual(["instance_lost"]);
  } else {
    expect([status >= 500, body]).toEqual([
      true,
      expect.objectContaining({ message: expect.stringMatching(/./) as unknown }),
    ]);
    expect(await rowsOf(name)).toEqual([]);
  }
  await expectNothingLeft(name);
});

it.each(["before", "during", "after"] as const)(
  "leaves nothing of a session whose instance dies %s it loads a profile while it runs",
  async (when) => {
    const name = `running-${when}`;
    const { session_id: id } = Browser.parse(
      (await server.request("POST", "/browsers", { body: { name, timeout_seconds: 600 } })).body,
    );
    instances.doom({ at: "POST /_instance/assign/files", when });
    const { status } = await server.request("PATCH", `/browsers/${id}`, { body: { tags: { a: "b" }, profile } });
    // After the load, the change may be complete before the end is known.
    if (when !== "after") expect(status).toBeGreaterThanOrEqual(400);
    expect(instances.isDone()).toBe(true);
    await expect
      .poll(async () => (await rowsOf(name)).map(({ ended_reason }) => ended_reason))
      .toEqual(["instance_lost"]);
    await expectNothingLeft(name);
  },
);

it("starts a session on another instance when a waiting one dies while its profile arrives", async () => {
  const others = doomedInstances();
  let placement: Placement | undefined;
  const warm = await startTestServer(
    { warm: 1 },
    { aroundPlacement: (started) => others.around((placement = started)) },
  );
  try {
    await storeProfile(warm);
    await placement?.warmReady();
    others.doom({ at: "profile", when: "during" });
    const { body, status } = await warm.request("POST", "/browsers", { body: { profile } });
    expect([status, others.isDone()], JSON.stringify(body)).toEqual([200, true]);
    const { session_id: id } = Browser.parse(body);
    expect((await warm.request("POST", `/browsers/${id}/profile/save`)).status).toBeLessThan(300);
  } finally {
    await warm.close();
  }
});

it.each(["before", "during"] as const)("answers 503 to a save whose instance dies %s it", async (when) => {
  const name = `saving-${when}`;
  const { session_id: id } = Browser.parse(
    (await server.request("POST", "/browsers", { body: { name, profile, timeout_seconds: 600 } })).body,
  );
  instances.doom({ at: "GET /_instance/profile", when });
  const { body, status } = await server.request("POST", `/browsers/${id}/profile/save`);
  expect([status, body]).toEqual([503, expect.objectContaining({ code: "browser_not_running" })]);
  expect(instances.isDone()).toBe(true);
  await expectNothingLeft(name);
});
