import { contract, type Endpoint } from "@shoal/contract";
import { expect, it } from "vitest";
import { neededRole, refuseRole } from "./operation-roles.ts";
import type { Role } from "./roles.ts";

const keyed = Object.values<Endpoint>(contract).filter(({ auth }) => auth !== "none");

const operationsOf = (role: Role) =>
  keyed
    .filter((endpoint) => neededRole(endpoint) === role)
    .map(({ method, operationId }) => `${method} ${operationId}`)
    .sort();

it("lets viewers change nothing", () => {
  expect(operationsOf("viewer").filter((operation) => !operation.startsWith("GET "))).toEqual([
    "POST browsers.computer.captureScreenshot",
    "POST browsers.computer.getMousePosition",
    "POST browsers.downloads.wait",
    "POST browsers.observe",
    "POST browsers.screenshot",
  ]);
});

it("reserves administration and stored secrets for administrators", () => {
  const admin = operationsOf("admin").map((operation) => operation.split(" ")[1] ?? "");
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
  const viewer = operationsOf("viewer").map((operation) => operation.split(" ")[1] ?? "");
  const inside = ["Browser Filesystem", "Browser Logs", "Browser Processes", "Browser Telemetry"];
  for (const { area, operationId } of keyed) if (inside.includes(area)) expect(viewer).not.toContain(operationId);
  for (const operation of ["browsers.downloads.read", "deployments.follow", "invocations.follow", "profiles.download"])
    expect(viewer).not.toContain(operation);
});

it("lets operators work with sessions", () => {
  expect(operationsOf("operator")).toEqual(
    expect.arrayContaining([
      "POST browsers.act",
      "POST browsers.create",
      "POST browsers.playwright.execute",
      "POST browsers.process.exec",
      "PUT browsers.fs.writeFile",
    ]),
  );
});

it("needs an administrator for an operation of a new area", () => {
  expect(neededRole({ area: "Something new", method: "GET", operationId: "new.get" })).toBe("admin");
});

it("refuses persons below the role, and no API key", () => {
  expect(() => {
    refuseRole({ role: "viewer" }, "operator", "browsers.act");
  }).toThrow("browsers.act needs the role operator in this project; you are viewer.");
  expect(() => {
    refuseRole({}, "admin", "apiKeys.create");
  }).not.toThrow();
});
