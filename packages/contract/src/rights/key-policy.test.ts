import { expect, it } from "vitest";
import { contract, type Endpoint } from "../index.ts";
import { KeyPolicy, objectOf } from "./key-policy.ts";
import { policyAction, policyResource, statementProblem } from "./policy-actions.ts";

const names = Object.values(contract).map(({ operationId }) => operationId);
const policyOf = (...statements: readonly (readonly [string, string])[]) =>
  new KeyPolicy({ statements: statements.map(([action, resource]) => ({ action, resource })) });

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
  ["role:owner", "projects/p1/*", "action"],
  ["operation:browsers.fly", "projects/p1/*", "action"],
  ["operation:brow.*", "projects/p1/*", "action"],
  ["operation:*", "projects/p1/*", "action"],
  ["operation:browsers.get", "projects/p1", "resource"],
])("refuses %s on %s", (action, resource, field) => {
  expect(statementProblem({ action, resource }, names)).toMatchObject({ field });
});

it.each(["browsers:use", "role:viewer", "operation:browsers.get", "operation:browsers.computer.*"])(
  "accepts %s",
  (action) => {
    expect(policyAction(action)).toBeDefined();
    expect(statementProblem({ action, resource: "projects/p1/*" }, names)).toBeUndefined();
  },
);

it("knows the operations that it allows for some object, and the objects that a list may show", () => {
  const { createBrowser, getBrowser, listBrowsers, deleteBrowser, listProfiles, listProjects } = contract;
  const one = policyOf(["browsers:use", "projects/p1/browsers/b1"]);
  expect([getBrowser, deleteBrowser].map((operation) => one.permitsSome(operation, "p1"))).toEqual([true, false]);
  expect(one.permitsSome(getBrowser, "p2")).toBe(false);
  expect(one.visibleIn(listBrowsers, "p1")).toEqual([{ ids: [] }, { ids: ["b1"], profileIds: [] }]);
  const role = policyOf(["role:viewer", "projects/p1/browsers/b1"]);
  expect(role.permitsSome(getBrowser, "p1")).toBe(true);
  expect([deleteBrowser, createBrowser].map((operation) => role.permitsSome(operation, "p1"))).toEqual([false, false]);
  expect(policyOf(["role:operator", "projects/p1/browsers/b1"]).permitsSome(createBrowser, "p1")).toBe(false);
  expect(role.visibleIn(listBrowsers, "p1")).toEqual([{ ids: ["b1"] }, { ids: ["b1"], profileIds: [] }]);
  const some = policyOf(["browsers:use", "projects/p1/*"], ["profiles:use", "projects/p1/profiles/x1"]);
  expect(some.visibleIn(listBrowsers, "p1")).toEqual([{ ids: [] }, { profileIds: ["x1"] }]);
  const profiles = policyOf(["profiles:read", "projects/p1/profiles/x1"], ["profiles:read", "projects/p2/*"]);
  expect(profiles.visibleIn(listProfiles, "p1")).toEqual([{ ids: ["x1"] }]);
  expect(profiles.visibleIn(listProfiles, "p2")).toBeUndefined();
  const projects = policyOf(["projects:read", "projects/p1/*"], ["browsers:use", "projects/p2/*"]);
  expect(projects.visibleIn(listProjects, "p9")).toEqual([{ ids: ["p1"] }]);
  expect(["p1", "p2", "p3", ""].map((id) => projects.knowsProject(id))).toEqual([true, true, false, false]);
  expect(policyOf(["role:viewer", "projects/p1/*"]).visibleIn(listBrowsers, "p1")).toBeUndefined();
});

it("allows what a statement says, and nothing else", () => {
  const policy = policyOf(
    ["browsers:create", "projects/p1/*"],
    ["browsers:use", "projects/p1/browsers/b1"],
    ["profiles:use", "projects/p1/profiles/x1"],
    ["profiles:use", "everything"],
  );
  expect(policy.allowsAll("browsers:create", "p1")).toBe(true);
  expect(policy.allowsAll("browsers:create", "p2")).toBe(false);
  expect(policy.allows("browsers:use", "p1", "b1")).toBe(true);
  expect(policy.allows("browsers:use", "p2", "b1")).toBe(false);
  expect(policy.allows("browsers:use", "p1", "x1")).toBe(false);
  expect(policy.allows("browsers:delete", "p1", "b1")).toBe(false);
  expect(policy.allows("profiles:use", "p1", "x1")).toBe(true);
  expect(policy.allows("profiles:write", "p1", "x1")).toBe(false);
});

it("needs the actions on the session, and on its profile", () => {
  const policy = policyOf(["browsers:use", "projects/p1/*"], ["profiles:use", "projects/p1/profiles/x1"]);
  expect(policy.permit(contract.getBrowser, "p1", { id: "b1", profileId: null })).toMatchObject({ isByObject: true });
  expect(policy.permit(contract.actOnPage, "p1", { id: "b1", profileId: "x1" })).toBeDefined();
  expect(policy.permit(contract.actOnPage, "p1", { id: "b1", profileId: "x2" })).toBeUndefined();
  expect(policy.permit(contract.actOnPage, "p2", { id: "b1", profileId: null })).toBeUndefined();
  expect(policy.permit(contract.saveBrowserProfile, "p1", { id: "b1", profileId: "x1" })).toBeUndefined();
  expect(policy.permit(contract.updateBrowser, "p1", { id: "b1" })).toBeUndefined();
  expect(policy.permit(contract.getBrowser, "p1")).toBeUndefined();
});

it("limits a role to one session, whose operations it may call, and which it alone lists", () => {
  const policy = policyOf(["role:operator", "projects/p1/browsers/b1"]);
  expect(policy.permit(contract.actOnPage, "p1", { id: "b1" })).toMatchObject({
    role: "operator",
    isByObject: false,
    isNarrow: true,
  });
  expect(policy.permit(contract.actOnPage, "p1", { id: "b2" })).toBeUndefined();
  expect(policy.permit(contract.listBrowsers, "p1")).toBeDefined();
  expect(policy.permit(contract.listBrowsers, "p1", { id: "b2" })).toBeUndefined();
  for (const operation of [
    contract.createBrowser,
    contract.listProfiles,
    contract.createInvocation,
    contract.listProjects,
  ])
    expect(policy.permit(operation, "p1")).toBeUndefined();
});

it("allows operations by their names", () => {
  const policy = policyOf(
    ["operation:browsers.fs.*", "projects/p1/*"],
    ["operation:auditLogs.list", "organizations/o/*"],
  );
  expect(policy.permit(contract.readFile, "p1", { id: "b1" })).toMatchObject({ role: "operator" });
  expect(policy.permit(contract.listAuditLogs, "p9")).toMatchObject({ isEverywhere: true });
  expect(policy.permit(contract.getBrowser, "p1", { id: "b1" })).toBeUndefined();
});

it("closes operations without a declaration to actions and low roles", () => {
  const operation = { operationId: "browsers.new", path: "/browsers/{id}/new" };
  const everything = policyOf(["browsers:use", "organizations/o/*"], ["role:operator", "organizations/o/*"]);
  expect(everything.permit(operation, "p1", { id: "b1" })).toBeUndefined();
  expect(policyOf(["role:admin", "organizations/o/*"]).permit(operation, "p1", { id: "b1" })).toBeDefined();
});

it.each([
  [["role:admin", "organizations/o/*"], ["operation:browsers.get", "projects/p1/browsers/b1"], true],
  [["role:operator", "projects/p1/*"], ["role:viewer", "projects/p1/browsers/b1"], true],
  [["role:operator", "projects/p1/*"], ["role:admin", "projects/p1/*"], false],
  [["role:operator", "projects/p1/*"], ["browsers:use", "projects/p1/*"], false],
  [["role:admin", "projects/p1/*"], ["role:viewer", "projects/p2/*"], false],
  [["role:admin", "projects/p1/*"], ["role:viewer", "organizations/o/*"], false],
  [["role:admin", "projects/p1/browsers/b1"], ["role:viewer", "projects/p1/*"], false],
  [["operation:browsers.fs.*", "projects/p1/*"], ["operation:browsers.fs.readFile", "projects/p1/*"], true],
  [["operation:browsers.fs.*", "projects/p1/*"], ["operation:browsers.*", "projects/p1/*"], false],
  [["operation:apiKeys.create", "projects/p1/*"], ["role:viewer", "projects/p1/*"], false],
] as const)("knows whether %j covers %j: %s", (own, other, expected) => {
  expect(policyOf(own).covers(policyOf(other).wire)).toBe(expected);
});

it("covers every project with a statement of the organization", () => {
  const policy = policyOf(["proxies:read", "organizations/o1/*"]);
  expect([policy.allows("proxies:read", "p7", "x"), policy.allowsAll("proxies:use", "p7")]).toEqual([true, false]);
});

it("finds the object of every operation with a scope by its path", () => {
  for (const endpoint of Object.values<Endpoint>(contract)) {
    const [first = "organizations:read"] = endpoint.scope ?? [];
    if (first === "organizations:read") continue;
    expect(`${objectOf(endpoint)?.kind ?? ""} of ${endpoint.operationId}`).toBe(
      `${first.split(":")[0] ?? ""} of ${endpoint.operationId}`,
    );
  }
});
