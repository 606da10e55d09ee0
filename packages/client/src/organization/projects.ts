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
import type {
  CreateProject,
  ListProjects,
  Project,
  ProjectLimits,
  UpdateProject,
  UpdateProjectLimits,
} from "@shoal/schemas";
import type { Call, CallOptions, ItemPage, Transport } from "@shoal/transport";

/** Limits of projects. */
export class ProjectLimitsResource {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns the limits of a project by id or name. @throws {ApiError} 404 `not_found`. */
  get(idOrName: string, options?: CallOptions): Call<ProjectLimits> {
    return this.#transport.call(getProjectLimits, { params: { id: idOrName } }, options);
  }
  /** Changes the limits of a project; 0 removes a limit. @throws {ApiError} 400 above the organisation's limit; 403 for a project's key; 404 `not_found`. */
  update(idOrName: string, body: UpdateProjectLimits, options?: CallOptions): Call<ProjectLimits> {
    return this.#transport.call(updateProjectLimits, { params: { id: idOrName }, body }, options);
  }
}

/** Projects separate browsers, profiles, keys and limits within an organisation. */
export class Projects {
  readonly limits: ProjectLimitsResource;
  /** @deprecated The same operations at their old paths, for older services. */
  readonly legacy: LegacyProjects;
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
    this.limits = new ProjectLimitsResource(transport);
    // oxlint-disable-next-line typescript/no-deprecated -- only constructed here
    this.legacy = new LegacyProjects(transport);
  }

  /** Creates a project. @throws {ApiError} 403 for a project's key; 409 `name_taken`. */
  create(body: CreateProject, options?: CallOptions): Call<Project> {
    return this.#transport.call(createProject, { body }, options);
  }
  /** Lists projects, newest first; with a project's key only that project. `for await` iterates over all pages. */
  list(query: ListProjects = {}, options?: CallOptions): Call<ItemPage<Project>> {
    return this.#transport.call(listProjects, { query }, options);
  }
  /** Gets a project. Ids take precedence over names. @throws {ApiError} 404 `not_found`. */
  get(idOrName: string, options?: CallOptions): Call<Project> {
    return this.#transport.call(getProject, { params: { id: idOrName } }, options);
  }
  /** Renames, archives or reactivates a project. @throws {ApiError} 404 `not_found`, 409 `name_taken`. */
  update(idOrName: string, body: UpdateProject, options?: CallOptions): Call<Project> {
    return this.#transport.call(updateProject, { params: { id: idOrName }, body }, options);
  }
  /** Deletes an empty project. @throws {ApiError} 404 `not_found`; 409 `project_not_empty`, `last_active_project`. */
  delete(idOrName: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteProject, { params: { id: idOrName } }, options);
  }
}

/** Limits of projects at their old paths. */
export class LegacyProjectLimits {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** `projects.limits.get` */
  get(idOrName: string, options?: CallOptions): Call<ProjectLimits> {
    return this.#transport.call(getProjectLimitsLegacy, { params: { id: idOrName } }, options);
  }
  /** `projects.limits.update` */
  update(idOrName: string, body: UpdateProjectLimits, options?: CallOptions): Call<ProjectLimits> {
    return this.#transport.call(updateProjectLimitsLegacy, { params: { id: idOrName }, body }, options);
  }
}

/** The paths begin with `/projects`. */
export class LegacyProjects {
  readonly limits: LegacyProjectLimits;
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
    this.limits = new LegacyProjectLimits(transport);
  }

  /** `projects.create` */
  create(body: CreateProject, options?: CallOptions): Call<Project> {
    return this.#transport.call(createProjectLegacy, { body }, options);
  }
  /** `projects.list` */
  list(query: ListProjects = {}, options?: CallOptions): Call<ItemPage<Project>> {
    return this.#transport.call(listProjectsLegacy, { query }, options);
  }
  /** `projects.get` */
  get(idOrName: string, options?: CallOptions): Call<Project> {
    return this.#transport.call(getProjectLegacy, { params: { id: idOrName } }, options);
  }
  /** `projects.update` */
  update(idOrName: string, body: UpdateProject, options?: CallOptions): Call<Project> {
    return this.#transport.call(updateProjectLegacy, { params: { id: idOrName }, body }, options);
  }
  /** `projects.delete` */
  delete(idOrName: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteProjectLegacy, { params: { id: idOrName } }, options);
  }
}
