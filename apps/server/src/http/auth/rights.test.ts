import { contract, type Endpoint } from "@shoal/contract";
import { connectionOperation, dataRights, mayApp, neededRole, type Role } from "@shoal/contract/rights";
import { expect, it } from "vitest";
import { mayMoveSecrets, refuseRole } from "./rights.ts";

const keyed = Object.values<Endpoint>(contract).filter(({ auth }) => auth !== "none");

const operationsOf = (role: Role) =>
  keyed
    .filter((endpoint) => neededRole(endpoint) === role)
    .map(({ operationId }) => operationId)
    .sort();

it("lets neither apps nor persons below admin have stored values typed", () => {
  const use = connectionOperation("credentials.use");
  expect([neededRole(use), mayApp(use)]).toEqual(["admin", false]);
});

it("lets viewers change nothing", () => {
  for (const { moves = [], operationId } of keyed.filter((endpoint) => neededRole(endpoint) === "viewer"))
    expect(
      moves.filter((move) => move.startsWith("write")),
      operationId,
    ).toEqual([]);
  const posts = keyed.filter((endpoint) => endpoint.method !== "GET" && neededRole(endpoint) === "viewer");
  expect(posts.map(({ operationId }) => operationId).sort()).toEqual([
    "browsers.computer.captureScreenshot",
    "browsers.computer.getMousePosition",
    "browsers.downloads.wait",
    "browsers.observe",
    "browsers.pdf",
    "browsers.read",
    "browsers.screenshot",
    "browsers.tools.list",
  ]);
});

it("declares every change as one", () => {
  const reads = keyed.filter(
    ({ method, moves = [] }) => method !== "GET" && moves.every((move) => move.startsWith("read")),
  );
  const changes = keyed.filter(
    ({ method, moves = [] }) => method === "GET" && !moves.every((move) => move.startsWith("read")),
  );
  expect(changes).toEqual([]);
  expect(reads.map(({ operationId }) => operationId).sort()).toEqual([
    "browsers.computer.captureScreenshot",
    "browsers.computer.getMousePosition",
    "browsers.computer.readClipboard",
    "browsers.downloads.wait",
    "browsers.fs.watch.start",
    "browsers.fs.watch.stop",
    "browsers.observe",
    "browsers.pdf",
    "browsers.read",
    "browsers.screenshot",
    "browsers.tools.list",
  ]);
});

it("reserves administration and stored secrets for administrators", () => {
  const admin = operationsOf("admin");
  for (const { area, method, operationId } of keyed) {
    const isAdministration =
      ["API Keys", "Audit Logs", "Credentials", "Credential Providers", "Telemetry Destinations", "Webhooks"].includes(
        area,
      ) ||
      (["Projects", "Organization", "Deployments", "Proxies"].includes(area) && method !== "GET");
    if (isAdministration && operationId !== "proxies.check") expect(admin).toContain(operationId);
  }
  expect(admin).toEqual(expect.arrayContaining(["profiles.download", "profiles.storageState.get"]));
});

it("shows viewers no files, processes, output, logs or telemetry", () => {
  const viewer = operationsOf("viewer");
  const inside = ["Browser Filesystem", "Browser Logs", "Browser Processes", "Browser Telemetry"];
  // A picture of a page, like those of live views and recordings.
  const picture = "browsers.telemetry.lastPicture";
  expect(viewer).toContain(picture);
  for (const { area, operationId } of keyed)
    if (inside.includes(area) && operationId !== picture) expect(viewer).not.toContain(operationId);
  for (const operation of [
    "browsers.downloads.read",
    "browsers.evidence",
    "deployments.follow",
    "invocations.follow",
    "profiles.download",
  ])
    expect(viewer).not.toContain(operation);
});

it("lets operators work with sessions", () => {
  expect(operationsOf("operator")).toEqual(
    expect.arrayContaining([
      "browsers.act",
      "browsers.create",
      "browsers.playwright.execute",
      "browsers.process.exec",
      "browsers.tools.call",
      "browsers.fs.writeFile",
    ]),
  );
});

it("keeps apps away from secrets, other deployments and the proxies of logins", () => {
  const open = new Set(keyed.filter(mayApp).map(({ operationId }) => operationId));
  for (const operation of [
    "apiKeys.create",
    "auditLogs.list",
    "credentials.get",
    "credentials.totpCode",
    "deployments.create",
    "deployments.follow",
    "projects.list",
    "proxies.create",
    "proxies.update",
    "webhooks.create",
  ])
    expect(open).not.toContain(operation);
  for (const operation of ["auth.context.get", "browsers.create", "browsers.process.exec", "invocations.create"])
    expect(open).toContain(operation);
});

it("closes an operation without moves to everyone but administrators", () => {
  expect([neededRole({}), neededRole({ moves: [] }), mayApp({}), mayApp({ moves: [] })]).toEqual([
    "admin",
    "admin",
    false,
    false,
  ]);
});

it("uses every kind of data", () => {
  const moved = new Set(keyed.flatMap(({ moves = [] }) => moves.map((move) => move.split(" ")[1] ?? "")));
  expect([...moved].sort()).toEqual(Object.keys(dataRights).sort());
});

it("refuses persons below the role, and no API key", () => {
  expect(() => {
    refuseRole({ role: "viewer" }, "operator", "browsers.act");
  }).toThrow("browsers.act needs the role operator in this project; you are viewer.");
  expect(() => {
    refuseRole({}, "admin", "apiKeys.create");
  }).not.toThrow();
});

it("lets administrators and keys of people move stored secrets, and no other callers", () => {
  const key = {
    id: "k",
    name: "k",
    project_id: null,
    created_by_email: "",
    deployment_id: null,
    expiresAtMs: Infinity,
  };
  expect(mayMoveSecrets({ key })).toBe(true);
  expect(mayMoveSecrets({ key, role: "admin" })).toBe(true);
  expect(mayMoveSecrets({ key, role: "operator" })).toBe(false);
  expect(mayMoveSecrets({ key: { ...key, deployment_id: "d" } })).toBe(false);
  expect(mayMoveSecrets({ key, handoff: { flowId: "f" } })).toBe(false);
});
