import { expect, it } from "vitest";
import { needsBuild } from "./test.mjs";

it("runs tests of packages without built parts without a build", () => {
  const router = "packages/router/src/adapters/fetch.test.ts";
  expect(needsBuild([router, "packages/login", "packages/router"])).toBe(false);
});

it.each([
  { args: [] },
  { args: ["packages/instance"] },
  { args: ["packages/router", "apps/server"] },
  { args: ["packages/router", "--reporter=json"] },
  { args: ["fetch.test.ts"] },
  { args: ["packages/router/../instance"] },
])("builds before $args", ({ args }) => {
  expect(needsBuild(args)).toBe(true);
});
