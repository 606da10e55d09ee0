import type * as endpoints from "@shoal/contract";
import { badInput, ServiceError, type Handlers } from "@shoal/router";
import type { Project, ProjectLimits } from "@shoal/schemas";
import type { Access } from "../access.ts";
import { createId } from "../ids.ts";
import { folded, holds, pageOf } from "../listing.ts";
import type { ProjectRow, Store } from "../store.ts";

type ProjectEndpoints = Pick<
  typeof endpoints,
  "createProject" | "listProjects" | "getProject" | "updateProject" | "deleteProject" | "getProjectLimits" | "updateProjectLimits"
>;

function toProject({ createdAt, id, name, status, updatedAt }: ProjectRow): Project {
  return { id, name, status, created_at: createdAt, updated_at: updatedAt };
}

/** A new project, not stored yet. */
export function newProject(name: string): ProjectRow {
  const now = new Date().toISOString();
  return { id: createId(), name, status: "active", createdAt: now, updatedAt: now, limits: {} };
}

/** Handlers of the projects, in memory. */
export function projectHandlers(store: Store): Handlers<ProjectEndpoints, Access> {
  const visible = ({ key }: Access) => store.projects.filter(({ id }) => key.projectId === null || id === key.projectId);

  function existing(access: Access, idOrName: string): ProjectRow {
    const rows = visible(access);
    const found = rows.find(({ id }) => id === idOrName) ?? rows.find(({ name }) => name === idOrName);
    if (found === undefined) throw new ServiceError(404, "not_found", `Project ${idOrName} was not found. List the projects with projects.list.`);
    return found;
  }

  function refuseProjectKey({ key }: Access, what: string): void {
    if (key.projectId !== null)
      throw new ServiceError(403, "forbidden", `This API key belongs to one project and cannot ${what}. Use a key of the whole organisation.`);
  }

  function refuseTaken(name: string, but?: ProjectRow): void {
    if (store.projects.some((project) => project !== but && project.name === name))
      throw new ServiceError(409, "name_taken", `A project named ${JSON.stringify(name)} exists already. Choose another name, or use that project.`);
  }

  /** The oldest other active project becomes the default one where this one was. */
  function passOn(project: ProjectRow): void {
    const heir = store.projects.find((other) => other !== project && other.status === "active");
    if (heir === undefined)
      throw new ServiceError(
        409,
        "last_active_project",
        `Project ${project.name} is the last active one. Make another one with projects.create first.`,
      );
    if (store.defaultProject === project) store.defaultProject = heir;
  }

  const shown = (limit: number | undefined) => (limit === undefined || limit === 0 ? null : limit);
  const limitsOf = ({ limits }: ProjectRow): ProjectLimits => ({
    max_concurrent_sessions: shown(limits.sessions),
    max_concurrent_invocations: shown(limits.invocations),
  });

  return {
    createProject: ({ body, context }) => {
      refuseProjectKey(context, "make projects");
      refuseTaken(body.name);
      const project = newProject(body.name);
      store.projects.push(project);
      return toProject(project);
    },
    listProjects: ({ query: { name, query: part, ...window }, context }) => {
      const found = visible(context).filter(
        (project) => (part === undefined || holds(project.name, part)) && (name === undefined || folded(project.name) === folded(name)),
      );
      return pageOf(found.reverse(), window, toProject);
    },
    getProject: ({ params, context }) => toProject(existing(context, params.id)),
    updateProject: ({ params, body, context }) => {
      const project = existing(context, params.id);
      const isClosed = body.status === "archived" && project.status !== "archived";
      if (body.status !== undefined && body.status !== project.status) refuseProjectKey(context, "archive or reopen projects");
      if (body.name !== undefined) refuseTaken(body.name, project);
      if (isClosed) passOn(project);
      if ((body.name ?? project.name) === project.name && (body.status ?? project.status) === project.status) return toProject(project);
      project.name = body.name ?? project.name;
      project.status = body.status ?? project.status;
      project.updatedAt = new Date().toISOString();
      return toProject(project);
    },
    deleteProject: ({ params, context }) => {
      const project = existing(context, params.id);
      refuseProjectKey(context, "delete projects");
      const { id, name } = project;
      const contents = [
        store.sessions.some(({ ended, projectId }) => projectId === id && ended === undefined) && "running sessions",
        store.profiles.some(({ projectId }) => projectId === id) && "profiles",
      ].filter((what) => what !== false);
      if (contents.length > 0)
        throw new ServiceError(
          409,
          "project_not_empty",
          `Project ${name} still has ${contents.join(", ")}. Delete them first, or archive the project.`,
        );
      passOn(project);
      store.projects.splice(store.projects.indexOf(project), 1);
      for (const key of store.apiKeys) if (key.projectId === id) key.deletedAt ??= new Date().toISOString();
    },
    getProjectLimits: ({ params, context }) => limitsOf(existing(context, params.id)),
    updateProjectLimits: ({ params, body, context }) => {
      const project = existing(context, params.id);
      refuseProjectKey(context, "change the limits of a project");
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- deprecated for callers, who may still send it
      if ((body.max_pooled_sessions ?? 0) > 0) {
        throw badInput("body.max_pooled_sessions: browsers of pools count towards max_concurrent_sessions; set that instead");
      }
      const { limits } = project;
      limits.sessions = body.max_concurrent_sessions ?? limits.sessions;
      limits.invocations = body.max_concurrent_invocations ?? limits.invocations;
      return limitsOf(project);
    },
  };
}
