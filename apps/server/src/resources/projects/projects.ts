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
  EvidenceDefaults,
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
import type { Closing, ProjectRow, ProjectSettings, ProjectStore } from "./project-store.ts";

function toProject(
  { default_recording, default_telemetry, network, ...row }: ProjectRow,
  serviceDefaults: EvidenceDefaults,
): Project {
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    ...(network && { network: toLists(network) }),
    ...(default_telemetry && { default_telemetry: [...default_telemetry] }),
    ...(default_recording !== null && { default_recording }),
    service_defaults: serviceDefaults,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
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

export interface ProjectsParts {
  readonly store: ProjectStore;
  /** Receives ids of changed projects and keys before the answer: no later request uses the old state. */
  readonly forget: (ids: { readonly projects: readonly string[]; readonly keys?: readonly string[] }) => void;
  readonly serviceDefaults: () => EvidenceDefaults;
  /** Settings of the operator give rights to projects of these names. */
  readonly reservedNames: ReadonlySet<string>;
}

/** `caller` is the key of the request. The key of a project sees that project only and may only rename it. */
export class Projects {
  readonly #store: ProjectStore;
  readonly #forget: ProjectsParts["forget"];
  readonly #serviceDefaults: ProjectsParts["serviceDefaults"];
  readonly #reservedNames: ReadonlySet<string>;

  constructor({ forget, reservedNames, serviceDefaults, store }: ProjectsParts) {
    this.#reservedNames = reservedNames;
    this.#store = store;
    this.#forget = forget;
    this.#serviceDefaults = serviceDefaults;
  }

  async create(caller: KeyRow, { name, network, ...defaults }: z.output<typeof CreateProject>): Promise<Project> {
    refuseProjectKey(caller, "create projects");
    const rules = networkRulesOf(network) ?? null;
    try {
      const { default_recording = null, default_telemetry = null } = defaults;
      const row = { id: createId(), name, network: rules, default_recording, default_telemetry };
      return this.#shown(await this.#store.insert(row));
    } catch (error) {
      throw isUniqueViolation(error) ? nameTaken(name) : error;
    }
  }

  async list(caller: KeyRow, filter: Seen<z.output<typeof ListProjects>>): Promise<Page<Project>> {
    return toPage(await this.#store.list(filter, caller.project_id), filter, (row) => this.#shown(row));
  }

  async get(caller: KeyRow, idOrName: string): Promise<Project> {
    return this.#shown(await this.#existing(caller, idOrName));
  }

  async update(
    caller: KeyRow,
    idOrName: string,
    { default_recording, default_telemetry, name, network, status }: z.output<typeof UpdateProject>,
  ): Promise<Project> {
    const project = await this.#existing(caller, idOrName);
    const newName = name === project.name ? undefined : name;
    const newStatus = status === project.status ? undefined : status;
    if (newName !== undefined && [newName, project.name].some((each) => this.#reservedNames.has(each)))
      refuseProjectKey(caller, "give or take a name to which settings of the service give rights");
    if (newStatus !== undefined) refuseProjectKey(caller, "archive or reopen projects");
    if (network !== undefined) refuseProjectKey(caller, "change the network rules of a project");
    if (default_telemetry !== undefined || default_recording !== undefined)
      refuseProjectKey(caller, "change what sessions of a project capture and record");
    const newRules = network && (networkRulesOf(network, project.network) ?? null);
    const changes: Partial<ProjectSettings> = {
      ...(newRules !== undefined && { network: newRules }),
      ...(newName !== undefined && { name: newName }),
      ...(default_telemetry !== undefined && { default_telemetry }),
      ...(default_recording !== undefined && { default_recording }),
    };
    if (newStatus === undefined && Object.keys(changes).length === 0) return this.#shown(project);
    try {
      if (newStatus === "archived") return this.#shown(await this.#archive(project, changes));
      const row = await this.#store.update(project.id, { ...changes, ...(newStatus && { status: newStatus }) });
      if (row === undefined) throw notFound(idOrName);
      return this.#shown(row);
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
    // oxlint-disable-next-line typescript/no-deprecated -- deprecated, but still accepted
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

  #shown(row: ProjectRow): Project {
    return toProject(row, this.#serviceDefaults());
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

  async #archive(project: ProjectRow, changes: Partial<ProjectSettings>): Promise<ProjectRow> {
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
