import type { KeyRow } from "./access.ts";

/** Says why a key is invalid; `undefined` when it is valid. */
export function keyProblem(key: Pick<KeyRow, "expiresAtMs"> | undefined): string | undefined {
  if (key === undefined) return "The API key is unknown or was deleted.";
  if (key.expiresAtMs <= Date.now()) return `The API key expired at ${new Date(key.expiresAtMs).toISOString()}.`;
  return undefined;
}
