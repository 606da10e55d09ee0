/** Rights of a person in a project, weakest first. */
export const roles = ["viewer", "operator", "admin"] as const;

export type Role = (typeof roles)[number];

export function isAtLeast(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}
