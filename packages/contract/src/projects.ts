import { CreateProject, Id, lazyObject, ListProjects, Project, ProjectLimits, UpdateProject, UpdateProjectLimits } from "@shoal/schemas";
import { defineEndpoint, empty, json, page } from "./endpoint.ts";

const area = "Projects";
const id = lazyObject(() => ({
  /** The project's id, or its name. */
  id: Id,
}));

/** Needs a key of the whole organisation. */
export const createProject = defineEndpoint({
  operationId: "projects.create",
  area,
  plane: "control",
  method: "POST",
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
  method: "GET",
  path: "/org/projects",
  summary: "List projects.",
  query: ListProjects,
  responses: { 200: page(Project) },
  errors: [400, 401, 404, 500],
});

/** An id is looked for before a name. */
export const getProject = defineEndpoint({
  operationId: "projects.get",
  area,
  plane: "control",
  method: "GET",
  path: "/org/projects/{id}",
  summary: "Get a project by id or name.",
  params: id,
  responses: { 200: json(Project) },
  errors: [401, 404, 500],
});

/** Fields that are absent stay as they are. A project's key may rename its own project, and nothing else. Refused for the last active project (409 `last_active_project`); when the default project is archived, the oldest other active one takes its part. */
export const updateProject = defineEndpoint({
  operationId: "projects.update",
  area,
  plane: "control",
  method: "PATCH",
  path: "/org/projects/{id}",
  summary: "Rename, archive or reopen a project.",
  params: id,
  body: json(UpdateProject),
  responses: { 200: json(Project) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Refused while something in it is in use (409 `project_not_empty`), and for the last active project (409 `last_active_project`). Its keys are deleted with it; when it is the default project, the oldest other active one takes its part. */
export const deleteProject = defineEndpoint({
  operationId: "projects.delete",
  area,
  plane: "control",
  method: "DELETE",
  path: "/org/projects/{id}",
  summary: "Delete a project.",
  params: id,
  responses: { 204: empty },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Limits of the project's own; the organisation's hold beside them. */
export const getProjectLimits = defineEndpoint({
  operationId: "projects.limits.get",
  area,
  plane: "control",
  method: "GET",
  path: "/org/projects/{id}/limits",
  summary: "Get the limits of a project.",
  params: id,
  responses: { 200: json(ProjectLimits) },
  errors: [401, 404, 500],
});

/** 0 takes a limit away; what is absent stays as it is. */
export const updateProjectLimits = defineEndpoint({
  operationId: "projects.limits.update",
  area,
  plane: "control",
  method: "PATCH",
  path: "/org/projects/{id}/limits",
  summary: "Change the limits of a project.",
  params: id,
  body: json(UpdateProjectLimits),
  responses: { 200: json(ProjectLimits) },
  errors: [400, 401, 403, 404, 500],
});
