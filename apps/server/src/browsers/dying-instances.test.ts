import { examineHost } from "@shoal/placement";
import { Browser, Extension } from "@shoal/schemas";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type Doom, doomedInstances } from "../testing/doomed-instances.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";
import { manifest, zipOf } from "../testing/zip.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const { findings } = await examineHost();
const isFullMissing =
  process.env.SHOAL_REQUIRE_ALL !== "1" && findings.some(({ advice, name }) => name === "windows" && advice?.includes(" chromium") === true);

const instances = doomedInstances();
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({}, { aroundPlacement: instances.around });
  expect((await server.request("POST", "/profiles", { body: { name: "kept" } })).status).toBe(201);
  const cookie = { name: "a", value: "b", domain: "site.example", path: "/", expires: -1, httpOnly: false, secure: false, sameSite: "Lax" };
  expect((await server.request("PUT", "/profiles/kept/storage_state", { body: { cookies: [cookie], origins: [] } })).status).toBe(200);
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(await zipOf({ "manifest.json": manifest }))], { type: "application/zip" }), "extension.zip");
  form.set("name", "empty");
  const uploaded = await fetch(`${server.baseUrl}/extensions`, { method: "POST", body: form, headers: { authorization: `Bearer ${server.key}` } });
  Extension.parse(await uploaded.json());
});
afterAll(() => server.close());

const profile = { name: "kept", save_changes: true };
const rowsOf = (name: string) =>
  server.database.query.selectFrom("sessions").select(["id", "ended_at", "ended_reason"]).where("name", "=", name).execute();

/** What the sessions of the server have on its disk; beside the folder with those lies what all share. */
function sessionFolders(): readonly string[] {
  const sessions = join(server.dataDir, "sessions");
  return readdirSync(sessions)
    .filter((folder) => folder.startsWith("server-"))
    .flatMap((folder) => readdirSync(join(sessions, folder)).filter((name) => name !== "owner.json"));
}

/** Nothing of it holds anything: neither its name, nor the profile, nor a file. */
async function expectNothingLeft(name: string): Promise<void> {
  await expect.poll(async () => (await rowsOf(name)).filter(({ ended_at }) => ended_at === null), { timeout: 60_000 }).toEqual([]);
  await expect.poll(() => sessionFolders(), { timeout: 60_000 }).toEqual([]);
  const next = await server.request("POST", "/browsers", { body: { name, profile } });
  expect(next.status, JSON.stringify(next.body)).toBe(200);
  expect((await server.request("DELETE", `/browsers/${Browser.parse(next.body).session_id}`)).status).toBe(204);
  await expect.poll(() => sessionFolders(), { timeout: 60_000 }).toEqual([]);
}

const steps: readonly (readonly [string, string, object])[] = [
  ["its profile is loaded", "PUT /_instance/profile", {}],
  ...(isFullMissing ? [] : [["its extensions are loaded", "POST /extensions", { extensions: [{ name: "empty" }] }] as const]),
  ["it is told the rest", "POST /_instance/assign", {}],
];
const missing = isFullMissing ? " (without extensions: they need a full Chromium)" : "";

// After one step is before the next.
it.each(
  steps.flatMap(([step, at, more], index) =>
    (["before", "during", ...(index === steps.length - 1 ? ["after" as const] : [])] as const).map((when) => ({
      step,
      when,
      doom: { at, when } satisfies Doom,
      more,
    })),
  ),
)(`leaves nothing of a session whose instance dies $when $step${missing}`, async ({ doom, more, step, when }) => {
  const name = `${step} ${when}`.replaceAll(" ", "-");
  instances.doom(doom);
  const { body, status } = await server.request("POST", "/browsers", {
    body: { name, profile, start_url: "data:text/html,x", telemetry: { browser: { console: { enabled: true } } }, ...more },
  });
  expect(instances.isDone()).toBe(true);
  if (status === 200) {
    // It had been told all.
    expect([doom.at, doom.when]).toEqual(["POST /_instance/assign", "after"]);
    await expect.poll(async () => (await rowsOf(name)).map(({ ended_reason }) => ended_reason), { timeout: 60_000 }).toEqual(["instance_lost"]);
  } else {
    expect([status >= 500, body]).toEqual([true, expect.objectContaining({ message: expect.stringMatching(/./) as unknown })]);
    expect(await rowsOf(name)).toEqual([]);
  }
  await expectNothingLeft(name);
});

it.each(["before", "during", "after"] as const)("leaves nothing of one whose instance dies %s it loads a profile while it runs", async (when) => {
  const name = `running-${when}`;
  const { session_id: id } = Browser.parse((await server.request("POST", "/browsers", { body: { name, timeout_seconds: 600 } })).body);
  instances.doom({ at: "PUT /_instance/profile", when });
  expect((await server.request("PATCH", `/browsers/${id}`, { body: { tags: { a: "b" }, profile } })).status).toBeGreaterThanOrEqual(400);
  expect(instances.isDone()).toBe(true);
  await expect.poll(async () => (await rowsOf(name)).map(({ ended_reason }) => ended_reason), { timeout: 60_000 }).toEqual(["instance_lost"]);
  await expectNothingLeft(name);
});

it.each(["before", "during"] as const)("answers 503 to a save whose instance dies %s it", async (when) => {
  const name = `saving-${when}`;
  const { session_id: id } = Browser.parse((await server.request("POST", "/browsers", { body: { name, profile, timeout_seconds: 600 } })).body);
  instances.doom({ at: "GET /_instance/profile", when });
  const { body, status } = await server.request("POST", `/browsers/${id}/profile/save`);
  expect([status, body]).toEqual([503, expect.objectContaining({ code: "browser_not_running" })]);
  expect(instances.isDone()).toBe(true);
  await expectNothingLeft(name);
});
