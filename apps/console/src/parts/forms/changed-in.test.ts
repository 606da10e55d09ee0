import { expect, it } from "vitest";
import { changedIn } from "./changed-in.ts";

it("returns the changed fields only", () => {
  const before = { size: 2, name: "search", profile: { id: "a" }, proxy_id: "" };
  expect(changedIn(before, { ...before, profile: { id: "a" } })).toEqual({});
  expect(changedIn(before, { ...before, size: 3, profile: { id: "" }, proxy_id: "p" })).toEqual({
    size: 3,
    profile: { id: "" },
    proxy_id: "p",
  });
});
