import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createId } from "@shoal/primitives";
import { eventuallyPasses, waitLimitMs } from "@shoal/testkit";
import { completeConfig } from "../../config/config.ts";
import type { Settings } from "../../config/settings.ts";
import { Envelopes } from "../../storage/envelopes/envelopes.ts";
import { openMasterKeys } from "../../storage/envelopes/master-keys.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import type { CredentialLookup } from "./credential-lookup.ts";
import { credentialProvidersFeature } from "./feature.ts";
import type { FoundCredential, WantedCredential } from "./credential-lookup.ts";
import { ProviderStore } from "./provider-store.ts";
import { startStandIn, type StoreAnswer } from "./testing/stand-in.ts";
import { stores, type TestStore } from "./testing/stores.ts";

let server: TestServer;
let envelopes: Envelopes;
let folder: string;
/** Waits long for its providers. */
let parts: { readonly credentialLookup: CredentialLookup };
let doppler: TestStore;
let connect: TestStore;
const closers: (() => void)[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-lookup-"));
  server = await startTestServer();
  const keys = await openMasterKeys(completeConfig({}), { serverSecret: "x".repeat(32), installation: "test" });
  envelopes = new Envelopes(keys);
  parts = await opened();
  const [first, second] = await Promise.all([stores.Doppler?.start(), stores["1Password Connect"]?.start()]);
  if (first === undefined || second === undefined) throw new Error("no stand-ins");
  [doppler, connect] = [first, second];
});
afterEach(() => {
  doppler.standIn.fault = undefined;
  connect.standIn.fault = undefined;
});
afterAll(async () => {
  for (const close of closers) close();
  await server.close();
  await Promise.all([doppler.standIn.close(), connect.standIn.close()]);
  rmSync(folder, { recursive: true, force: true });
});

async function opened(settings: Settings = {}): Promise<{ readonly credentialLookup: CredentialLookup }> {
  const config = completeConfig({
    credential_provider_hosts: ["127.0.0.1"],
    credential_provider_timeout_seconds: 60,
    ...settings,
  });
  const { database } = server;
  const { changes, provides } = await credentialProvidersFeature({
    config,
    database,
    envelopes,
    otherServers: () => [],
  });
  closers.push(
    database.onChange((change) => {
      if (change === undefined || change.table === "credential_providers") changes.credential_providers(change?.id);
    }),
  );
  return { credentialLookup: provides };
}

async function project(): Promise<string> {
  return (await server.addProject(`project ${createId()}`)).id;
}

interface Options {
  readonly name: string;
  readonly cacheSeconds?: number;
  readonly priority?: number;
  readonly token?: string;
  readonly settings?: Readonly<Record<string, string>>;
}

/** 1Password Connect with two items of one title, for two sites. */
async function startTwoShops() {
  const vault = { id: "v".repeat(26), name: "Team" };
  const items = ["one", "two"].map((name) => ({
    id: (name[0] ?? "").repeat(26),
    title: "Shop",
    category: "LOGIN",
    vault: { id: vault.id },
    urls: [{ primary: true, href: `https://${name}.example` }],
    fields: [{ id: "password", type: "CONCEALED", purpose: "PASSWORD", label: "password", value: `of ${name}` }],
  }));
  const root = `/v1/vaults/${vault.id}/items`;
  const standIn = await startStandIn(({ path }): StoreAnswer => {
    if (path === "/v1/vaults") return [200, [vault]];
    if (path === root) return [200, items];
    const item = items.find(({ id }) => path === `${root}/${id}`);
    return item === undefined ? [404, {}] : [200, item];
  });
  return { standIn, ids: items.map(({ id }) => id), vault };
}

async function add(projectId: string, kind: "doppler" | "onepassword_connect", options: Options): Promise<string> {
  const { settings, token } = kind === "doppler" ? doppler : connect;
  const row = await new ProviderStore(server.database, envelopes).insert(
    projectId,
    {
      name: options.name,
      provider_type: kind,
      settings: options.settings ?? settings,
      token: options.token ?? token,
      cache_ttl_seconds: options.cacheSeconds ?? 300,
      priority: options.priority ?? 0,
    },
    50,
  );
  return row?.id ?? "";
}

const find = (projectId: string, wanted: WantedCredential, from = parts): Promise<FoundCredential> =>
  from.credentialLookup.find(projectId, wanted, AbortSignal.timeout(waitLimitMs));
const shop = { domain: "shop.example.com" };
const login = { username: "ada", password: "correct horse" };

describe("looking for a login", () => {
  it("asks the providers in the order of priority, and takes the first match", async () => {
    const id = await project();
    await add(id, "doppler", { name: "later", priority: 1 });
    await add(id, "onepassword_connect", { name: "first", priority: -1 });
    expect(await find(id, shop)).toEqual({
      values: login,
      totp: { secret: "JBSWY3DPEHPK3PXP" },
      sites: [expect.stringContaining("example.com")],
      source: { provider: "first", path: "Team/Shop" },
    });
    expect(await find(id, { domain: "www.example.com" })).toMatchObject({ source: { provider: "first" } });
  });

  it("asks the next provider when one is down, slow or without a match", async () => {
    const id = await project();
    await add(id, "onepassword_connect", { name: "down", priority: 0, cacheSeconds: 0 });
    await add(id, "doppler", { name: "up", priority: 1, cacheSeconds: 0 });
    for (const fault of ["500", "huge"] as const) {
      connect.standIn.fault = fault;
      expect(await find(id, shop)).toMatchObject({ values: login, source: { provider: "up" } });
    }
    connect.standIn.fault = "500";
    doppler.standIn.fault = "403";
    expect(await find(id, shop)).toEqual({
      reasons: [
        { provider: "down", reason: expect.stringContaining("failed with status 500") as string },
        { provider: "up", reason: expect.stringContaining("refused the token (403)") as string },
      ],
    });
    doppler.standIn.fault = undefined;
    connect.standIn.fault = undefined;
    expect(await find(id, { domain: "none.example.net" })).toEqual({
      reasons: [
        { provider: "down", reason: "It has no item for none.example.net." },
        { provider: "up", reason: "It has no item for none.example.net." },
      ],
    });
  });

  it("asks the next provider when one does not answer in time", async () => {
    const id = await project();
    await add(id, "onepassword_connect", { name: "slow", priority: 0, cacheSeconds: 0 });
    await add(id, "doppler", { name: "known", priority: 1 });
    const impatient = await opened({ credential_provider_timeout_seconds: 1 });
    // The second provider answers from its cache, so that its answer needs no time.
    await eventuallyPasses(async () => {
      expect(await find(id, { ...shop, provider: "known" }, impatient)).toMatchObject({ values: login });
    });
    connect.standIn.fault = "slow";
    expect(await find(id, shop, impatient)).toMatchObject({ values: login, source: { provider: "known" } });
    expect(await find(id, { ...shop, provider: "slow" }, impatient)).toEqual({
      reasons: [{ provider: "slow", reason: "It did not answer within 1 s." }],
    });
  });

  it("asks only a named provider, by domain or path", async () => {
    const id = await project();
    await add(id, "onepassword_connect", { name: "one" });
    const two = await add(id, "doppler", { name: "two" });
    expect(await find(id, { ...shop, provider: "two" })).toMatchObject({ source: { provider: "two" } });
    expect(await find(id, { provider: "one", path: "Team/Shop" })).toMatchObject({ values: login });
    expect(await find(id, { provider: "one", path: "Team/None" })).toEqual({
      reasons: [{ provider: "one", reason: "It has no item at this path." }],
    });
    expect(await find(id, { ...shop, provider: "none" })).toEqual({
      reasons: [{ provider: "none", reason: "The project has no credential provider of this name." }],
    });
    await server.database.query
      .updateTable("credential_providers")
      .set({ enabled: false })
      .where("id", "=", two)
      .execute();
    // A notification of the database evicts the cached row.
    await expect
      .poll(() => find(id, { ...shop, provider: "two" }))
      .toEqual({
        reasons: [{ provider: "two", reason: "It is disabled." }],
      });
  });

  it("keeps two items of one path apart: each password comes with its own sites", async () => {
    const { ids, standIn, vault } = await startTwoShops();
    const id = await project();
    await add(id, "onepassword_connect", { name: "one", settings: { address: standIn.url } });
    for (const name of ["one", "two", "one"])
      expect(await find(id, { domain: `${name}.example` })).toMatchObject({
        values: { password: `of ${name}` },
        sites: [`https://${name}.example`],
      });
    for (const [index, name] of ["one", "two"].entries())
      expect(await find(id, { provider: "one", path: `${vault.name}/${ids[index] ?? ""}` })).toMatchObject({
        values: { password: `of ${name}` },
        sites: [`https://${name}.example`],
      });
    expect(await find(id, { provider: "one", path: "Team/Shop" })).toEqual({
      reasons: [
        {
          provider: "one",
          reason: `Several items have this path, with the ids ${ids.join(", ")}. Give them different titles.`,
        },
      ],
    });
    await standIn.close();
  });

  it("finds nothing in the providers of other projects", async () => {
    const [owner, stranger] = [await project(), await project()];
    await add(owner, "doppler", { name: "own" });
    expect(await find(stranger, shop)).toEqual({ reasons: [] });
    expect(await find(stranger, { provider: "own", path: doppler.path })).toHaveProperty("reasons");
  });

  it("caches answers for the time of the provider, until it changes on any server", async () => {
    const id = await project();
    const provider = await add(id, "doppler", { name: "cached", cacheSeconds: 300 });
    await find(id, shop);
    const { length } = doppler.standIn.asked;
    doppler.standIn.fault = "500";
    expect(await find(id, shop)).toMatchObject({ values: login });
    expect(doppler.standIn.asked).toHaveLength(length);
    // As another server would.
    await new ProviderStore(server.database, envelopes).update(id, provider, () =>
      Promise.resolve({ cache_ttl_seconds: 0 }),
    );
    expect(await find(id, shop)).toHaveProperty("reasons");
    doppler.standIn.fault = undefined;
    await find(id, shop);
    const before = doppler.standIn.asked.length;
    await find(id, shop);
    expect(doppler.standIn.asked.length).toBeGreaterThan(before);
  });

  it("ends with the caller's signal", async () => {
    const id = await project();
    await add(id, "doppler", { name: "silent" });
    doppler.standIn.fault = "slow";
    const stop = new AbortController();
    const finding = parts.credentialLookup.find(id, shop, stop.signal);
    stop.abort(new Error("the caller left"));
    await expect(finding).rejects.toThrow("the caller left");
  });
});

describe("logins of the operator", () => {
  it("are for the chosen projects, after their own providers", async () => {
    const chosen = await server.addProject("chosen");
    const other = await project();
    writeFileSync(join(folder, "shop.json"), JSON.stringify({ ...login, url: "shop.example.com" }), { mode: 0o600 });
    const own = await opened({ credential_files: folder, credential_projects: ["chosen"] });
    expect(await find(chosen.id, shop, own)).toEqual({
      values: login,
      sites: [expect.stringContaining("example.com")],
      source: { provider: "files", path: "files/shop" },
    });
    expect(await find(chosen.id, { provider: "files", path: "files/shop" }, own)).toMatchObject({ values: login });
    expect(await find(other, shop, own)).toEqual({ reasons: [] });
    expect(await find(other, { provider: "files", path: "files/shop" }, own)).toHaveProperty("reasons");
    await add(chosen.id, "doppler", { name: "own" });
    expect(await find(chosen.id, shop, own)).toMatchObject({ source: { provider: "own" } });
    const everywhere = await opened({ credential_files: folder, credential_projects: ["*"] });
    expect(await find(other, shop, everywhere)).toMatchObject({ source: { provider: "files" } });
  });

  it("stop the start when the settings are incomplete", async () => {
    await expect(opened({ credential_list_command: ["/bin/ls"] })).rejects.toThrow(/needs credential_command/);
    await expect(opened({ credential_provider_modules: ["/none/provider.mjs"] })).rejects.toThrow(
      /credential_provider_modules: \/none\/provider.mjs failed/,
    );
  });
});
