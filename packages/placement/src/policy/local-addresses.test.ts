import { createEgressPolicy } from "./egress-policy.ts";
import ipaddr from "ipaddr.js";
import { parseIpAddress } from "@shoal/primitives/hosts";
import { createLocalAddresses } from "./local-addresses.ts";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const interfaces = ["127.0.0.1", "93.184.215.9", "2606:4700:9::1", "fe80::1"];
const otherServers = ["93.184.215.10", "2606:4700:9::2"];
const resolveName = async (name: string) =>
  name === "mixed.example"
    ? ["93.184.215.9", "93.184.215.11"].map((address) => ({ address, family: 4 }))
    : [{ address: "93.184.215.9", family: 4 }];

/** What a resolver of the NAT64 with this prefix answers for `ipv4only.arpa`. */
function embeddedIn(prefix: string): string {
  const [network = "", length] = prefix.split("/");
  const bytes = ipaddr.parse(network).toByteArray();
  const start = Number(length) / 8;
  for (const [index, byte] of [192, 0, 0, 170].entries()) {
    const at = start + index;
    bytes[start < 12 && at >= 8 ? at + 1 : at] = byte;
  }
  return ipaddr.fromByteArray(bytes).toString();
}

function decide(host: string, isProxied = false) {
  const local = createLocalAddresses({ interfaces: () => interfaces, otherServers: () => otherServers });
  return createEgressPolicy([], resolveName, local).decide(host, 80, isProxied);
}

it.each([
  ["93.184.215.9", "the machine"],
  ["[::ffff:93.184.215.9]", "the machine"],
  ["[::ffff:5db8:d709]", "the machine"],
  ["0x5db8d709", "the machine"],
  ["[64:ff9b::5db8:d709]", "the machine"],
  ["[2a00:1450:4001::5efe:5db8:d709]", "the machine"],
  ["[2a00:1450:4001:0:200:5efe:93.184.215.9]", "the machine"],
  ["[2a00:1450:4001::5efe:127.0.0.1]", "the loopback network"],
  ["[2a00:1450:4001::200:5efe:10.0.0.1]", "a private network"],
  ["[2606:4700:9:0:0:0:0:1]", "the machine"],
  ["[2002:5db8:d709::1]", "6to4"],
  ["[2001:0:5db8:d709::1]", "reserved"],
  ["93.184.215.10", "another address of the service"],
  ["[2606:4700:9::2]", "another address of the service"],
  ["own.example", "the machine"],
])("refuses %s: it is %s", async (host, what) => {
  expect(await decide(host)).toMatchObject({
    allowed: false,
    status: 403,
    because: expect.stringContaining(what) as unknown,
  });
});

it.each([
  ["2a00:1098:2c::/96", "2a00:1098:2c::5db8:d709", "the machine"],
  ["2a00:1098:2c::/96", "2a00:1098:2c::7f00:1", "the loopback network"],
  ["2a00:1098::/32", "2a00:1098:a00:1::", "a private network"],
  ["2a00:1098:2c::/48", "2a00:1098:2c:c0a8:1:100::", "a private network"],
  ["2a00:1098:2c:1::/64", "2a00:1098:2c:1:a9:fea9:fe00:0", "link-local"],
])("refuses what the NAT64 of %s reaches by %s: it is %s", async (prefix, address, what) => {
  const local = createLocalAddresses({ interfaces: () => interfaces, lookUpIpv6: async () => [embeddedIn(prefix)] });
  const policy = createEgressPolicy([], resolveName, local);
  expect(await policy.decide(`[${address}]`, 80)).toMatchObject({
    allowed: false,
    because: expect.stringContaining(what) as unknown,
  });
  expect(await policy.decide("[2606:4700:10::1]", 80)).toMatchObject({ allowed: true });
});

it("allows public addresses by a NAT64, and other addresses when nothing answers for one", async () => {
  const policyWith = (lookUpIpv6: () => Promise<string[]>) =>
    createEgressPolicy([], resolveName, createLocalAddresses({ interfaces: () => interfaces, lookUpIpv6 }));
  const behind = policyWith(async () => ["2a00:1098:2c::c000:aa", "no address", "192.0.0.170", "2a00:1098:2d::1"]);
  expect(await behind.decide("[2a00:1098:2c::808:808]", 80)).toMatchObject({ allowed: true });
  expect(await behind.decide("[2a00:1098:2d::7f00:1]", 80)).toMatchObject({ allowed: true });
  const silent = policyWith(() => Promise.reject(new Error("no answer")));
  expect(await silent.decide("[2a00:1098:2c::7f00:1]", 80)).toMatchObject({ allowed: true });
});

it.each([
  ["198.41.0.4", true],
  ["198.41.0.99", true],
  ["198.41.1.4", false],
  ["[2a00:1098:5::1]", true],
])("treats addresses of a range that the operator names as own ones: %s", async (host, isOwn) => {
  const local = createLocalAddresses({
    interfaces: () => [],
    otherServers: () => ["198.41.0.0/24", "2a00:1098:5::1"],
    lookUpIpv6: async () => [],
  });
  expect(await createEgressPolicy([], resolveName, local).decide(host, 80)).toMatchObject({ allowed: !isOwn });
});

it("connects to the other addresses of a name, and lets no proxy choose", async () => {
  expect(await decide("mixed.example")).toEqual({
    allowed: true,
    addresses: [{ address: "93.184.215.11", family: 4 }],
  });
  expect(await decide("mixed.example", true)).toMatchObject({ allowed: false, status: 403 });
  expect(await decide("93.184.215.11", true)).toMatchObject({ allowed: true });
});

it("allows an own address that the operator lists", async () => {
  const local = createLocalAddresses({ interfaces: () => interfaces });
  const policy = createEgressPolicy(["93.184.215.9:443"], resolveName, local);
  expect(await policy.decide("own.example", 443)).toMatchObject({ allowed: true });
  expect(await policy.decide("own.example", 80)).toMatchObject({ allowed: false });
});

const ip = ["/usr/sbin/ip", "/sbin/ip"].find((path) => existsSync(path));
const canUnshare = process.platform === "linux" && process.geteuid?.() === 0 && ip !== undefined;

describe.skipIf(!canUnshare)("on a machine whose interfaces change", () => {
  const program = `
    const { execFileSync } = await import("node:child_process");
    const { createLocalAddresses } = await import(${JSON.stringify(new URL("local-addresses.ts", import.meta.url).href)});
    const { parseIpAddress } = await import(${JSON.stringify(new URL("../../../primitives/src/hosts/ip-address.ts", import.meta.url).href)});
    const run = (line) => execFileSync(${JSON.stringify(ip)}, line.split(" "));
    const local = createLocalAddresses();
    const found = [];
    const ask = async (text) => found.push((await local.describe(parseIpAddress(text))) !== undefined);
    run("link set lo up");
    await ask("93.184.215.9");
    run("addr add 93.184.215.9/32 dev lo");
    await ask("93.184.215.9");
    run("addr add 2606:4700:9::1/128 dev lo");
    await ask("2606:4700:9::1");
    run("link add wan0 type veth peer name wan1");
    run("addr add 93.184.216.2/24 dev wan0");
    run("link set wan0 up");
    await ask("93.184.216.2");
    await ask("93.184.216.3");
    run("route add local 93.184.217.0/24 dev lo");
    await ask("93.184.217.77");
    run("-6 route add local 2606:4700:77::/64 dev lo");
    await ask("2606:4700:77::1234");
    await ask("2606:4700:78::1234");
    run("addr del 93.184.215.9/32 dev lo");
    await ask("93.184.215.9");
    console.log(JSON.stringify(found));
  `;

  it("knows addresses from the moment at which they exist, also without a carrier and by local routes", async () => {
    const { stdout } = await promisify(execFile)("unshare", [
      "--net",
      process.execPath,
      "--conditions=@shoal/source",
      "--input-type=module",
      "--eval",
      program,
    ]);
    expect(JSON.parse(stdout)).toEqual([false, true, true, true, false, true, true, false, false]);
  });
});

it("does not call a public address of others local", async () => {
  const address = parseIpAddress("93.184.215.99");
  expect(address && (await createLocalAddresses().describe(address))).toBeUndefined();
});
