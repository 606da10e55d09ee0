// Old paths of projects, before they moved below /org. Existing programs use them.
import {
  createProject,
  deleteProject,
  getProject,
  getProjectLimits,
  listProjects,
  updateProject,
  updateProjectLimits,
} from "./projects.ts";
import { defineEndpoint } from "../base/endpoint.ts";

/** The same as `projects.create`, at its old path. */
export const createProjectLegacy = defineEndpoint({
  ...createProject,
  operationId: "projects.legacy.create",
  path: "/projects",
  deprecated: true,
});

/** The same as `projects.list`, at its old path. */
export const listProjectsLegacy = defineEndpoint({
  ...listProjects,
  operationId: "projects.legacy.list",
  path: "/projects",
  deprecated: true,
});

/** The same as `projects.get`, at its old path. */
export const getProjectLegacy = defineEndpoint({
  ...getProject,
  operationId: "projects.legacy.get",
  path: "/projects/{id}",
  deprecated: true,
});

/** The same as `projects.update`, at its old path. */
export const updateProjectLegacy = defineEndpoint({
  ...updateProject,
  operationId: "projects.legacy.update",
  path: "/projects/{id}",
  deprecated: true,
});

/** The same as `projects.delete`, at its old path. */
export const deleteProjectLegacy = defineEndpoint({
  ...deleteProject,
  operationId: "projects.legacy.delete",
  path: "/projects/{id}",
  deprecated: true,
});

/** The same as `projects.limits.get`, at its old path. */
export const getProjectLimitsLegacy = defineEndpoint({
  ...getProjectLimits,
  operationId: "projects.legacy.limits.get",
  path: "/projects/{id}/limits",
  deprecated: true,
});

/** The same as `projects.limits.update`, at its old path. */
export const updateProjectLimitsLegacy = defineEndpoint({
  ...updateProjectLimits,
  operationId: "projects.legacy.limits.update",
  path: "/projects/{id}/limits",
  deprecated: true,
});
