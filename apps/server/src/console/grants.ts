import { namedProjectUnavailable } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { KeyRow } from "../http/auth/access.ts";
import type { ProjectEntry, ProjectLookup } from "../http/auth/project-lookup.ts";
import { isAtLeast, type Role } from "@shoal/contract/rights";
import { isStorable } from "../http/paging.ts";

/** Rights in one project, by id or name. */
export interface Grant {
  /** `*` = in all projects. */
  readonly project: string;
  readonly role: Role;
}

const everywhere = "*";

function highest(grants: readonly Grant[]): Role | undefined {
  return grants.reduce<Role | undefined>(
    (best, { role }) => (best !== undefined && isAtLeast(best, role) ? best : role),
    undefined,
  );
}

/** Returns the role in the whole organization. */
export function roleEverywhere(grants: readonly Grant[]): Role | undefined {
  return highest(grants.filter(({ project }) => project === everywhere));
}

export function roleIn(grants: readonly Grant[], { id, name }: Pick<ProjectEntry, "id" | "name">): Role | undefined {
  return highest(grants.filter(({ project }) => project === everywhere || project === id || project === name));
}

/** Names and ids of single projects. */
export function projectsIn(grants: readonly Grant[]): readonly string[] {
  return [...new Set(grants.map(({ project }) => project).filter((project) => project !== everywhere))];
}

export interface Scope {
  readonly role: Role;
  /** The person in the role of a key: of the whole organization, or of one project. */
  readonly key: KeyRow;
}

type Projects = Pick<ProjectLookup, "find" | "standard">;

/**
 * Returns the rights of a person in the project of a request.
 * @param named - the project that the request names.
 * @throws {ServiceError} 403 without any project, 404 for a project of others.
 */
export async function scopeOf(
  { grants, key }: { readonly grants: readonly Grant[]; readonly key: KeyRow },
  named: string | undefined,
  projects: Projects,
): Promise<Scope> {
  const project = named === undefined ? await firstProject(grants, projects) : await namedProject(named, projects);
  const role = project && roleIn(grants, project);
  if (project === undefined || role === undefined) {
    if (named !== undefined) throw ServiceError.of(namedProjectUnavailable(named, "missing"));
    throw new ServiceError(403, "forbidden", "You have no role in any project of this service.", {
      hint: "Ask an administrator of the service for a role.",
    });
  }
  const general = roleEverywhere(grants);
  // A higher role in one project must not reach others.
  const isGeneral = general !== undefined && isAtLeast(general, role);
  return { role, key: isGeneral ? key : { ...key, project_id: project.id } };
}

async function namedProject(named: string, projects: Projects): Promise<ProjectEntry | undefined> {
  return isStorable(named) ? projects.find(named) : undefined;
}

async function firstProject(grants: readonly Grant[], projects: Projects): Promise<ProjectEntry | undefined> {
  if (roleEverywhere(grants) !== undefined) return projects.standard();
  for (const name of projectsIn(grants)) {
    const project = await namedProject(name, projects);
    if (project?.status === "active") return project;
  }
  return undefined;
}
