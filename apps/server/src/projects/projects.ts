import type { Page } from "@shoal/contract";
import { badInput, ServiceError } from "@shoal/router";
import type { ListProjects, Project, ProjectLimits, UpdateProject, UpdateProjectLimits } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { KeyRow } from "../auth/access.ts";
import { isUniqueViolation } from "../database-errors.ts";
import { createId } from "../ids.ts";
import { toPage } from "../paging.ts";
import type { Closing, ProjectRow, ProjectStore } from "./project-store.ts";

/** The rules of projects. `caller` is the key that asks: a project's key sees that project only, and may do nothing but rename it. */
export interface Projects {
  create(caller: KeyRow, name: string): Promise<Project>;
  list(caller: KeyRow, filter: z.output<typeof ListProjects>): Promise<Page<Project>>;
  get(caller: KeyRow, idOrName: string): Promise<Project>;
  update(caller: KeyRow, idOrName: string, request: z.output<typeof UpdateProject>): Promise<Project>;
  delete(caller: KeyRow, idOrName: string): Promise<void>;
  limits(caller: KeyRow, idOrName: string): Promise<ProjectLimits>;
  setLimits(caller: KeyRow, idOrName: string, request: z.output<typeof UpdateProjectLimits>): Promise<ProjectLimits>;
}

function toProject({ id, name, status, created_at, updated_at }: ProjectRow): Project {
  return { id, name, status, created_at, updated_at };
}

function toLimits({ max_invocations, max_sessions }: ProjectRow): ProjectLimits {
  return { max_concurrent_sessions: max_sessions, max_concurrent_invocations: max_invocations };
}

function notFound(idOrName: string): ServiceError {
  return new ServiceError(404, "not_found", `Project ${idOrName} was not found. List the projects with projects.list.`);
}

function nameTaken(name: string): ServiceError {
  return new ServiceError(409, "name_taken", `A project named ${JSON.stringify(name)} exists already. Choose another name, or use that project.`);
}

/** A key of one project may not do this. @param what - `change its limits` */
export function refuseProjectKey({ project_id }: KeyRow, what: string): void {
  if (project_id !== null)
    throw new ServiceError(403, "forbidden", `This API key belongs to one project and cannot ${what}. Use a key of the whole organisation.`);
}

/** As the wire has limits: what is absent or `null` stays as it is, 0 is no limit. */
function changeOf(limit: number | null | undefined): number | null | undefined {
  return limit === 0 ? null : (limit ?? undefined);
}

/**
 * @param forget - called with the ids of projects and keys before a change of them is reported as done: from then on nobody may use the old state.
 */
export function createProjects(
  store: ProjectStore,
  forget: (ids: { readonly projects: readonly string[]; readonly keys?: readonly string[] }) => void,
): Projects {
  async function existing(caller: KeyRow, idOrName: string): Promise<ProjectRow> {
    const row = await store.find(idOrName, caller.project_id);
    if (row === undefined) throw notFound(idOrName);
    return row;
  }

  function settled<Done>(closing: Closing<Done>, project: ProjectRow): Extract<Closing<Done>, { kind: "done" }> {
    switch (closing.kind) {
      case "done":
        return closing;
      case "missing":
        throw notFound(project.id);
      case "last":
        throw new ServiceError(
          409,
          "last_active_project",
          `Project ${project.name} is the last active one. Make another one with projects.create first.`,
        );
      case "full":
        throw new ServiceError(
          409,
          "project_not_empty",
          `Project ${project.name} still has ${closing.contents.join(", ")}. Delete them first, or archive the project.`,
        );
    }
  }

  async function archive(project: ProjectRow, name: string | undefined): Promise<ProjectRow> {
    const ids = [project.id];
    try {
      const { value, heirId } = settled(await store.archive(project.id, name), project);
      if (heirId !== undefined) ids.push(heirId);
      return value;
    } finally {
      forget({ projects: ids });
    }
  }

  return {
    async create(caller, name) {
      refuseProjectKey(caller, "make projects");
      try {
        return toProject(await store.insert({ id: createId(), name }));
      } catch (error) {
        throw isUniqueViolation(error) ? nameTaken(name) : error;
      }
    },

    list: async (caller, filter) => toPage(await store.list(filter, caller.project_id), filter, toProject),

    get: async (caller, idOrName) => toProject(await existing(caller, idOrName)),

    async update(caller, idOrName, { name, status }) {
      const project = await existing(caller, idOrName);
      const newName = name === project.name ? undefined : name;
      const newStatus = status === project.status ? undefined : status;
      if (newStatus !== undefined) refuseProjectKey(caller, "archive or reopen projects");
      if (newName === undefined && newStatus === undefined) return toProject(project);
      try {
        if (newStatus === "archived") return toProject(await archive(project, newName));
        const row = await store.update(project.id, {
          ...(newName !== undefined && { name: newName }),
          ...(newStatus !== undefined && { status: newStatus }),
        });
        if (row === undefined) throw notFound(idOrName);
        return toProject(row);
      } catch (error) {
        throw newName !== undefined && isUniqueViolation(error) ? nameTaken(newName) : error;
      } finally {
        forget({ projects: [project.id] });
      }
    },

    async delete(caller, idOrName) {
      const project = await existing(caller, idOrName);
      refuseProjectKey(caller, "delete projects");
      const { value: keys, heirId } = settled(await store.delete(project.id), project);
      forget({ projects: heirId === undefined ? [project.id] : [project.id, heirId], keys });
    },

    limits: async (caller, idOrName) => toLimits(await existing(caller, idOrName)),

    async setLimits(caller, idOrName, request) {
      const project = await existing(caller, idOrName);
      refuseProjectKey(caller, "change the limits of a project");
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- deprecated for callers, who may still send it
      if ((request.max_pooled_sessions ?? 0) > 0) {
        throw badInput("body.max_pooled_sessions: browsers of pools count towards max_concurrent_sessions; set that instead");
      }
      const max_sessions = changeOf(request.max_concurrent_sessions);
      const max_invocations = changeOf(request.max_concurrent_invocations);
      if (max_sessions === undefined && max_invocations === undefined) return toLimits(project);
      const row = await store.setLimits(project.id, {
        ...(max_sessions !== undefined && { max_sessions }),
        ...(max_invocations !== undefined && { max_invocations }),
      });
      if (row === undefined) throw notFound(idOrName);
      return toLimits(row);
    },
  };
}
