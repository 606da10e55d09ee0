import { keyProblems } from "@shoal/contract/refusals";
export function keyProblem(key: { readonly expiresAtMs: number } | undefined): string | undefined {
  if (key === undefined) return keyProblems.unknown;
  if (key.expiresAtMs <= Date.now()) return keyProblems.expired(new Date(key.expiresAtMs));
  return undefined;
}
