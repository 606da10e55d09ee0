import {
  apiKeyNotFound,
  type AskedEnd,
  type AskedPolicy,
  endOfKey,
  type KeyEnd,
  keyDeletesItself,
  keyForOtherProject,
  keyProjectNotFound,
  policyObjectMissing,
  policyOfKey,
  projectClosed,
  successorExpiresFirst,
  widerKey,
  widerThan,
} from "@shoal/contract/refusals";
import type { Page } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import type { ApiKey, CreateApiKey, CreatedApiKey, ListApiKeys, RotateApiKey } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { PolicyStatements } from "@shoal/contract/rights";
import type { Access, KeyRow } from "../../http/auth/access.ts";
import { operationNames } from "../../http/auth/key-scopes.ts";
import type { PolicyObjects } from "../../http/auth/key-scopes.ts";
import { createKeySecret, hashKey, maskKey } from "../../http/auth/api-key-secret.ts";
import { createId } from "@shoal/primitives";
import type { ProjectLookup } from "../../http/auth/project-lookup.ts";
import { type ApiKeyStore, type StoredKey, toApiKey } from "./api-key-store.ts";

const dayMs = 24 * 60 * 60 * 1000;
const defaultGraceDays = 7;

function notFound(id: string): ServiceError {
  return ServiceError.of(apiKeyNotFound(id));
}

/** @throws {ServiceError} 400 for an end in the past, or after that of the calling key. */
function endFor(caller: KeyRow, asked: AskedEnd): KeyEnd {
  // The end of a person's session is not one of their rights.
  const end = endOfKey(asked, caller.isPerson === true ? Infinity : caller.expiresAtMs, Date.now());
  if ("status" in end) throw ServiceError.of(end);
  return end;
}

export interface ApiKeysParts {
  readonly store: ApiKeyStore;
  readonly projects: ProjectLookup;
  readonly objects: PolicyObjects;
  /** Receives each changed id before the answer is sent, so that no later request uses the old state. */
  readonly forget: (id: string) => Promise<void>;
}

/** `caller` is the key of the request. The key of a project sees and creates keys of that project only. */
export class ApiKeys {
  readonly #store: ApiKeyStore;
  readonly #projects: ProjectLookup;
  readonly #objects: PolicyObjects;
  readonly #forget: (id: string) => Promise<void>;

  constructor({ forget, objects, projects, store }: ApiKeysParts) {
    this.#store = store;
    this.#objects = objects;
    this.#projects = projects;
    this.#forget = forget;
  }

  async create(
    access: Pick<Access, "key" | "projectId">,
    request: z.output<typeof CreateApiKey>,
  ): Promise<CreatedApiKey> {
    const caller = access.key;
    const project = await this.#projectFor(caller, request.project_id ?? null);
    const policy = await this.#policyFor(access, request, project?.id ?? null);
    const { secret, row } = this.#mint(
      { name: request.name, projectId: project?.id ?? null, end: endFor(caller, request), policy },
      this.#madeBy(caller),
    );
    await this.#store.insert(row);
    return {
      ...toApiKey({ ...row, project_name: project?.name ?? null, deleted_at: null, last_used_at: null }),
      key: secret,
    };
  }

  list(caller: KeyRow, filter: z.output<typeof ListApiKeys>): Promise<Page<ApiKey>> {
    return this.#store.list(caller.project_id, filter);
  }

  async get(caller: KeyRow, id: string, includeDeleted: boolean): Promise<ApiKey> {
    return toApiKey(await this.#existing(caller, id, includeDeleted));
  }

  async rename(caller: KeyRow, id: string, name: string): Promise<ApiKey> {
    try {
      const row = await this.#store.rename(id, name, caller.project_id);
      if (row === undefined) throw notFound(id);
      return toApiKey(row);
    } finally {
      await this.#forget(id);
    }
  }

  async delete(caller: KeyRow, id: string): Promise<void> {
    await this.#existing(caller, id);
    if (id === caller.id) throw ServiceError.of(keyDeletesItself());
    try {
      if (!(await this.#store.delete(id))) throw notFound(id);
    } finally {
      await this.#forgetAll(id, id);
    }
  }

  async rotate(caller: KeyRow, id: string, request: z.output<typeof RotateApiKey>): Promise<CreatedApiKey> {
    const old = await this.#existing(caller, id);
    if (widerThan(caller.policy, old.policy)) throw ServiceError.of(widerKey());
    const days = request.days_to_expire === undefined ? old.lifetime_days : request.days_to_expire;
    // The default grace period ends with the new key; only an explicit one can be longer.
    const graceDays = request.expire_in_days ?? Math.min(defaultGraceDays, days ?? defaultGraceDays);
    if (days !== null && days < graceDays) throw ServiceError.of(successorExpiresFirst(days, graceDays));
    const end = endFor(caller, request.days_to_expire === undefined ? { usualDays: days } : { days_to_expire: days });
    const { secret, row } = this.#mint(
      { name: old.name, projectId: old.project_id, end, policy: old.policy },
      this.#madeBy(caller),
    );
    try {
      if (!(await this.#store.replace(id, row, new Date(Date.now() + graceDays * dayMs)))) throw notFound(id);
    } finally {
      await this.#forgetAll(id, row.id);
    }
    return {
      ...toApiKey({ ...row, project_name: old.project_name, deleted_at: null, last_used_at: null }),
      key: secret,
    };
  }

  /** @param issuer - of the keys of apps that changed with it. */
  async #forgetAll(id: string, issuer: string): Promise<void> {
    const issued = await this.#store.issuedBy(issuer).catch(() => []);
    await Promise.all([id, ...issued].map((changed) => this.#forget(changed)));
  }

  /** Creates an organisation-wide key for the operator. @returns its secret. */
  async createAdmin(): Promise<string> {
    const { secret, row } = this.#mint(
      { name: "admin", projectId: null, end: { endsAtMs: null, lifetimeDays: null }, policy: null },
      { created_by_id: "shoal", created_by_email: "admin@localhost", created_by_name: "Shoal" },
    );
    await this.#store.insert(row);
    return secret;
  }

  async isAdmin(secret: string): Promise<boolean> {
    const key = await this.#store.findByHash(hashKey(secret));
    return key?.project_id === null && key.policy === undefined && key.expiresAtMs > Date.now();
  }

  isEmpty(): Promise<boolean> {
    return this.#store.isEmpty();
  }

  async #existing(caller: KeyRow, id: string, includeDeleted = false): Promise<StoredKey> {
    const key = await this.#store.find(caller.project_id, id, includeDeleted);
    if (key === undefined) throw notFound(id);
    return key;
  }

  #mint(
    about: { name: string; projectId: string | null; end: KeyEnd; policy: PolicyStatements | null },
    creator: Pick<StoredKey, "created_by_id" | "created_by_email" | "created_by_name">,
  ) {
    const secret = createKeySecret();
    return {
      secret,
      row: {
        id: createId(),
        name: about.name,
        key_hash: Buffer.from(hashKey(secret), "hex"),
        masked_key: maskKey(secret),
        project_id: about.projectId,
        created_by_id: creator.created_by_id,
        created_by_email: creator.created_by_email,
        created_by_name: creator.created_by_name,
        created_at: new Date().toISOString(),
        expires_at: about.end.endsAtMs === null ? null : new Date(about.end.endsAtMs).toISOString(),
        lifetime_days: about.end.lifetimeDays,
        policy: about.policy,
      },
    };
  }

  #madeBy(caller: KeyRow) {
    return {
      created_by_id: caller.id,
      created_by_email: caller.created_by_email,
      created_by_name: caller.name,
    };
  }

  /** @throws {ServiceError} 400 for a policy without a meaning, 403 for one with more rights than the caller. */
  async #policyFor(
    { key, projectId: requestProjectId }: Pick<Access, "key" | "projectId">,
    asked: AskedPolicy,
    projectId: string | null,
  ): Promise<PolicyStatements | null> {
    const policy = policyOfKey(asked, {
      organizationId: await this.#store.organizationId(),
      projectId,
      requestProjectId,
      operations: operationNames,
      callerPolicy: key.policy,
    });
    if (policy === null) return null;
    if ("status" in policy) throw ServiceError.of(policy);
    for (const [index, statement] of policy.statements.entries())
      if (!(await this.#objects.exists(statement.resource)))
        throw ServiceError.of(policyObjectMissing(asked, statement, index));
    return policy;
  }

  async #projectFor(caller: KeyRow, requested: string | null): Promise<{ id: string; name: string } | null> {
    const id = requested ?? caller.project_id;
    if (id === null) return null;
    if (caller.project_id !== null && id !== caller.project_id) throw ServiceError.of(keyForOtherProject(id));
    const project = await this.#projects.find(id);
    // Names are not accepted: after a rename, the key could belong to the wrong project.
    if (project?.id !== id) throw ServiceError.of(keyProjectNotFound(id));
    if (project.status === "archived") throw ServiceError.of(projectClosed(id));
    return project;
  }
}
