import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { exitCodes, exitStatusOf } from "./exit-codes.ts";

it.each([
  [400, "invalid"],
  [401, "unauthorized"],
  [403, "unauthorized"],
  [404, "notFound"],
  [409, "conflict"],
  [413, "invalid"],
  [422, "invalid"],
  [429, "busy"],
  [500, "server"],
  [501, "notImplemented"],
  [503, "server"],
  [529, "busy"],
] as const)("status %i ends as %s", (httpStatus, name) => {
  expect(exitStatusOf(httpStatus)).toBe(exitCodes[name].status);
});

it("has unique exit statuses, all documented in the README", () => {
  const statuses = Object.values(exitCodes).map(({ status }) => status);
  expect(new Set(statuses).size).toBe(statuses.length);
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  for (const { status, meaning } of Object.values(exitCodes))
    expect(readme).toContain(`| ${String(status)} | ${meaning} |`);
});
