import { isAmongOrigins } from "@shoal/instance";
import { expect, it } from "vitest";
import { typingOrigins } from "./typing-origins.ts";

it.each([
  ["bank.example.com", "https://bank.example.com", true],
  ["bank.example.com", "https://login.bank.example.com", true],
  ["bank.example.com", "https://bank.example.com:8443", true],
  ["www.example.com", "https://accounts.example.com", true],
  ["*.example.com", "https://a.example.com", true],
  ["https://shop.example.com/login?x=1", "https://shop.example.com", true],
  ["localhost:3000", "http://localhost:3000", true],
  ["127.0.0.1:3000", "http://127.0.0.1:3000", true],
  ["bank.example.com", "https://example.com", false],
  ["bank.example.com", "https://evil.example.com", false],
  ["bank.example.com", "https://bank.example.com.evil.org", false],
  ["bank.example.com", "https://evilbank.example.com", false],
  ["bank.example.com", "http://bank.example.com", false],
  ["*.example.com", "https://example.com", false],
  ["github.io", "https://evil.github.io", false],
  ["ada.github.io", "https://evil.github.io", false],
  ["co.uk", "https://evil.co.uk", false],
  ["okta.com", "https://evil.okta.com", false],
  ["bank.okta.com", "https://evil.okta.com", false],
  ["localhost:3000", "http://localhost:4000", false],
  ["8.8.8.8", "http://8.8.8.8", false],
  ["", "https://example.com", false],
  ["https://", "https://example.com", false],
  ["example.com", "null", false],
  ["example.com", "", false],
])("a value stored for %j is typed on %s: %s", (site, origin, expected) => {
  expect(isAmongOrigins(origin, typingOrigins({ sites: [site] }))).toBe(expected);
});

it("types the values of a provider's login on its page, and not on pages of its customers", () => {
  const google = typingOrigins({ sites: ["example.com"], ssoProvider: "google" });
  expect(isAmongOrigins("https://accounts.google.com", google)).toBe(true);
  expect(isAmongOrigins("https://sites.google.com", google)).toBe(false);
  const okta = typingOrigins({ sites: ["example.com"], ssoProvider: "okta" });
  expect(isAmongOrigins("https://evil.okta.com", okta)).toBe(false);
});
