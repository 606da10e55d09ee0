import { OnePasswordConnect } from "@1password/connect";
import { createOutboundRule } from "@shoal/placement";
import { ownProviderTypes } from "@shoal/contract/refusals";
import { waitLimitMs } from "@shoal/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { itemForDomain } from "../domain-match.ts";
import type { CredentialProvider } from "../interface/credential-provider.ts";
import { ProviderFailure } from "../interface/provider-failure.ts";
import { GuardedHttp } from "../provider-http.ts";
import { connectIds, login, stores, type TestStore } from "../testing/stores.ts";
import { ownKinds } from "./kinds.ts";

const ruleWith = (...allowPrivateHosts: string[]) => createOutboundRule({ allowPrivateHosts });
const http = new GuardedHttp(ruleWith("127.0.0.1"));
const soon = () => AbortSignal.timeout(waitLimitMs);

function opened(kind: string, store: TestStore, changes: { readonly token?: string } = {}): CredentialProvider {
  const found = ownKinds.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`no kind ${kind}`);
  const fallbacks = Object.entries(found.settings).flatMap(([name, { fallback }]) =>
    fallback === undefined ? [] : [[name, fallback]],
  );
  return found.open({
    http,
    token: changes.token ?? store.token,
    settings: { ...(Object.fromEntries(fallbacks) as Record<string, string>), ...store.settings },
  });
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => new Error("it succeeded"),
    (error: unknown) => error as Error,
  );

describe.each(Object.entries(stores))("%s", (_name, { kind, start }) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await start();
  });
  afterEach(() => {
    store.standIn.fault = undefined;
  });
  afterAll(() => store.standIn.close());

  it("lists vaults and items, and finds the item of a site", async () => {
    const provider = opened(kind, store);
    const vaults = await provider.test(soon());
    expect(vaults.length).toBeGreaterThan(0);
    const items = await provider.items(soon());
    const found = itemForDomain(items, "shop.example.com");
    expect(found).toMatchObject({ path: store.path });
    expect(vaults).toContainEqual(found?.vault);
    expect(itemForDomain(items, "other.example.net")).toBeUndefined();
    for (const secret of Object.values(login)) expect(JSON.stringify(items)).not.toContain(secret);
  });

  it("reads an item by path and as it was listed", async () => {
    const provider = opened(kind, store);
    const listed = itemForDomain(await provider.items(soon()), "shop.example.com");
    for (const item of [{ path: store.path }, listed ?? { path: "" }])
      expect(await provider.read(item, soon())).toMatchObject({
        values: { username: login.username, password: login.password },
        totp: { secret: login.totp },
      });
    expect(await provider.read({ path: store.missing }, soon())).toBeUndefined();
  });

  it("signs in again when its session was revoked", async () => {
    if (store.revoke === undefined) return;
    const provider = opened(kind, store);
    await provider.items(soon());
    store.revoke();
    expect(await provider.read({ path: store.path }, soon())).toMatchObject({ values: { username: "ada" } });
  });

  it("reports a wrong token without showing it", async () => {
    const wrong = store.token.startsWith("{")
      ? JSON.stringify({ ...(JSON.parse(store.token) as object), client_email: "wrong-token" })
      : "wrong-token";
    // A session of the right token must not help.
    store.revoke?.();
    const failure = await failureOf(opened(kind, store, { token: wrong }).test(soon()));
    expect(failure).toBeInstanceOf(ProviderFailure);
    expect(failure.message).toMatch(/refused|rejected/);
    expect(failure.message).not.toContain("wrong-token");
  });

  it.each([
    ["401", /refused the token/],
    ["403", /refused the token/],
    ["429", /too many requests/],
    ["500", /failed with status 500/],
    ["half", /before the end of its answer/],
    ["huge", /more than 1048576 bytes/],
    ["text", /not JSON/],
    ["redirect", /redirected to http:\/\/169\.254\.169\.254; redirects are not followed/],
    ["shape", /unexpected answer/],
  ] as const)("reports the fault %s in words", async (fault, words) => {
    store.standIn.fault = fault;
    const provider = opened(kind, store);
    const calls = [
      () => provider.test(soon()),
      () => provider.items(soon()),
      () => provider.read({ path: store.path }, soon()),
    ];
    for (const call of calls) {
      const failure = await failureOf(call());
      expect(failure).toBeInstanceOf(ProviderFailure);
      expect(failure.message).toMatch(words);
      expect(failure.message).not.toContain(store.token);
      if (fault === "429") expect(failure).toMatchObject({ retryAfterMs: 120_000 });
    }
  });

  it("ends at the deadline of a silent store, and works afterwards", async () => {
    store.standIn.fault = "slow";
    const provider = opened(kind, store);
    const deadlineMs = 50; // The store never answers.
    expect(await failureOf(provider.items(AbortSignal.timeout(deadlineMs)))).toMatchObject({ name: "TimeoutError" });
    store.standIn.fault = undefined;
    expect((await provider.items(soon())).length).toBeGreaterThan(0);
  });

  it("waits for a short retry-after and repeats the request", async () => {
    store.standIn.busyOnce = "0";
    expect((await opened(kind, store).test(soon())).length).toBeGreaterThan(0);
  });
});

it("has the kinds that the contract lists", () => {
  expect(ownKinds.map(({ kind }) => kind)).toEqual(ownProviderTypes);
});

describe("addresses", () => {
  const get = (url: string, allowed: readonly string[] = []) =>
    failureOf(new GuardedHttp(ruleWith(...allowed)).send({ url, signal: soon() }));

  it.each([
    "http://127.0.0.1:1",
    "http://169.254.169.254",
    "http://[::1]:1",
    "http://0x7f000001:1",
    "http://localhost:1",
  ])("refuses %s without the permission of the operator", async (url) => {
    expect((await get(url)).message).toMatch(/may not be reached: .*credential_provider_hosts/);
  });

  it("refuses http to a public address", async () => {
    expect((await get("http://1.1.1.1")).message).toMatch(/http would reveal the token; use https/);
  });

  it("names a host that does not answer", async () => {
    expect((await get("http://127.0.0.1:1", ["127.0.0.1"])).message).toBe(
      "127.0.0.1:1 cannot be reached (ECONNREFUSED).",
    );
  });
});

describe("the stand-in of 1Password Connect", () => {
  it("serves the client of 1Password", async () => {
    const store = await stores["1Password Connect"]?.start();
    if (store === undefined) throw new Error("no stand-in");
    try {
      const client = OnePasswordConnect({ serverURL: store.standIn.url, token: store.token, keepAlive: false });
      expect(await client.listVaults()).toMatchObject([{ id: connectIds.vault, name: "Team" }]);
      const item = await client.getItem(connectIds.vault, "Shop");
      expect(item.fields?.find(({ purpose }) => String(purpose) === "PASSWORD")?.value).toBe(login.password);
      expect(await client.getItemOTP(connectIds.vault, connectIds.item)).toBe("123456");
    } finally {
      await store.standIn.close();
    }
  });
});

describe("the token of a 1Password service account", () => {
  const problemOf = async (content: object | string) => {
    const token =
      typeof content === "string" ? content : `ops_${Buffer.from(JSON.stringify(content)).toString("base64url")}`;
    const provider = ownKinds.find(({ kind }) => kind === "onepassword")?.open({ http, token, settings: {} });
    const { message } = await failureOf(provider?.test(soon()) ?? Promise.resolve());
    expect(message).not.toContain(token);
    return message;
  };

  it("is refused before a connection unless it is for a host of 1Password", async () => {
    for (const host of [
      "127.0.0.1",
      "1password.com.evil.example",
      "evil1password.com",
      "http://1password.com@10.0.0.1",
    ])
      expect(await problemOf({ signInAddress: host })).toMatch(/not for 1password\.com/);
    expect(await problemOf("ops_short")).toMatch(/incomplete/);
    expect(await problemOf("hvs.token")).toMatch(/must begin with ops_/);
  });

  it("is refused by 1Password's package when it is malformed", async () => {
    for (const signInAddress of ["team.1password.eu", "https://my.1password.com"])
      expect(await problemOf({ signInAddress })).toMatch(/1Password refused the request/);
  });
});
