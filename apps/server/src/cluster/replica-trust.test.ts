import { createHash, randomBytes } from "node:crypto";
import { afterEach, expect, it, vi } from "vitest";
import { KeyPolicy } from "@shoal/contract/rights";
import type { Authenticator } from "../http/auth/access.ts";
import { trustingReplicas } from "./replica-forwarding.ts";
import { createReplicaTrust, type Vouched } from "./replica-trust.ts";

const secret = randomBytes(32);
const [one, two] = [
  createReplicaTrust(secret, "server secret", "one"),
  createReplicaTrust(secret, "server secret", "two"),
];
const request = { method: "GET", path: "/browsers/x?y=1" };
const vouched: Vouched = {
  baseUrl: "https://shoal.example/api",
  clientIp: "192.0.2.1",
  access: {
    baseUrl: "https://shoal.example/api",
    projectId: "p",
    namedProjectId: undefined,
    key: {
      id: "k",
      name: "key",
      project_id: null,
      created_by_email: "e@example.com",
      deployment_id: null,
      expiresAtMs: Infinity,
    },
  },
};
const read = (trust: typeof one, header: string, sent = request) =>
  trust.read({ headers: { "x-shoal-replica": header }, method: sent.method, url: sent.path });

afterEach(() => {
  vi.useRealTimers();
});

it("transfers caller, project and address", () => {
  expect(read(two, one.vouch("two", request, vouched))).toEqual({ ...vouched, hasPolicy: false });
  const byToken = { ...vouched, access: undefined };
  expect(read(two, one.vouch("two", request, byToken))).toEqual({ ...byToken, hasPolicy: false });
  expect(two.read({ headers: {}, method: "GET", url: "/" })).toBeUndefined();
});

it("reads the policy of the key of a forwarded request", async () => {
  const policy = new KeyPolicy({ statements: [] });
  const { access } = vouched;
  if (access === undefined) throw new Error("the request has a caller");
  const header = one.vouch("two", request, { ...vouched, access: { ...access, key: { ...access.key, policy } } });
  const authenticatorWith = (known: KeyPolicy | undefined) =>
    trustingReplicas({} as Authenticator, two, {
      get: () => Promise.resolve(known && { ...access.key, policy: known }),
    });
  const forwarded = { headers: { "x-shoal-replica": header }, method: request.method, url: request.path };
  const admitted = await authenticatorWith(policy).authenticate(forwarded as never);
  expect(admitted.key.policy).toBe(policy);
  await expect(Promise.resolve(authenticatorWith(undefined).authenticate(forwarded as never))).rejects.toMatchObject({
    status: 401,
  });
});

it("signs long paths within the limit of a request's head", () => {
  const path = `/browsers/x/fs/read_file?path=${"x%2F".repeat(2048)}`;
  const header = one.vouch("two", { ...request, path }, vouched);
  expect(header.length).toBeLessThan(2048);
  expect(read(two, header, { ...request, path })).toEqual({ ...vouched, hasPolicy: false });
  expect(() => read(two, header, { ...request, path: `${path}y` })).toThrow("for another request");
});

it.each([
  ["for another server", () => read(one, one.vouch("two", request, vouched)), "not one"],
  [
    "with another method",
    () => read(two, one.vouch("two", request, vouched), { ...request, method: "DELETE" }),
    "for another request",
  ],
  [
    "with another path",
    () => read(two, one.vouch("two", request, vouched), { ...request, path: "/browsers/z?y=1" }),
    "for another request",
  ],
  [
    "of another database",
    () => read(two, createReplicaTrust(randomBytes(32), "server secret", "one").vouch("two", request, vouched)),
    "not signed by a server of this database",
  ],
  [
    "of a server with another secret",
    () => read(two, createReplicaTrust(secret, "another", "one").vouch("two", request, vouched)),
    "not signed by a server of this database",
  ],
  [
    "that is cut",
    () => read(two, one.vouch("two", request, vouched).slice(0, -1)),
    "not signed by a server of this database",
  ],
  ["that are empty", () => read(two, ""), "not signed by a server of this database"],
  [
    "of other letters",
    () => read(two, `${one.vouch("two", request, vouched).split(".", 1)[0] ?? ""}.${"é".repeat(43)}`),
    "not signed by a server of this database",
  ],
  ["that are a dot", () => read(two, "."), "not signed by a server of this database"],
])("rejects claims %s", (_what, use, why) => {
  expect(use).toThrow(expect.objectContaining({ status: 401, message: expect.stringContaining(why) as unknown }));
});

it("rejects claims with a single changed character", () => {
  const word = one.vouch("two", request, vouched);
  for (let index = 0; index < word.length; index += 7) {
    const changed = word.slice(0, index) + (word[index] === "A" ? "B" : "A") + word.slice(index + 1);
    expect(() => read(two, changed), String(index)).toThrow("not signed by a server of this database");
  }
});

it("rejects claims that are a minute old, or a minute ahead", () => {
  const now = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now });
  const word = one.vouch("two", request, vouched);
  for (const [byMs, isOld] of [
    [59_000, false],
    [-59_000, false],
    [61_000, true],
    [-61_000, true],
  ] as const) {
    vi.setSystemTime(now + byMs);
    if (isOld) expect(() => read(two, word)).toThrow("Synchronize the clocks");
    else expect(read(two, word)).toEqual({ ...vouched, hasPolicy: false });
  }
});

it("proves its identity for its own address and a fresh nonce", () => {
  const proof = two.prove({ id: "two", address: "http://10.0.0.2" }, "nonce");
  expect(one.isProof({ id: "two", address: "http://10.0.0.2" }, "nonce", proof)).toBe(true);
  expect(one.isProof({ id: "two", address: "http://10.0.0.3" }, "nonce", proof)).toBe(false);
  expect(one.isProof({ id: "one", address: "http://10.0.0.2" }, "nonce", proof)).toBe(false);
  expect(one.isProof({ id: "two", address: "http://10.0.0.2" }, "another", proof)).toBe(false);
  expect(one.isProof({ id: "two", address: "http://10.0.0.2" }, "nonce", undefined)).toBe(false);
  expect(
    one.isProof({ id: "two", address: "http://10.0.0.2" }, "nonce", createHash("sha256").digest("base64url")),
  ).toBe(false);
});
