import type { RoleRule } from "../../config/role-rules.ts";
import type { Grant } from "../grants.ts";

export type Claims = Readonly<Record<string, unknown>>;

const maxTextLength = 320;

function claimAt(claims: Claims, path: readonly string[]): unknown {
  let value: unknown = claims;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Claims)[name];
  }
  return value;
}

function isMatch(value: unknown, wanted: string): boolean {
  if (Array.isArray(value)) return value.some((item) => isMatch(item, wanted));
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return false;
  return wanted === "*" || String(value) === wanted;
}

/** An address that the provider has not verified may belong to another person. */
function isTrusted({ claim }: RoleRule, claims: Claims): boolean {
  return claim[0] !== "email" || claims.email_verified === true;
}

/** Returns the rights of a person with these claims. */
export function grantsOf(claims: Claims, rules: readonly RoleRule[]): readonly Grant[] {
  return rules
    .filter((rule) => isTrusted(rule, claims) && isMatch(claimAt(claims, rule.claim), rule.value))
    .map(({ project, role }) => ({ project, role }));
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, maxTextLength) : undefined;
}

/** Returns the name and the address of a person, for pages and the audit log. */
export function describe(claims: Claims, subject: string): { readonly name: string; readonly email: string } {
  const email = text(claims.email) ?? "";
  return {
    name: text(claims.name) ?? text(claims.preferred_username) ?? (email === "" ? subject.slice(0, 255) : email),
    email,
  };
}
