import { expect, it } from "vitest";
import { KeyPolicy, policyResource, statementProblem } from "./key-policy.ts";

it.each([
  "projects/*",
  "projects/p1",
  "projects/p1/",
  "projects/p1/*/",
  "projects//*",
  "projects/p1/browsers/*",
  "projects/p1/browsers/",
  "projects/p1/credentials/c1",
  "projects/p1/browsers/b1/x",
  "projects/../profiles/x",
  "projects/p%31/*",
  "organizations/o1/browsers/b1",
  "organizations/o1",
  "*",
  "",
])("takes %j for no resource", (text) => {
  expect(policyResource(text)).toBeUndefined();
});

it.each([
  ["browsers:use", "projects/p1/profiles/x", "resource"],
  ["browsers:create", "projects/p1/browsers/b1", "resource"],
  ["organizations:read", "projects/p1/*", "resource"],
  ["projects:read", "projects/p1/profiles/x", "resource"],
  ["browsers:*", "projects/p1/*", "action"],
  ["*", "projects/p1/*", "action"],
  ["apiKeys:create", "organizations/o1/*", "action"],
])("refuses %s on %s", (action, resource, field) => {
  expect(statementProblem(action, resource)).toMatchObject({ field });
});

it("allows what a statement says, and nothing else", () => {
  const policy = new KeyPolicy({
    statements: [
      { action: "browsers:create", resource: "projects/p1/*" },
      { action: "browsers:use", resource: "projects/p1/browsers/b1" },
      { action: "profiles:use", resource: "projects/p1/profiles/x1" },
      { action: "profiles:use", resource: "everything" },
    ],
  });
  expect(policy.allowsAll("browsers:create", "p1")).toBe(true);
  expect(policy.allowsAll("browsers:create", "p2")).toBe(false);
  expect(policy.allows("browsers:use", "p1", "b1")).toBe(true);
  expect(policy.allows("browsers:use", "p2", "b1")).toBe(false);
  expect(policy.allows("browsers:use", "p1", "x1")).toBe(false);
  expect(policy.allows("browsers:delete", "p1", "b1")).toBe(false);
  expect(policy.allows("profiles:use", "p1", "x1")).toBe(true);
  expect(policy.allows("profiles:write", "p1", "x1")).toBe(false);
  expect([policy.allowsSome("browsers:use", "p1"), policy.allowsSome("browsers:use", "p2")]).toEqual([true, false]);
});

it("covers every project with a statement of the organization", () => {
  const policy = new KeyPolicy({ statements: [{ action: "proxies:read", resource: "organizations/o1/*" }] });
  expect([policy.allows("proxies:read", "p7", "x"), policy.allowsAll("proxies:use", "p7")]).toEqual([true, false]);
});
