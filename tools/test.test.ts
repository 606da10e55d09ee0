import { expect, it } from "vitest";
import { neededBuild } from "./test.mjs";

it("runs tests of packages without built parts without a build", () => {
  const router = "packages/router/src/adapters/fetch.test.ts";
  expect(neededBuild([router, "packages/login", "packages/router"])).toBe("nothing");
});

it.each([
  { args: [] },
  { args: ["packages/instance"] },
  { args: ["packages/router", "apps/server"] },
  { args: ["packages/router", "--reporter=json"] },
  { args: ["fetch.test.ts"] },
  { args: ["packages/router/../instance"] },
])("builds the programs before $args", ({ args }) => {
  expect(neededBuild(args)).toBe("programs");
});

it("builds the packages for tests of their files", () => {
  expect(neededBuild(["tools/finish-dist.built.test.ts"])).toBe("packages");
});
