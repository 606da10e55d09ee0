import { expect, it } from "vitest";
import { isUrlPattern, matchesUrl } from "./url-pattern.ts";

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
])("the pattern %s and the address %s: %s", (pattern, address, isMatch) => {
  expect([isUrlPattern(pattern), matchesUrl(pattern, address)]).toEqual([true, isMatch]);
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
])("refuses the pattern %j", (pattern) => {
  expect([isUrlPattern(pattern), matchesUrl(pattern, "https://shop.example/")]).toEqual([false, false]);
});

it("takes time in proportion to the address for any pattern", () => {
  const address = `https://shop.example/${"a".repeat(8_000)}`;
  expect(matchesUrl(`https://shop.example/${"a*".repeat(900)}b`, address)).toBe(false);
});
