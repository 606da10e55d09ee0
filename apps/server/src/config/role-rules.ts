const roles = ["viewer", "operator", "admin"] as const;
type Role = (typeof roles)[number];

/** Persons with this claim have the role in the project. */
export interface RoleRule {
  /** Names of nested claims, from the outside in. */
  readonly claim: readonly string[];
  /** `*` = any. */
  readonly value: string;
  /** An id, a name, or `*` for all. */
  readonly project: string;
  readonly role: Role;
}

const pattern = /^([^=\s]{1,200})=(.{1,500}):([^:\s]{1,255}):(viewer|operator|admin)$/;

/** Reads `realm_access.roles=shoal:*:admin`. The value may contain colons. */
function parse(text: string): RoleRule | undefined {
  const [, claim = "", value = "", project = "", role = ""] = pattern.exec(text) ?? [];
  const known = roles.find((name) => name === role);
  // Names of claims that are addresses contain dots and are not nested.
  const path = claim.includes("://") ? [claim] : claim.split(".");
  return known && { claim: path, value, project, role: known };
}

export function isRoleRule(text: string): boolean {
  return parse(text) !== undefined;
}

export function roleRules(texts: readonly string[]): readonly RoleRule[] {
  return texts.map(parse).filter((rule) => rule !== undefined);
}
