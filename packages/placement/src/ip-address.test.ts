import { isInRange, parseIpAddress, parseIpRange } from "./ip-address.ts";
import fc from "fast-check";
import { BlockList } from "node:net";
import { expect, it } from "vitest";

it.each([
  ["127.0.0.1", 4, 0x7f000001n],
  ["255.255.255.255", 4, 0xffffffffn],
  ["::1", 6, 1n],
  ["::", 6, 0n],
  ["fe80::1%eth0", 6, (0xfe80n << 112n) | 1n],
  ["1:2:3:4:5:6:7:8", 6, 0x0001_0002_0003_0004_0005_0006_0007_0008n],
  ["64:ff9b::10.0.0.1", 6, (0x64n << 112n) | (0xff9bn << 96n) | 0x0a000001n],
  ["::ffff:127.0.0.1", 4, 0x7f000001n],
  ["::ffff:7f00:1", 4, 0x7f000001n],
])("reads %s", (text, family, value) => {
  expect(parseIpAddress(text)).toEqual({ family, value });
});

it.each(["", "localhost", "1.2.3", "1.2.3.4.5", "0x7f.0.0.1", "[::1]", "::1::", "10.0.0.0/8"])("does not read %j", (text) => {
  expect(parseIpAddress(text)).toBeUndefined();
});

it.each(["10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0.0/-1", "10.0.0.0/a", "::ffff:10.0.0.0/8"])(
  "does not read the range %j",
  (text) => {
    expect(parseIpRange(text)).toBeUndefined();
  },
);

it("agrees with Node about what lies in a range", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.tuple(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }), fc.constant("ipv4" as const)),
        fc.tuple(fc.ipV6(), fc.ipV6(), fc.integer({ min: 0, max: 128 }), fc.constant("ipv6" as const)),
      ),
      ([address, network, length, family]) => {
        const parsed = parseIpAddress(address);
        const range = parseIpRange(`${network}/${length}`);
        // A mapped address is an IPv4 address here, and a range of one has to fit.
        fc.pre(
          parsed !== undefined && range !== undefined && (family === "ipv6") === (parsed.family === 6) && parsed.family === range.address.family,
        );
        const list = new BlockList();
        list.addSubnet(network, length, family);
        expect(isInRange(parsed, range)).toBe(list.check(address, family));
      },
    ),
  );
});
