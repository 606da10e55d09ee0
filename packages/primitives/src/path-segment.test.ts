import { expect, it } from "vitest";
import { pathSegment, pathSegments } from "./path-segment.ts";

it.each(["", ".", "..", "%2e", "%2E%2e", ".%2e", "a\\b", "a\0", "a\nb", "\u007f", "\ud800"])(
  "refuses %j as a segment",
  (text) => {
    expect(pathSegment(text)).toBeUndefined();
    expect(pathSegments(`a/${text}/b`)).toBeUndefined();
  },
);

it.each(["/a", "a/", "a//b", "../a", "a/.."])("refuses %j as segments", (text) => {
  expect(pathSegments(text)).toBeUndefined();
});

it("encodes everything that has a meaning in an address", () => {
  expect(pathSegment("a/b?c#d%2e ü")).toBe("a%2Fb%3Fc%23d%252e%20%C3%BC");
  const url = new URL(`https://api.example/x/${pathSegments("release/1.0?y#z@..") ?? ""}`);
  expect([url.pathname, url.search, url.hash]).toEqual(["/x/release/1.0%3Fy%23z%40..", "", ""]);
});
