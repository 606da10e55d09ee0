import {
  CreateProject,
  Id,
  lazyObject,
  ListProjects,
  Project,
  ProjectLimits,
  UpdateProject,
  UpdateProjectLimits,
} from "@shoal/schemas";
import { defineEndpoint, empty, json, page } from "../base/endpoint.ts";

/** Projects, which separate the resources and keys of an organisation, and their limits. */
const area = "Projects";
const id = lazyObject(() => ({
  /** The project's id, or its name. */
  id: Id,
}));

/** Needs an organisation-wide key. */
export const createProject = defineEndpoint({
  operationId: "projects.create",
  area,
  plane: "control",
  moves: ["write organization"],
  method: "POST",
  idempotency: "transaction",
  path: "/org/projects",
  summary: "Create a project.",
  body: json(CreateProject),
  responses: { 201: json(Project) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Newest first. A project's key sees that project only. */
export const listProjects = defineEndpoint({
  operationId: "projects.list",
  area,
  plane: "control",
  moves: ["read organization"],
  scope: ["projects:read"],
  method: "GET",
  path: "/org/projects",
  summary: "List projects.",
  query: ListProjects,
  responses: { 200: page(Project) },
  errors: [400, 401, 404, 500],
});

/** An id takes precedence over a name. */
export const getProject = defineEndpoint({
  operationId: "projects.get",
  area,
  plane: "control",
  moves: ["read organization"],
  scope: ["projects:read"],
  method: "GET",
  path: "/org/projects/{id}",
  summary: "Get a project by id or name.",
  params: id,
  responses: { 200: json(Project) },
  errors: [401, 404, 500],
});

/** Absent fields stay unchanged. A project's key may only rename its own project. Fails for the last active project (409 `last_active_project`). When the default project is archived, the oldest active project becomes the default. */
export const updateProject = defineEndpoint({
  operationId: "projects.update",
  area,
  plane: "control",
  moves: ["write organization"],
  method: "PATCH",
  path: "/org/projects/{id}",
  summary: "Rename, archive or reopen a project.",
  params: id,
  body: json(UpdateProject),
  responses: { 200: json(Project) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Fails while the project is in use (409 `project_not_empty`) and for the last active project (409 `last_active_project`). Its keys are deleted with it. When it is the default project, the oldest active project becomes the default. */
export const deleteProject = defineEndpoint({
  operationId: "projects.delete",
  area,
  plane: "control",
  moves: ["write organization"],
  method: "DELETE",
  path: "/org/projects/{id}",
  summary: "Delete a project.",
  params: id,
  responses: { 204: empty },
  errors: [400, 401, 403, 404, 409, 500],
});

/** The project's own limits. The organisation's limits apply as well. */
export const getProjectLimits = defineEndpoint({
  operationId: "projects.limits.get",
  area,
  plane: "control",
  moves: ["read organization"],
  scope: ["projects:read"],
  method: "GET",
  path: "/org/projects/{id}/limits",
  summary: "Get the limits of a project.",
  params: id,
  responses: { 200: json(ProjectLimits) },
  errors: [401, 404, 500],
});

/** 0 removes a limit; absent fields stay unchanged. */
export const updateProjectLimits = defineEndpoint({
  operationId: "projects.limits.update",
  area,
  plane: "control",
  moves: ["write organization"],
  method: "PATCH",
  path: "/org/projects/{id}/limits",
  summary: "Change the limits of a project.",
  params: id,
  body: json(UpdateProjectLimits),
  responses: { 200: json(ProjectLimits) },
  errors: [400, 401, 403, 404, 500],
});
