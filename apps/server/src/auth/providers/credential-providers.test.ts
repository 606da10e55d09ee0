import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { tableContents } from "../../testing/table-contents.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { stores, type TestStore } from "./testing/stores.ts";

let server: TestServer;
/** Waits a second for its providers. */
let impatient: TestServer;
let folder: string;
let doppler: TestStore;
let other: { id: string; key: string };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-provider-module-"));
  const path = join(folder, "team.mjs");
  writeFileSync(
    path,
    `export const credentialProviders = [{
      kind: "team_store", title: "Team store", settings: { shelf: { description: "the shelf" } },
      open: ({ settings, token }) => ({
        test: async () => {
          if (settings.shelf === "empty") throw new Error("no shelf for " + token);
          if (settings.shelf === "endless") await new Promise(() => {});
          return [{ id: "shelf", name: settings.shelf }];
        },
        items: async () => [],
        read: async () => undefined,
      }),
    }];`,
  );
  server = await startTestServer({
    credential_provider_hosts: ["127.0.0.1"],
    credential_provider_timeout_seconds: 60,
    credential_provider_modules: [path],
  });
  impatient = await startTestServer({
    credential_provider_hosts: ["127.0.0.1"],
    credential_provider_timeout_seconds: 1,
    credential_provider_modules: [path],
  });
  other = await server.addProject("other");
  const started = await stores.Doppler?.start();
  if (started === undefined) throw new Error("no stand-in");
  doppler = started;
});
afterEach(() => {
  doppler.standIn.fault = undefined;
});
afterAll(async () => {
  await server.close();
  await impatient.close();
  await doppler.standIn.close();
  rmSync(folder, { recursive: true, force: true });
});

const base = "/org/credential_providers";
const request = (method: string, path: string, body?: unknown, key = server.key) =>
  server.request(method, base + path, { key, ...(body !== undefined && { body }) });
let names = 0;
const bodyOf = (changes: object = {}) => ({
  provider_type: "doppler",
  name: `store ${String((names += 1))}`,
  token: doppler.token,
  settings: doppler.settings,
  ...changes,
});

async function created(changes: object = {}): Promise<{ id: string; name: string }> {
  const { body, status } = await request("POST", "", bodyOf(changes));
  expect(status, JSON.stringify(body)).toBe(201);
  return body as { id: string; name: string };
}

describe("a credential provider", () => {
  it("is created, changed, listed and deleted, and its token is never shown", async () => {
    const provider = await created({ name: "crud", token: "canary-token-a" });
    expect(provider).toMatchObject({
      provider_type: "doppler",
      name: "crud",
      enabled: true,
      priority: 0,
      cache_ttl_seconds: 300,
      settings: doppler.settings,
    });
    expect(provider).not.toHaveProperty("token");
    const changed = await request("PATCH", `/${provider.id}`, {
      name: "crud 2",
      enabled: false,
      priority: -3,
      cache_ttl_seconds: 0,
      token: "canary-token-b",
      settings: { config: null },
    });
    expect(changed).toMatchObject({ status: 200, body: { name: "crud 2", enabled: false, priority: -3 } });
    expect((changed.body as { settings: object }).settings).not.toHaveProperty("config");
    expect((await request("GET", `/${provider.id}`)).body).toEqual(changed.body);
    expect((await request("GET", "?query=CRUD")).body).toEqual([changed.body]);
    expect((await request("DELETE", `/${provider.id}`)).status).toBe(204);
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/test"],
      ["GET", "/items"],
    ] as const)
      expect(await request(method, `/${provider.id}${path}`)).toMatchObject({
        status: 404,
        body: { code: "not_found" },
      });
  });

  it("is listed in the order in which it is asked", async () => {
    const ids = [];
    for (const priority of [5, 1, 5]) ids.push((await created({ name: `order ${String(ids.length)}`, priority })).id);
    const { body } = await request("GET", "?query=order");
    expect((body as { id: string }[]).map(({ id }) => id)).toEqual([ids[1], ids[0], ids[2]]);
  });

  it("has a name that is unique in its project", async () => {
    const { id, name } = await created();
    expect(await request("POST", "", bodyOf({ name }))).toMatchObject({ status: 409, body: { code: "name_taken" } });
    const second = await created();
    expect(await request("PATCH", `/${second.id}`, { name })).toMatchObject({
      status: 409,
      body: { code: "name_taken" },
    });
    expect((await request("POST", "", bodyOf({ name }), other.key)).status).toBe(201);
    expect((await request("GET", `/${id}`, undefined, other.key)).status).toBe(404);
  });

  it.each([
    [{ provider_type: "keychain" }, "body.provider_type", /is not a kind of provider here.*Known kinds: onepassword, /],
    [{ settings: { adress: "x" } }, "body.settings.adress", /is not a setting of doppler.*address, project, config/],
    [{ provider_type: "vault", settings: {} }, "body.settings.address", /is required for vault/],
    [{ provider_type: "vault", settings: { address: "vault.example" } }, "body.settings.address", /http or https URL/],
    [{ settings: { address: "ftp://a.example" } }, "body.settings.address", /http or https URL/],
    [{ settings: { address: "https://u:p@a.example" } }, "body.settings.address", /must not contain a user name/],
    [
      { settings: { address: "http://10.0.0.1" } },
      "body.settings.address",
      /private network.*credential_provider_hosts/,
    ],
    [{ settings: { address: "http://[::1]:8200" } }, "body.settings.address", /loopback/],
    [
      { provider_type: "vault", settings: { address: "https://v.example", kv_version: "3" } },
      "body.settings.kv_version",
      /expected 1 or 2/,
    ],
    [{ provider_type: "google_secret_manager", settings: {} }, "body.token", /JSON key/],
    [{ token: "a\0b" }, "body.token", /NUL/],
    [{ token: "" }, "body.token", /./],
    [{ settings: { project: "" } }, "body.settings.project", /./],
  ])("is refused with %j", async (changes, field, words) => {
    const { body, status } = await request("POST", "", bodyOf(changes));
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "bad_request" });
    expect(JSON.stringify(body)).toContain(field.replace("body.", ""));
    expect(JSON.stringify(body)).toMatch(words);
    expect(JSON.stringify(body)).not.toContain(doppler.token);
  });

  it("needs its token again when its address changes", async () => {
    const { id } = await created();
    const settings = { address: "https://elsewhere.example" };
    expect(await request("PATCH", `/${id}`, { settings })).toMatchObject({
      status: 400,
      body: { field: "body.token", message: expect.stringContaining("settings.address changes") as string },
    });
    expect(await request("PATCH", `/${id}`, { settings: { address: null } })).toMatchObject({ status: 400 });
    expect((await request("PATCH", `/${id}`, { settings: { config: "dev" } })).status).toBe(200);
    expect((await request("PATCH", `/${id}`, { settings, token: "another" })).status).toBe(200);
  });

  it("exists at most 50 times in a project", async () => {
    const crowded = await server.addProject("crowded");
    const answers = await Promise.all(Array.from({ length: 52 }, () => request("POST", "", bodyOf(), crowded.key)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(50);
    expect(answers.find(({ status }) => status !== 201)).toMatchObject({
      status: 409,
      body: { code: "conflict", limit: 50 },
    });
  });
});

describe("a test", () => {
  it("lists the vaults, or says why the provider failed", async () => {
    const { id } = await created();
    expect(await request("POST", `/${id}/test`)).toMatchObject({
      status: 200,
      body: { success: true, vaults: [{ id: "sites.prd", name: "sites.prd" }] },
    });
    doppler.standIn.fault = "401";
    expect((await request("POST", `/${id}/test`)).body).toEqual({
      success: false,
      vaults: [],
      error: `${new URL(doppler.standIn.url).host} refused the token (401); check that it is valid and may read these items.`,
    });
  });

  it("says that a provider did not answer in time", async () => {
    doppler.standIn.fault = "slow";
    const silent = bodyOf({ provider_type: "team_store", token: "team-secret", settings: { shelf: "endless" } });
    for (const body of [bodyOf(), silent]) {
      const made = await impatient.request("POST", base, { body });
      const { id } = made.body as { id: string };
      expect((await impatient.request("POST", `${base}/${id}/test`)).body).toMatchObject({
        success: false,
        error: "It did not answer within 1 s.",
      });
    }
  });

  it("reports the errors of a module, without the token", async () => {
    const module = { provider_type: "team_store", token: "team-secret" };
    const { id } = await created({ ...module, settings: { shelf: "first" } });
    expect((await request("POST", `/${id}/test`)).body).toMatchObject({ success: true, vaults: [{ name: "first" }] });
    await request("PATCH", `/${id}`, { settings: { shelf: "empty" } });
    expect((await request("POST", `/${id}/test`)).body).toMatchObject({ success: false, error: "no shelf for •••" });
  });
});

describe("the items", () => {
  it("are listed without values, and cached until the provider changes", async () => {
    const { id } = await created();
    const items = {
      items: [
        {
          id: "SHOP",
          title: "SHOP",
          vault_id: "sites.prd",
          vault_name: "sites.prd",
          path: "sites.prd/SHOP",
          urls: ["https://shop.example.com/login"],
        },
      ],
    };
    expect(await request("GET", `/${id}/items`)).toMatchObject({ status: 200, body: items });
    const { length } = doppler.standIn.asked;
    expect((await request("GET", `/${id}/items`)).body).toEqual(items);
    expect(doppler.standIn.asked).toHaveLength(length);
    await request("PATCH", `/${id}`, { priority: 9 });
    expect((await request("GET", `/${id}/items`)).body).toEqual(items);
    expect(doppler.standIn.asked).toHaveLength(length + 1);
  });

  it("answer 502 with the reason when the provider fails, and pause when the store requires it", async () => {
    const { id, name } = await created();
    doppler.standIn.fault = "500";
    expect(await request("GET", `/${id}/items`)).toMatchObject({
      status: 502,
      body: {
        code: "bad_gateway",
        message: expect.stringMatching(`Credential provider "${name}": .* failed with status 500`) as string,
      },
    });
    doppler.standIn.fault = "429";
    const busy = await request("GET", `/${id}/items`);
    expect(busy).toMatchObject({
      status: 502,
      body: { message: expect.stringContaining("too many requests") as string },
    });
    expect(busy.headers.get("retry-after")).toBe("120");
    doppler.standIn.fault = undefined;
    const { length } = doppler.standIn.asked;
    expect((await request("POST", `/${id}/test`)).body).toMatchObject({
      success: false,
      error: expect.stringMatching(/The store requires a pause of \d+ s more/) as string,
    });
    expect(doppler.standIn.asked).toHaveLength(length);
  });
});

it("shows tokens in no log, audit entry or row", async () => {
  const { id } = await created({ token: doppler.token });
  for (const fault of [undefined, "401", "text", "half"] as const) {
    doppler.standIn.fault = fault;
    await request("POST", `/${id}/test`);
    await request("GET", `/${id}/items`);
  }
  const start = new Date(Date.now() - 60 * 60 * 1000).toISOString();
  const end = new Date(Date.now() + 60 * 60 * 1000).toISOString();
  const audit = await server.request("GET", `/audit-logs?start=${start}&end=${end}&limit=100`);
  expect(JSON.stringify(audit.body)).toContain("operation");
  for (const text of [server.log(), await tableContents(server.database), JSON.stringify(audit.body)])
    for (const secret of [doppler.token, "canary-token-a", "canary-token-b", "team-secret", "correct horse"]) {
      expect(text.includes(secret), secret).toBe(false);
      expect(text.includes(Buffer.from(secret).toString("hex")), secret).toBe(false);
    }
});
