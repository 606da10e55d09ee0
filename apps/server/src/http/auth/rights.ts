import type { Endpoint } from "@shoal/contract";
import { connectionOperation, isAtLeast, mayApp, mayMove, neededRole, type Role } from "@shoal/contract/rights";
import { ServiceError } from "@shoal/router";
import type { Access, KeyRow } from "./access.ts";

type Moving = Pick<Endpoint, "moves" | "operationId">;

/** @throws {ServiceError} 403 `forbidden` for a caller without the rights to the data that the operation moves. */
export function refuseWithoutRights(access: Pick<Access, "key" | "role">, endpoint: Moving): void {
  refuseApp(access.key, endpoint);
  // The policy of a key has judged the operation.
  if (access.key.policy !== undefined) return;
  refuseRole(access, neededRole(endpoint), endpoint.operationId);
}

/** Whether the caller has the right to the operation, on some object at least. */
export function mayCall(
  { key, projectId, role }: Pick<Access, "key" | "projectId" | "role">,
  endpoint: Endpoint,
): boolean {
  if (key.deployment_id !== null && !mayApp(endpoint)) return false;
  if (key.policy !== undefined) return key.policy.permitsSome(endpoint, projectId);
  return role === undefined || isAtLeast(role, neededRole(endpoint));
}

/** @throws {ServiceError} 403 `forbidden` for a person without the role in this project. */
export function refuseRole({ role }: Pick<Access, "role">, needed: Role, action: string): void {
  if (role === undefined || isAtLeast(role, needed)) return;
  throw new ServiceError(403, "forbidden", `${action} needs the role ${needed} in this project; you are ${role}.`, {
    hint: "Ask an administrator of the service for the role.",
  });
}

function refuseApp({ deployment_id }: Pick<KeyRow, "deployment_id">, endpoint: Moving): void {
  if (deployment_id === null || mayApp(endpoint)) return;
  throw new ServiceError(
    403,
    "forbidden",
    `The key of deployment ${deployment_id} cannot call ${endpoint.operationId}. Pass another key to the app in env_vars.`,
  );
}

/**
 * Whether the caller may move stored secrets: administrators and keys that people made. Neither the keys of apps, nor
 * other persons, nor sign-in pages.
 */
export function mayMoveSecrets({ handoff, key, role }: Pick<Access, "handoff" | "key" | "role">): boolean {
  if (handoff !== undefined || key.deployment_id !== null) return false;
  return role === undefined ? key.policy === undefined : mayMove(role, "read secrets");
}

/**
 * Whether the caller may have stored values used in a session. A role in one session alone includes no credential of
 * the project. @param sessionId - of an existing session.
 */
export function mayUseSecrets(access: Pick<Access, "handoff" | "key" | "projectId" | "role">, sessionId = ""): boolean {
  const { handoff, key, projectId } = access;
  if (key.policy === undefined) return mayMoveSecrets(access);
  if (handoff !== undefined || key.deployment_id !== null) return false;
  const grant = key.policy.permit(connectionOperation("credentials.use"), projectId, { id: sessionId });
  return grant !== undefined && !(grant.isNarrow && grant.role === "admin");
}

/** Whether the caller may create a session with vaults. */
export function mayUseVaults(access: Pick<Access, "grant" | "handoff" | "key" | "projectId" | "role">): boolean {
  const { grant, key, projectId } = access;
  if (mayUseSecrets(access)) return true;
  if (key.policy === undefined || key.deployment_id !== null) return false;
  // The vaults that a request with a narrow grant names were judged one by one.
  return grant?.isNarrow === true || key.policy.allowsAll("vaults:use", projectId);
}

/** Whether the caller may use every vault of the project. */
export function mayUseAllVaults(access: Pick<Access, "handoff" | "key" | "projectId" | "role">): boolean {
  const { deployment_id: deployment, policy } = access.key;
  if (mayUseSecrets(access)) return true;
  return deployment === null && policy?.allowsAll("vaults:use", access.projectId) === true;
}

/** For an address that was issued to the key: the role of a person is unknown then, so it opens no secrets. */
export function keyMayMoveSecrets({
  deployment_id,
  isPerson,
  policy,
}: Pick<KeyRow, "deployment_id" | "isPerson" | "policy">): boolean {
  return deployment_id === null && isPerson !== true && policy === undefined;
}
