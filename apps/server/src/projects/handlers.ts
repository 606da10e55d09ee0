import type * as endpoints from "@shoal/contract";
import type { Endpoint } from "@shoal/contract";
import type { HandlerCall, Handlers } from "@shoal/router";
import type { Access } from "../auth/access.ts";
import type { Projects } from "./projects.ts";

type ProjectEndpoints = Pick<
  typeof endpoints,
  | "createProject"
  | "listProjects"
  | "getProject"
  | "updateProject"
  | "deleteProject"
  | "getProjectLimits"
  | "updateProjectLimits"
  | "createProjectLegacy"
  | "listProjectsLegacy"
  | "getProjectLegacy"
  | "updateProjectLegacy"
  | "deleteProjectLegacy"
  | "getProjectLimitsLegacy"
  | "updateProjectLimitsLegacy"
>;
/** What an operation and its twin at the old path have alike. */
type Call<E extends Endpoint> = Pick<HandlerCall<E, Access>, "body" | "context" | "params" | "query">;

/** Projects, at the old paths as at the new ones. */
export function projectHandlers(projects: Projects): Handlers<ProjectEndpoints, Access> {
  const create = ({ body, context }: Call<typeof endpoints.createProject>) => projects.create(context.key, body.name);
  const list = ({ query, context }: Call<typeof endpoints.listProjects>) => projects.list(context.key, query);
  const get = ({ params, context }: Call<typeof endpoints.getProject>) => projects.get(context.key, params.id);
  const update = ({ params, body, context }: Call<typeof endpoints.updateProject>) => projects.update(context.key, params.id, body);
  const remove = ({ params, context }: Call<typeof endpoints.deleteProject>) => projects.delete(context.key, params.id);
  const limits = ({ params, context }: Call<typeof endpoints.getProjectLimits>) => projects.limits(context.key, params.id);
  const setLimits = ({ params, body, context }: Call<typeof endpoints.updateProjectLimits>) => projects.setLimits(context.key, params.id, body);
  return {
    createProject: create,
    createProjectLegacy: create,
    listProjects: list,
    listProjectsLegacy: list,
    getProject: get,
    getProjectLegacy: get,
    updateProject: update,
    updateProjectLegacy: update,
    deleteProject: remove,
    deleteProjectLegacy: remove,
    getProjectLimits: limits,
    getProjectLimitsLegacy: limits,
    updateProjectLimits: setLimits,
    updateProjectLimitsLegacy: setLimits,
  };
}
