import { expect, it } from "vitest";
import { headerHostOf, headerHostText, isSameSite, isWithinHost, overlappingHost, readHeaderHost } from "./index.ts";

function host(text: string) {
  const read = readHeaderHost(text);
  if (read === undefined) throw new Error(`${text} is not a host`);
  return read;
}

it.each([
  ["API.Example.com.", "api.example.com"],
  ["*.example.com:8443", "*.example.com:8443"],
  ["münchen.example", "xn--mnchen-3ya.example"],
  ["127.0.0.1:3000", "127.0.0.1:3000"],
  ["[2001:DB8::1]:443", "[2001:db8::1]:443"],
  ["[::1]", "[::1]"],
])("reads %s as %s", (text, canonical) => {
  expect(headerHostText(host(text))).toBe(canonical);
});

it.each([
  "",
  "*",
  "a.example/path",
  "https://a.example",
  "a.example:0",
  "a.example:99999",
  "a b",
  "::1",
  "10.0.0.0/8",
  "*.1.2.3.4",
])("refuses %j", (text) => {
  expect(readHeaderHost(text)).toBeUndefined();
});

it.each([
  ["a.example.com", "*.example.com", true],
  ["*.a.example.com", "*.example.com", true],
  ["*.example.com", "*.example.com", true],
  ["example.com", "*.example.com", false],
  ["*.example.com", "example.com", false],
  ["*.example.com", "a.example.com", false],
  ["notexample.com", "*.example.com", false],
  ["example.com:443", "example.com", true],
  ["example.com", "example.com:443", false],
  ["example.com:80", "example.com:443", false],
])("%s is within %s: %s", (inner, outer, expected) => {
  expect(isWithinHost(host(inner), host(outer))).toBe(expected);
});

it("finds hosts of both, with ports", () => {
  expect(overlappingHost(host("*.example.com"), host("a.example.com:1"))).toBe(true);
  expect(overlappingHost(host("a.example.com:2"), host("a.example.com:1"))).toBe(false);
  expect(overlappingHost(host("a.example.com"), host("b.example.com"))).toBe(false);
});

it("takes the port of a URL from its scheme", () => {
  expect(headerHostOf("https://A.example./")).toEqual({ name: "a.example", isWild: false, port: 443 });
  expect(headerHostOf("http://[::1]:8080")).toEqual({ name: "::1", isWild: false, port: 8080 });
});

it.each([
  ["https://a.example.com", "http://b.example.com:81/x", true],
  ["https://example.com", "https://example.com.evil.example", false],
  ["https://a.github.io", "https://b.github.io", false],
  ["http://localhost:1", "https://localhost:2", true],
  ["http://127.0.0.1", "http://127.0.0.2", false],
  ["null", "null", false],
  ["data:text/html,x", "data:text/html,x", false],
])("%s and %s are of one site: %s", (one, other, expected) => {
  expect(isSameSite(one, other)).toBe(expected);
});
