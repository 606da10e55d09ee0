import { isAtLeast, type Role } from "@shoal/contract/rights";
import { ServiceError } from "@shoal/router";
import type { KeyRow, PresentAccess } from "../http/auth/access.ts";
import { keyProblem } from "../http/auth/key-problem.ts";
import type { ProjectLookup } from "../http/auth/project-lookup.ts";
import type { ReadCache } from "../storage/read-cache.ts";
import { type Scope, scopeOf } from "./grants.ts";
import type { People } from "./people.ts";

interface PresentParts {
  readonly keysById: Pick<ReadCache<KeyRow>, "get">;
  readonly lookup: Pick<ProjectLookup, "find" | "standard">;
}

/** The result throws 401 for an invalid key, and 404 for a person without a role in the project. */
export function createPresentAccess({ keysById, lookup }: PresentParts, people: Pick<People, "find">): PresentAccess {
  return async ({ handoff, key: { id }, projectId, role }) => {
    const key = await keysById.get(id);
    const problem = keyProblem(key);
    if (key === undefined || problem !== undefined)
      throw new ServiceError(401, "unauthorized", `The API key of the caller is invalid. ${problem ?? ""}`);
    const person = key.isPerson === true ? await people.find(id) : undefined;
    const present = person === undefined ? { key, role } : limited(await scopeOf(person, projectId, lookup), role);
    return { ...present, projectId, ...(handoff && { handoff }) };
  };
}

/** Tokens of one person may have different roles: work that a lower one started does not get the rights of a higher one. */
function limited(scope: Scope, role: Role | undefined): Scope {
  return role === undefined || isAtLeast(role, scope.role) ? scope : { ...scope, role };
}
