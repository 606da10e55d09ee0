import type { Access, KeyRow } from "./access.ts";

/**
 * Whether the caller may move stored secrets: administrators and keys that people made. Neither the keys of apps, nor
 * other persons, nor sign-in pages.
 */
export function mayMoveSecrets({ handoff, key, role }: Pick<Access, "handoff" | "key" | "role">): boolean {
  if (handoff !== undefined || key.deployment_id !== null) return false;
  return role === undefined || role === "admin";
}

/** For an address that was issued to the key: the role of a person is unknown then, so it opens no secrets. */
export function keyMayMoveSecrets({ deployment_id, isPerson }: Pick<KeyRow, "deployment_id" | "isPerson">): boolean {
  return deployment_id === null && isPerson !== true;
}
