import { expect, it } from "vitest";
import { canonicalName } from "./host-name.ts";
import { withoutEnd } from "./without-end.ts";

it.each([
  ["Example.COM.", "example.com"],
  ["example.com...", "example.com"],
  ["[2001:db8::1]", "2001:db8::1"],
  ["0x7f.1", "127.0.0.1"],
  ["...", undefined],
  ["a.example/b", undefined],
])("reads %s as %s", (host, name) => {
  expect(canonicalName(host)).toBe(name);
});

it.each([".", "a.", "%2e", "\u3002", "xn--", "é", "\u00ad"])("reads a name that repeats %s in time", (part) => {
  // Other programs may take the processor meanwhile.
  const before = process.threadCpuUsage();
  expect(canonicalName(`a${part.repeat(200_000)}x.example`)?.length ?? 0).toBeLessThan(254);
  const { system, user } = process.threadCpuUsage(before);
  expect(system + user).toBeLessThan(10_000_000);
});

it("removes characters from the end alone", () => {
  expect(["a..", "..a.b", "...", ""].map((text) => withoutEnd(text, "."))).toEqual(["a", "..a.b", "", ""]);
  expect(withoutEnd("a \t b\t ", " \t")).toBe("a \t b");
});
