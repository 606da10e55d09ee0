import fc from "fast-check";
import { expect, it } from "vitest";
import { changedNetworkRules, readNetworkRule, readNetworkRules } from "./network-rules.ts";

it.each([
  ["example.com", "name", "example.com"],
  ["EXAMPLE.com.", "name", "example.com"],
  ["Bücher.example:443", "name", "xn--bcher-kva.example:443"],
  ["*.example.com", "subdomains", "*.example.com"],
  ["*.Example.COM.:8443", "subdomains", "*.example.com:8443"],
  ["localhost:3000", "name", "localhost:3000"],
  ["_dmarc.example.com", "name", "_dmarc.example.com"],
  ["*", "any", "*"],
  ["*:443", "any", "*:443"],
  ["10.0.0.0/8", "range", "10.0.0.0/8"],
  ["10.0.0.0/8:80", "range", "10.0.0.0/8:80"],
  ["0x7f.1", "range", "127.0.0.1"],
  ["2130706433:80", "range", "127.0.0.1:80"],
  ["1.2.3.4.", "range", "1.2.3.4"],
  ["::1", "range", "::1"],
  ["[::1]", "range", "::1"],
  ["[::1]:443", "range", "[::1]:443"],
  ["2001:DB8:0::/32", "range", "2001:db8::/32"],
  ["[2001:db8::]/32:443", "range", "[2001:db8::]/32:443"],
  ["::/0", "range", "::/0"],
  ["::ffff:10.0.0.0/104", "range", "::ffff:a00:0/104"],
])("reads %s", (entry, kind, text) => {
  expect(readNetworkRule(entry)).toMatchObject({ kind, text });
});

it.each([
  ...["", " ", "a b", "https://example.com", "example.com/path", "example.com/24", "user@example.com", "*.1.2.3.4"],
  ...["a.*.com", "*example.com", "**", "*/8", "10.0.0.0/33", "::/129", "::ffff:10.0.0.0/95", "[::1", "1.2.3.4.5"],
  ...["example.com:0", "example.com:65536", "example.com:", ":443", "fe80::1%eth0", "a%2eb", "[example.com]", "."],
  ...[`${"a".repeat(63)}.`.repeat(5)],
])("refuses %j", (entry) => {
  expect(readNetworkRule(entry)).toHaveProperty("problem");
});

it("reads its own output again", () => {
  const entry = fc.oneof(fc.domain(), fc.ipV4Extended(), fc.ipV6(), fc.webAuthority(), fc.string());
  fc.assert(
    fc.property(entry, (text) => {
      const rule = readNetworkRule(text);
      if (!("problem" in rule)) expect(readNetworkRule(rule.text)).toEqual(rule);
    }),
  );
});

it("names the entry, and the accepted notations", () => {
  expect(readNetworkRules("body.network.deny", ["example.com", "https://example.com/"])).toMatchObject({
    refusal: {
      status: 400,
      field: "body.network.deny[1]",
      problem: '"https://example.com/" is not a host',
      hint: expect.stringContaining("*.example.com") as unknown,
    },
  });
});

it("keeps absent lists, removes lists with null, and drops duplicates", () => {
  const present = { allow: ["example.com"], deny: ["evil.example"] };
  expect(changedNetworkRules({}, present)).toEqual({ rules: present });
  expect(changedNetworkRules({ allow: null }, present)).toEqual({ rules: { deny: ["evil.example"] } });
  expect(changedNetworkRules({ allow: [], deny: [] }, present)).toEqual({ rules: { allow: [] } });
  expect(changedNetworkRules({ allow: ["A.example", "a.example."] }, {})).toEqual({ rules: { allow: ["a.example"] } });
});
