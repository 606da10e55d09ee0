import { expect, it } from "vitest";
import { siteDomain } from "./site-domain.ts";

it.each([
  ["example.com", "example.com"],
  ["Login.Example.COM.", "login.example.com"],
  ["bücher.example:8443", "xn--bcher-kva.example:8443"],
  ["example.com:443", "example.com"],
  ["example.com:80", "example.com"],
  ["localhost:3000", "localhost:3000"],
  ["127.0.0.1", "127.0.0.1"],
  ["[::1]:3000", "[::1]:3000"],
])("writes %s as %s", (text, domain) => {
  expect(siteDomain(text)).toBe(domain);
});

it.each([
  "",
  " ",
  "example.com/login",
  "https://example.com",
  "ada@example.com",
  "*.example.com",
  "example.com:port",
  "example.com:0",
  "example.com:99999",
  "exa mple.com",
  "example.com#x",
  "a\0b.example",
])("refuses %j", (text) => {
  expect(siteDomain(text)).toBeUndefined();
});
