import { expect, it, vi } from "vitest";
import { isUrlPattern, matchesUrl, readAddress, readPattern } from "./url-pattern.ts";

function matches(pattern: string, text: string): boolean {
  const [read, address] = [readPattern(pattern), readAddress(text)];
  return read !== undefined && address !== undefined && matchesUrl(read, address);
}

it.each([
  ["https://shop.example/*", "https://shop.example/cart?item=1#part", true],
  ["https://shop.example/*", "http://shop.example/cart", false],
  ["*://shop.example/cart", "http://shop.example/cart", true],
  ["*://shop.example/cart", "http://shop.example/cart?item=1", false],
  ["https://*.shop.example/", "https://shop.example/", true],
  ["https://*.shop.example/", "https://a.b.shop.example/", true],
  ["https://*.shop.example/", "https://myshop.example/", false],
  ["https://*/", "https://any.example:8443/", true],
  ["https://shop.example:8443/*", "https://shop.example:8443/", true],
  ["https://shop.example:443/*", "https://shop.example/", true],
  ["https://shop.example:8443/*", "https://shop.example/", false],
  ["https://shop.example/*/items/*/edit", "https://shop.example/a/items/7/edit", true],
  ["https://shop.example/*/items/*/edit", "https://shop.example/items/7/edit", false],
  ["https://shop.example/a*a", "https://shop.example/a", false],
  ["HTTPS://Shop.Example/A", "https://shop.example/A", true],
  ["http://[::1]:3000/*", "http://[::1]:3000/x", true],
  ["*://*/*", "file:///etc/passwd", false],
  ["*://*/*", "about:blank", false],
  ["https://*.bücher.example/ä/*?q=ü*", "https://www.xn--bcher-kva.example/%C3%A4/1?q=%C3%BC&n=1", true],
  ["http://0x7f.1:80/*", "http://127.0.0.1/x", true],
  ["http://[0:0:0:0:0:0:0:1]/*", "http://[::1]/x", true],
  ["https://shop.example/?", "https://shop.example/", true],
  ["https://shop.example/*aab*aab*b", "https://shop.example/aaaabaaab/b", true],
  ["https://shop.example/*aab*aab*b", "https://shop.example/aaaabaab", false],
  ["https://shop.example/*ababc*", "https://shop.example/abababc", true],
  ["https://shop.example/*", `https://shop.example/${"a".repeat(8_000)}`, false],
])("the pattern %s and the address %s: %s", (pattern, address, isMatch) => {
  expect([isUrlPattern(pattern), matches(pattern, address)]).toEqual([true, isMatch]);
});

it.each([
  "",
  "shop.example",
  "file:///*",
  "https://shop.example",
  "https://a*b/",
  "https://*.*/",
  "https://u@h/",
  "x://h/",
  "https://h:99999/",
  "https://h:0/",
  "https://a%2fb/",
  "https://1.2.3.256/",
  "https://h/a/../*",
  "https://h/a/%2e/b",
  "https://h/a\\b",
])("refuses the pattern %j", (pattern) => {
  expect([isUrlPattern(pattern), matches(pattern, "https://shop.example/")]).toEqual([false, false]);
});

it("finds a part in a text that is as bad as possible for both", () => {
  const part = `${"a".repeat(900)}b${"a".repeat(900)}`;
  const address = readAddress(`https://shop.example/${"a".repeat(7_900)}`);
  const pattern = readPattern(`https://shop.example/*${part}*`);
  if (address === undefined || pattern === undefined) throw new Error("Both are valid.");
  const codes = vi.spyOn(String.prototype, "charCodeAt");
  try {
    expect(matchesUrl(pattern, address)).toBe(false);
    expect(codes.mock.calls.length).toBeGreaterThan(0);
    // The product of both lengths is 14 million.
    expect(codes.mock.calls.length).toBeLessThan(10 * (part.length + address.path.length));
  } finally {
    codes.mockRestore();
  }
  expect(
    matches(`https://shop.example/*${part}*`, `https://shop.example/${"a".repeat(2_000)}b${"a".repeat(901)}`),
  ).toBe(true);
});
