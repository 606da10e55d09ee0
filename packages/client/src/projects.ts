import {
  createProject,
  createProjectLegacy,
  deleteProject,
  deleteProjectLegacy,
  getProject,
  getProjectLegacy,
  getProjectLimits,
  getProjectLimitsLegacy,
  listProjects,
  listProjectsLegacy,
  updateProject,
  updateProjectLegacy,
  updateProjectLimits,
  updateProjectLimitsLegacy,
} from "@shoal/contract";
import type { CreateProject, ListProjects, Project, ProjectLimits, UpdateProject, UpdateProjectLimits } from "@shoal/schemas";
import type { CallOptions, ItemPage, Transport } from "@shoal/transport";

/** How much projects may use at once. */
export class ProjectLimitsResource {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The limits of a project's own, by its id or name. @throws {ApiError} 404 `not_found`. */
  get(idOrName: string, options?: CallOptions): Promise<ProjectLimits> {
    return this.#transport.call(getProjectLimits, { params: { id: idOrName } }, options);
  }
  /** Changes the limits of a project: 0 takes one away, what is absent stays. @throws {ApiError} 400 above the organisation's limit; 403 for a project's key; 404 `not_found`. */
  update(idOrName: string, body: UpdateProjectLimits, options?: CallOptions): Promise<ProjectLimits> {
    return this.#transport.call(updateProjectLimits, { params: { id: idOrName }, body }, options);
  }
}

/** Parts of the organisation with browsers, profiles, keys and limits of their own. */
export class Projects {
  /** How much each may use at once. */
  readonly limits: ProjectLimitsResource;
  /** @deprecated The same operations at the paths that they had before `/org`; for services that know only those. */
  readonly legacy: LegacyProjects;
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
    this.limits = new ProjectLimitsResource(transport);
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- making it is no use of it
    this.legacy = new LegacyProjects(transport);
  }

  /** Makes a project. @throws {ApiError} 403 for a project's key; 409 `name_taken`. */
  create(body: CreateProject, options?: CallOptions): Promise<Project> {
    return this.#transport.call(createProject, { body }, options);
  }
  /** Lists projects, newest first; with a project's key that project alone. `for await` over the page gives all of them, page by page. */
  list(query: ListProjects = {}, options?: CallOptions): Promise<ItemPage<Project>> {
    return this.#transport.call(listProjects, { query }, options);
  }
  /** Finds a project. An id is looked for before a name. @throws {ApiError} 404 `not_found`. */
  get(idOrName: string, options?: CallOptions): Promise<Project> {
    return this.#transport.call(getProject, { params: { id: idOrName } }, options);
  }
  /** Renames a project, archives it, or opens it again. @throws {ApiError} 404 `not_found`, 409 `name_taken`. */
  update(idOrName: string, body: UpdateProject, options?: CallOptions): Promise<Project> {
    return this.#transport.call(updateProject, { params: { id: idOrName }, body }, options);
  }
  /** Deletes a project that holds nothing any more. @throws {ApiError} 404 `not_found`; 409 `project_not_empty`, `last_active_project`. */
  delete(idOrName: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(deleteProject, { params: { id: idOrName } }, options);
  }
}

/** Limits of projects at their old paths. */
export class LegacyProjectLimits {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** As `projects.limits.get`. */
  get(idOrName: string, options?: CallOptions): Promise<ProjectLimits> {
    return this.#transport.call(getProjectLimitsLegacy, { params: { id: idOrName } }, options);
  }
  /** As `projects.limits.update`. */
  update(idOrName: string, body: UpdateProjectLimits, options?: CallOptions): Promise<ProjectLimits> {
    return this.#transport.call(updateProjectLimitsLegacy, { params: { id: idOrName }, body }, options);
  }
}

/** Projects at their old paths, which begin with `/projects`. */
export class LegacyProjects {
  /** Their limits. */
  readonly limits: LegacyProjectLimits;
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
    this.limits = new LegacyProjectLimits(transport);
  }

  /** As `projects.create`. */
  create(body: CreateProject, options?: CallOptions): Promise<Project> {
    return this.#transport.call(createProjectLegacy, { body }, options);
  }
  /** As `projects.list`. */
  list(query: ListProjects = {}, options?: CallOptions): Promise<ItemPage<Project>> {
    return this.#transport.call(listProjectsLegacy, { query }, options);
  }
  /** As `projects.get`. */
  get(idOrName: string, options?: CallOptions): Promise<Project> {
    return this.#transport.call(getProjectLegacy, { params: { id: idOrName } }, options);
  }
  /** As `projects.update`. */
  update(idOrName: string, body: UpdateProject, options?: CallOptions): Promise<Project> {
    return this.#transport.call(updateProjectLegacy, { params: { id: idOrName }, body }, options);
  }
  /** As `projects.delete`. */
  delete(idOrName: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(deleteProjectLegacy, { params: { id: idOrName } }, options);
  }
}
