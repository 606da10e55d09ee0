import type { contract, Endpoint, OperationsOf } from "@shoal/contract";
import type { HandlerCall, Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { Projects } from "./projects.ts";

/** The common part of an operation and its alias at the old path. */
type Call<E extends Endpoint> = Pick<HandlerCall<E, Access>, "body" | "context" | "params" | "query">;

export function projectHandlers(
  projects: Projects,
): Handlers<OperationsOf<"projects" | "projects.legacy" | "projects.legacy.limits" | "projects.limits">, Access> {
  const create = ({ body, context }: Call<typeof contract.createProject>) => projects.create(context.key, body);
  const list = ({ query, context }: Call<typeof contract.listProjects>) =>
    projects.list(context.key, { ...query, visible: context.visible });
  const get = ({ params, context }: Call<typeof contract.getProject>) => projects.get(context.key, params.id);
  const update = ({ params, body, context }: Call<typeof contract.updateProject>) =>
    projects.update(context.key, params.id, body);
  const remove = ({ params, context }: Call<typeof contract.deleteProject>) => projects.delete(context.key, params.id);
  const limits = ({ params, context }: Call<typeof contract.getProjectLimits>) =>
    projects.limits(context.key, params.id);
  const setLimits = ({ params, body, context }: Call<typeof contract.updateProjectLimits>) =>
    projects.setLimits(context.key, params.id, body);
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
