import { type NetworkRuleLists } from "@shoal/contract/network";
import {
  lastActiveProject,
  needsOrganizationKey,
  poolLimitUnsupported,
  projectNameTaken,
  projectNotEmpty,
  projectNotFound,
} from "@shoal/contract/refusals";
import type { Page } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import type {
  CreateProject,
  ListProjects,
  Project,
  ProjectLimits,
  UpdateProject,
  UpdateProjectLimits,
} from "@shoal/schemas";
import type * as z from "zod/mini";
import type { KeyRow } from "../../http/auth/access.ts";
import { isUniqueViolation } from "../../storage/errors/database-errors.ts";
import { createId } from "@shoal/primitives";
import { type Seen, toPage } from "../../http/paging.ts";
import { networkRulesOf } from "./network-rules.ts";
import type { Closing, ProjectRow, ProjectStore } from "./project-store.ts";

function toProject({ id, name, status, network, created_at, updated_at }: ProjectRow): Project {
  return { id, name, status, ...(network && { network: toLists(network) }), created_at, updated_at };
}

function toLists({ allow, deny }: NetworkRuleLists): NonNullable<Project["network"]> {
  return { ...(allow && { allow: [...allow] }), ...(deny && { deny: [...deny] }) };
}

function toLimits({ max_invocations, max_sessions }: ProjectRow): ProjectLimits {
  return { max_concurrent_sessions: max_sessions, max_concurrent_invocations: max_invocations };
}

function notFound(idOrName: string): ServiceError {
  return ServiceError.of(projectNotFound(idOrName));
}

function nameTaken(name: string): ServiceError {
  return ServiceError.of(projectNameTaken(name));
}

/** @param what - the action: `change its limits` */
export function refuseProjectKey({ project_id }: KeyRow, what: string): void {
  if (project_id !== null) throw ServiceError.of(needsOrganizationKey(what));
}

/** On the wire, absent and `null` = unchanged, 0 = no limit. */
function changeOf(limit: number | null | undefined): number | null | undefined {
  return limit === 0 ? null : (limit ?? undefined);
}

/** `caller` is the key of the request. The key of a project sees that project only and may only rename it. */
export class Projects {
  readonly #store: ProjectStore;
  readonly #forget: (ids: { readonly projects: readonly string[]; readonly keys?: readonly string[] }) => void;

  /** @param forget - receives ids of changed projects and keys before the answer: no later request uses the old state. */
  constructor(
    store: ProjectStore,
    forget: (ids: { readonly projects: readonly string[]; readonly keys?: readonly string[] }) => void,
  ) {
    this.#store = store;
    this.#forget = forget;
  }

  async create(caller: KeyRow, { name, network }: z.output<typeof CreateProject>): Promise<Project> {
    refuseProjectKey(caller, "create projects");
    const rules = networkRulesOf(network) ?? null;
    try {
      return toProject(await this.#store.insert({ id: createId(), name, network: rules }));
    } catch (error) {
      throw isUniqueViolation(error) ? nameTaken(name) : error;
    }
  }

  async list(caller: KeyRow, filter: Seen<z.output<typeof ListProjects>>): Promise<Page<Project>> {
    return toPage(await this.#store.list(filter, caller.project_id), filter, toProject);
  }

  async get(caller: KeyRow, idOrName: string): Promise<Project> {
    return toProject(await this.#existing(caller, idOrName));
  }

  async update(
    caller: KeyRow,
    idOrName: string,
    { name, network, status }: z.output<typeof UpdateProject>,
  ): Promise<Project> {
    const project = await this.#existing(caller, idOrName);
    const newName = name === project.name ? undefined : name;
    const newStatus = status === project.status ? undefined : status;
    if (newStatus !== undefined) refuseProjectKey(caller, "archive or reopen projects");
    if (network !== undefined) refuseProjectKey(caller, "change the network rules of a project");
    const newRules = network && (networkRulesOf(network, project.network) ?? null);
    if (newName === undefined && newStatus === undefined && newRules === undefined) return toProject(project);
    try {
      if (newStatus === "archived")
        return toProject(await this.#archive(project, { name: newName, network: newRules }));
      const row = await this.#store.update(project.id, {
        ...(newRules !== undefined && { network: newRules }),
        ...(newName !== undefined && { name: newName }),
        ...(newStatus !== undefined && { status: newStatus }),
      });
      if (row === undefined) throw notFound(idOrName);
      return toProject(row);
    } catch (error) {
      throw newName !== undefined && isUniqueViolation(error) ? nameTaken(newName) : error;
    } finally {
      this.#forget({ projects: [project.id] });
    }
  }

  async delete(caller: KeyRow, idOrName: string): Promise<void> {
    const project = await this.#existing(caller, idOrName);
    refuseProjectKey(caller, "delete projects");
    const { value: keys, heirId } = this.#settled(await this.#store.delete(project.id), project);
    this.#forget({ projects: heirId === undefined ? [project.id] : [project.id, heirId], keys });
  }

  async limits(caller: KeyRow, idOrName: string): Promise<ProjectLimits> {
    return toLimits(await this.#existing(caller, idOrName));
  }

  async setLimits(
    caller: KeyRow,
    idOrName: string,
    request: z.output<typeof UpdateProjectLimits>,
  ): Promise<ProjectLimits> {
    const project = await this.#existing(caller, idOrName);
    refuseProjectKey(caller, "change the limits of a project");
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- deprecated, but still accepted
    if ((request.max_pooled_sessions ?? 0) > 0) throw ServiceError.of(poolLimitUnsupported());
    const max_sessions = changeOf(request.max_concurrent_sessions);
    const max_invocations = changeOf(request.max_concurrent_invocations);
    if (max_sessions === undefined && max_invocations === undefined) return toLimits(project);
    const row = await this.#store.setLimits(project.id, {
      ...(max_sessions !== undefined && { max_sessions }),
      ...(max_invocations !== undefined && { max_invocations }),
    });
    if (row === undefined) throw notFound(idOrName);
    return toLimits(row);
  }

  async #existing(caller: KeyRow, idOrName: string): Promise<ProjectRow> {
    const row = await this.#store.find(idOrName, caller.project_id);
    if (row === undefined) throw notFound(idOrName);
    return row;
  }

  #settled<Done>(closing: Closing<Done>, project: ProjectRow): Extract<Closing<Done>, { kind: "done" }> {
    switch (closing.kind) {
      case "done":
        return closing;
      case "missing":
        throw notFound(project.id);
      case "last":
        throw ServiceError.of(lastActiveProject(project.name));
      case "full":
        throw ServiceError.of(projectNotEmpty(project.name, closing.contents));
    }
  }

  async #archive(project: ProjectRow, changes: Parameters<ProjectStore["archive"]>[1]): Promise<ProjectRow> {
    const ids = [project.id];
    try {
      const { value, heirId } = this.#settled(await this.#store.archive(project.id, changes), project);
      if (heirId !== undefined) ids.push(heirId);
      return value;
    } finally {
      this.#forget({ projects: ids });
    }
  }
}
