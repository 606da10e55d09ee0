import { expect, it } from "vitest";
import { AskedProvider } from "./asked-provider.ts";
import type { CredentialProvider, ProviderItem } from "./interface/credential-provider.ts";
import { ProviderFailure } from "./interface/provider-failure.ts";
import { RenewedToken } from "./stores/renewed-token.ts";

const item: ProviderItem = {
  id: "1",
  title: "Shop",
  path: "Team/Shop",
  vault: { id: "v", name: "Team" },
  urls: ["https://shop.example"],
};

/** A provider that counts its calls, with a cache of ten seconds and a time that the test advances. */
function opened() {
  const time = { ms: 0 };
  const calls = { items: 0, read: 0 };
  const fault: { error: Error | undefined } = { error: undefined };
  const provider: CredentialProvider = {
    test: () => Promise.resolve([]),
    items() {
      calls.items += 1;
      return fault.error === undefined ? Promise.resolve([item]) : Promise.reject(fault.error);
    },
    read() {
      calls.read += 1;
      return Promise.resolve({ values: { password: "a" } });
    },
  };
  const asked = new AskedProvider({
    open: () => Promise.resolve({ provider, token: "t" }),
    timeoutMs: 60_000,
    cacheMs: 10_000,
    now: () => time.ms,
  });
  return { asked, calls, fault, time };
}
const { signal } = new AbortController();

it("keeps items and values for the time of the cache, and asks again then", async () => {
  const { asked, calls, time } = opened();
  const ask = () => Promise.all([asked.items(signal), asked.read(item, signal)]);
  await ask();
  time.ms = 9_999;
  await ask();
  expect(calls).toEqual({ items: 1, read: 1 });
  time.ms = 10_000;
  await ask();
  expect(calls).toEqual({ items: 2, read: 2 });
});

it("asks a store not before the end of its pause, and says how long that is", async () => {
  const { asked, calls, fault, time } = opened();
  fault.error = new ProviderFailure("too many requests", { retryAfterMs: 5_000 });
  await expect(asked.items(signal)).rejects.toThrow("too many requests");
  fault.error = undefined;
  time.ms = 3_500;
  await expect(asked.items(signal)).rejects.toMatchObject({
    message: "The store requires a pause of 2 s more.",
    retryAfterMs: 1_500,
  });
  expect(calls.items).toBe(1);
  time.ms = 5_000;
  expect(await asked.items(signal)).toHaveLength(1);
});

it("renews an access token half a minute before its end, and after a refusal", async () => {
  const time = { ms: 0 };
  let count = 0;
  const token = new RenewedToken(
    () => Promise.resolve({ token: `token ${String((count += 1))}`, seconds: 90 }),
    () => time.ms,
  );
  expect(await token.get(signal)).toBe("token 1");
  time.ms = 59_999;
  expect(await token.get(signal)).toBe("token 1");
  time.ms = 60_000;
  expect(await token.get(signal)).toBe("token 2");
  token.forget("token 1");
  expect(await token.get(signal)).toBe("token 2");
  token.forget("token 2");
  expect(await token.get(signal)).toBe("token 3");
});
