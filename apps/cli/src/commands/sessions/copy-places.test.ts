import { expect, it } from "vitest";
import { placeOf } from "./copy-places.ts";

it.each([
  ["research:/tmp/a", { kind: "remote", session: "research", path: "/tmp/a" }],
  ["research:", { kind: "remote", session: "research", path: "/home/shoal" }],
  ["research:a/../b/", { kind: "remote", session: "research", path: "/home/shoal/b/" }],
  ["research:~/a", { kind: "remote", session: "research", path: "/home/shoal/a" }],
  [":/tmp/a", { kind: "remote", session: "", path: "/tmp/a" }],
  ["./a:b", { kind: "local", path: "./a:b" }],
  ["/a:b", { kind: "local", path: "/a:b" }],
  ["-", { kind: "standard" }],
])("reads %s", (text, place) => {
  expect(placeOf(text, "linux")).toEqual(place);
});

it("reads a drive of Windows as a local path", () => {
  expect(placeOf("C:\\a", "win32")).toEqual({ kind: "local", path: "C:\\a" });
});

it.each(["", "two words:/a", "a\u001b:/b"])("rejects %j", (text) => {
  expect(() => placeOf(text, "linux")).toThrow();
});
