import { isInRange, parseIpAddress, parseIpRange } from "./ip-address.ts";
import fc from "fast-check";
import { BlockList } from "node:net";
import { expect, it } from "vitest";

it.each([
  ["127.0.0.1", "127.0.0.1"],
  ["255.255.255.255", "255.255.255.255"],
  ["::1", "0:0:0:0:0:0:0:1"],
  ["::", "0:0:0:0:0:0:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0:0:0:0:1"],
  ["1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"],
  ["64:ff9b::10.0.0.1", "64:ff9b:0:0:0:0:a00:1"],
  ["::ffff:127.0.0.1", "127.0.0.1"],
  ["::ffff:7f00:1", "127.0.0.1"],
  ["::FFFF:127.0.0.1%lo", "127.0.0.1"],
])("reads %s as %s", (text, normalized) => {
  expect(parseIpAddress(text)?.toNormalizedString()).toBe(normalized);
});

it.each([
  ...[
    "",
    "localhost",
    "1.2.3",
    "127.1",
    "1.2.3.4.5",
    "0x7f.0.0.1",
    "0x7f000001",
    "0177.0.0.1",
    "2130706433",
    "127.0.0.1 ",
  ],
  ...["127.0.0.1%lo", "[::1]", "::1::", "::1%", "::ffff:0x7f.0.0.1", "::ffff:127.1", "10.0.0.0/8"],
])("rejects %j as an address", (text) => {
  expect(parseIpAddress(text)).toBeUndefined();
});

it.each(["10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0.0/-1", "10.0.0.0/a", "::ffff:10.0.0.0/8"])(
  "rejects %j as a range",
  (text) => {
    expect(parseIpRange(text)).toBeUndefined();
  },
);

it("agrees with Node on whether an address is in a range", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.tuple(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }), fc.constant("ipv4" as const)),
        fc.tuple(fc.ipV6(), fc.ipV6(), fc.integer({ min: 0, max: 128 }), fc.constant("ipv6" as const)),
      ),
      ([address, network, length, family]) => {
        const parsed = parseIpAddress(address);
        const range = parseIpRange(`${network}/${length}`);
        fc.pre(
          parsed !== undefined && range !== undefined && parsed.kind() === family && range.address.kind() === family,
        );
        const list = new BlockList();
        list.addSubnet(network, length, family);
        expect(isInRange(parsed, range)).toBe(list.check(address, family));
      },
    ),
  );
});
