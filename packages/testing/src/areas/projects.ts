import type { OperationsOf, Page } from "@shoal/contract";
import {
  lastActiveProject,
  needsOrganizationKey,
  poolLimitUnsupported,
  projectNameTaken,
  projectNotEmpty,
  projectNotFound,
} from "@shoal/contract/refusals";
import { createId } from "@shoal/primitives";
import { ServiceError, type Handlers } from "@shoal/router";
import type {
  CreateProject,
  ListProjects,
  Project,
  ProjectLimits,
  UpdateProject,
  UpdateProjectLimits,
} from "@shoal/schemas";
import type * as z from "zod/mini";
import type { Access } from "../state/access.ts";
import { networkRulesOf } from "../sessions/browser-options.ts";
import { folded, holds, pageOf } from "../state/listing.ts";
import { type ProjectRow, serviceDefaults, type Store } from "../state/store.ts";

function toProject({
  createdAt,
  defaultRecording,
  defaultTelemetry,
  id,
  name,
  network,
  status,
  updatedAt,
}: ProjectRow): Project {
  return {
    id,
    name,
    status,
    ...(network && { network: { ...network } }),
    ...(defaultTelemetry && { default_telemetry: [...defaultTelemetry] }),
    ...(defaultRecording !== undefined && { default_recording: defaultRecording }),
    service_defaults: serviceDefaults,
    created_at: createdAt,
    updated_at: updatedAt,
  };
}

function toLimits({ limits }: ProjectRow): ProjectLimits {
  const shown = (limit: number | undefined) => (limit === undefined || limit === 0 ? null : limit);
  return { max_concurrent_sessions: shown(limits.sessions), max_concurrent_invocations: shown(limits.invocations) };
}

export function newProject(name: string, network?: ProjectRow["network"]): ProjectRow {
  const now = new Date().toISOString();
  return { id: createId(), name, status: "active", createdAt: now, updatedAt: now, network, limits: {} };
}

function refuseProjectKey({ key }: Access, action: string): void {
  if (key.projectId !== null) throw ServiceError.of(needsOrganizationKey(action));
}

class FakeProjects {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  existing(access: Access, idOrName: string): ProjectRow {
    const rows = this.#visible(access);
    const found = rows.find(({ id }) => id === idOrName) ?? rows.find(({ name }) => name === idOrName);
    if (found === undefined) throw ServiceError.of(projectNotFound(idOrName));
    return found;
  }

  create({ name, network, ...defaults }: z.output<typeof CreateProject>, access: Access): Project {
    refuseProjectKey(access, "create projects");
    const rules = networkRulesOf(network);
    this.#refuseTaken(name);
    const project = newProject(name, rules);
    project.defaultTelemetry = defaults.default_telemetry;
    project.defaultRecording = defaults.default_recording;
    this.#store.projects.push(project);
    return toProject(project);
  }

  list({ name, query: part, ...window }: z.output<typeof ListProjects>, access: Access): Page<Project> {
    const found = this.#visible(access).filter(
      (project) =>
        (part === undefined || holds(project.name, part)) &&
        (name === undefined || folded(project.name) === folded(name)),
    );
    return pageOf(found.reverse(), window, toProject);
  }

  update(
    idOrName: string,
    { default_recording, default_telemetry, name, network, status }: z.output<typeof UpdateProject>,
    access: Access,
  ): Project {
    const project = this.existing(access, idOrName);
    const isRenamed = name !== undefined && name !== project.name;
    const isOtherStatus = status !== undefined && status !== project.status;
    if (isOtherStatus) refuseProjectKey(access, "archive or reopen projects");
    if (network !== undefined) refuseProjectKey(access, "change the network rules of a project");
    const isOtherDefault = default_telemetry !== undefined || default_recording !== undefined;
    if (isOtherDefault) refuseProjectKey(access, "change what sessions of a project capture and record");
    const rules = networkRulesOf(network, project.network);
    if (isRenamed) this.#refuseTaken(name, project);
    if (isOtherStatus && status === "archived") this.#passOn(project);
    if (!isRenamed && !isOtherStatus && !isOtherDefault && network === undefined) return toProject(project);
    project.name = name ?? project.name;
    project.status = status ?? project.status;
    if (network !== undefined) project.network = rules;
    if (default_telemetry !== undefined) project.defaultTelemetry = default_telemetry ?? undefined;
    if (default_recording !== undefined) project.defaultRecording = default_recording ?? undefined;
    project.updatedAt = new Date().toISOString();
    return toProject(project);
  }

  delete(idOrName: string, access: Access): void {
    const { apiKeys, connections, credentialProviders, credentials, deployments, invocations } = this.#store;
    const { profiles, projects, sessions } = this.#store;
    const project = this.existing(access, idOrName);
    refuseProjectKey(access, "delete projects");
    const { id, name } = project;
    const contents = [
      sessions.some(({ ended, projectId }) => projectId === id && ended === undefined) && "running sessions",
      invocations.some(({ finishedAt, projectId }) => projectId === id && finishedAt === null) && "running invocations",
      deployments.some(({ isDeleted, projectId }) => projectId === id && !isDeleted) && "deployments",
      connections.some(({ projectId }) => projectId === id) && "auth connections",
      credentialProviders.some(({ projectId }) => projectId === id) && "credential providers",
      credentials.some(({ projectId }) => projectId === id) && "credentials",
      profiles.some(({ projectId }) => projectId === id) && "profiles",
    ].filter((what) => what !== false);
    if (contents.length > 0) throw ServiceError.of(projectNotEmpty(name, contents));
    this.#passOn(project);
    projects.splice(projects.indexOf(project), 1);
    for (const key of apiKeys) if (key.projectId === id) key.deletedAt ??= new Date().toISOString();
  }

  setLimits(idOrName: string, body: z.output<typeof UpdateProjectLimits>, access: Access): ProjectLimits {
    const project = this.existing(access, idOrName);
    refuseProjectKey(access, "change the limits of a project");
    // oxlint-disable-next-line typescript/no-deprecated -- deprecated, but still accepted
    if ((body.max_pooled_sessions ?? 0) > 0) throw ServiceError.of(poolLimitUnsupported());
    const { limits } = project;
    limits.sessions = body.max_concurrent_sessions ?? limits.sessions;
    limits.invocations = body.max_concurrent_invocations ?? limits.invocations;
    return toLimits(project);
  }

  #visible({ key }: Access): ProjectRow[] {
    return this.#store.projects.filter(({ id }) => key.projectId === null || id === key.projectId);
  }

  #refuseTaken(name: string, but?: ProjectRow): void {
    if (this.#store.projects.some((project) => project !== but && project.name === name))
      throw ServiceError.of(projectNameTaken(name));
  }

  #passOn(project: ProjectRow): void {
    const heir = this.#store.projects.find((other) => other !== project && other.status === "active");
    if (heir === undefined) throw ServiceError.of(lastActiveProject(project.name));
    if (this.#store.defaultProject === project) this.#store.defaultProject = heir;
  }
}

export function projectHandlers(store: Store): Handlers<OperationsOf<"projects" | "projects.limits">, Access> {
  const projects = new FakeProjects(store);
  return {
    createProject: ({ body, context }) => projects.create(body, context),
    listProjects: ({ query, context }) => projects.list(query, context),
    getProject: ({ params, context }) => toProject(projects.existing(context, params.id)),
    updateProject: ({ params, body, context }) => projects.update(params.id, body, context),
    deleteProject: ({ params, context }) => {
      projects.delete(params.id, context);
    },
    getProjectLimits: ({ params, context }) => toLimits(projects.existing(context, params.id)),
    updateProjectLimits: ({ params, body, context }) => projects.setLimits(params.id, body, context),
  };
}
