import type { Database } from "@shoal/database";
import type { ProjectLookup } from "../http/auth/project-lookup.ts";
import type { Role } from "@shoal/contract/rights";
import type { SignedIn } from "./console-authenticator.ts";
import type { ConsoleSessionAnswer } from "./endpoints.ts";
import { projectsIn, roleEverywhere, roleIn } from "./grants.ts";

/** More projects than a list in a page can show. */
const maxProjects = 1000;

export interface ProjectsParts {
  readonly database: Pick<Database, "query">;
  readonly projects: Pick<ProjectLookup, "find">;
}

interface NamedProject {
  readonly id: string;
  readonly name: string;
}

export async function answerOf(
  parts: ProjectsParts,
  { key, person, session }: SignedIn,
): Promise<ConsoleSessionAnswer> {
  const expiresAtMs = person === undefined ? Math.min(session.expiresAtMs, key.expiresAtMs) : session.expiresAtMs;
  const roleOf = (project: NamedProject): Role | undefined =>
    person === undefined ? roleOfKey(key, project.id) : roleIn(person.grants, project);
  const projects = await projectsOf(parts, { key, person });
  return {
    principal: { type: person === undefined ? "api_key" : "user", id: key.id, name: key.name },
    organization_role: generalRole({ key, person }) ?? null,
    projects: projects.flatMap(({ id, name }) => {
      const role = roleOf({ id, name });
      return role === undefined ? [] : [{ id, name, role }];
    }),
    expires_at: new Date(expiresAtMs).toISOString(),
  };
}

function projectsOfKey({ policy, project_id }: Pick<SignedIn["key"], "policy" | "project_id">): readonly string[] {
  return project_id === null ? (policy?.projects() ?? []) : [project_id];
}

function generalRole({ key, person }: Pick<SignedIn, "key" | "person">): Role | undefined {
  if (person !== undefined) return roleEverywhere(person.grants);
  if (key.project_id !== null) return undefined;
  return key.policy === undefined ? "admin" : key.policy.roleEverywhere();
}

/** The lowest role for a key whose policy has no role: its pages show what single operations allow. */
function roleOfKey({ policy }: Pick<SignedIn["key"], "policy">, projectId: string): Role {
  return policy === undefined ? "admin" : (policy.roleIn(projectId) ?? "viewer");
}

/** The default project is the first. */
async function projectsOf(
  { database, projects }: ProjectsParts,
  { key, person }: Pick<SignedIn, "key" | "person">,
): Promise<readonly NamedProject[]> {
  if (generalRole({ key, person }) !== undefined)
    return database.query
      .selectFrom("projects")
      .select(["id", "name"])
      .where("deleted_at", "is", null)
      .where("status", "=", "active")
      .orderBy("is_default", "desc")
      .orderBy("name_folded")
      .limit(maxProjects)
      .execute();
  const names = (person === undefined ? projectsOfKey(key) : projectsIn(person.grants)).slice(0, maxProjects);
  const found = new Map<string, NamedProject>();
  for (const name of names) {
    const project = await projects.find(name);
    if (project?.status === "active") found.set(project.id, project);
  }
  return [...found.values()];
}
