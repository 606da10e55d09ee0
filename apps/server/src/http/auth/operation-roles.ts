import type { contract, Endpoint } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import type { Access } from "./access.ts";
import { isAtLeast, type Role } from "./roles.ts";

type OperationId = (typeof contract)[keyof typeof contract]["operationId"];

interface AreaRoles {
  readonly read: Role;
  readonly write: Role;
}

const work: AreaRoles = { read: "viewer", write: "operator" };
/** Files, processes, their output and traffic contain the profile with its cookies, environments and secrets. */
const inside: AreaRoles = { read: "operator", write: "operator" };
const managed: AreaRoles = { read: "viewer", write: "admin" };

/** Areas that are missing need `admin`: keys, stored secrets, the audit log, webhooks, and everything new. */
const areas: Readonly<Record<string, AreaRoles>> = {
  Apps: managed,
  "Browser Computer Controls": work,
  "Browser Downloads": work,
  "Browser Filesystem": inside,
  // Its answers contain links with control of the session.
  "Browser Handoff": { read: "operator", write: "operator" },
  "Browser Logs": inside,
  "Browser Pages": work,
  "Browser Playwright": work,
  "Browser Pools": work,
  "Browser Processes": inside,
  "Browser Replays": work,
  "Browser Telemetry": inside,
  Browsers: work,
  Deployments: managed,
  Extensions: work,
  Invocations: work,
  "Live View Links": { read: "operator", write: "operator" },
  "Managed Auth": work,
  Organization: managed,
  Profiles: work,
  Projects: managed,
  Proxies: managed,
  Schedules: work,
  Usage: managed,
};

/** Operations whose method does not show their effect. */
const exceptions: ReadonlyMap<string, Role> = new Map<OperationId, Role>([
  // They look, without input to the page.
  ["browsers.computer.captureScreenshot", "viewer"],
  ["browsers.computer.getMousePosition", "viewer"],
  ["browsers.downloads.wait", "viewer"],
  ["browsers.observe", "viewer"],
  ["browsers.screenshot", "viewer"],
  ["proxies.check", "operator"],
  // Files and output can contain secrets.
  ["browsers.downloads.read", "operator"],
  ["deployments.follow", "operator"],
  ["extensions.download", "operator"],
  ["invocations.follow", "operator"],
  // They contain cookies, with which anyone is signed in.
  ["profiles.download", "admin"],
  ["profiles.storageState.get", "admin"],
  ["profiles.storageState.import", "admin"],
]);

/** Returns the role that a person needs for an operation. */
export function neededRole({ area, method, operationId }: Pick<Endpoint, "area" | "method" | "operationId">): Role {
  const roles = areas[area];
  return exceptions.get(operationId) ?? roles?.[method === "GET" ? "read" : "write"] ?? "admin";
}

/** @throws {ServiceError} 403 `forbidden` for a person without the role in this project. */
export function refuseRole({ role }: Pick<Access, "role">, needed: Role, action: string): void {
  if (role === undefined || isAtLeast(role, needed)) return;
  throw new ServiceError(403, "forbidden", `${action} needs the role ${needed} in this project; you are ${role}.`, {
    hint: "Ask an administrator of the service for the role.",
  });
}
