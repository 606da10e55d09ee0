import type { OperationsOf, Page } from "@shoal/contract";
import {
  apiKeyNotFound,
  type AskedEnd,
  endOfKey,
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
import { ServiceError, type Handlers } from "@shoal/router";
import type { ApiKey, CreateApiKey, CreatedApiKey, ListApiKeys, RotateApiKey } from "@shoal/schemas";
import type * as z from "zod/mini";
import { KeyPolicy } from "@shoal/contract/rights";
import type { Access } from "../state/access.ts";
import { fakeOrganizationId, policyObjectExists, policyOperations } from "../state/key-policies.ts";
import { byText, folded, holds, pageOf } from "../state/listing.ts";
import { createKey, dayMs, type ApiKeyRow, type Store } from "../state/store.ts";

type List = z.output<typeof ListApiKeys>;

const defaultGraceDays = 7;

function masked(secret: string): string {
  return `${secret.slice(0, "sk_shoal_".length + 4)}...${secret.slice(-4)}`;
}

function madeBy({ key }: Access): ApiKeyRow["createdBy"] {
  return { id: key.id, email: key.createdBy.email, name: key.name };
}

function endFor({ key }: Access, asked: AskedEnd): Pick<ApiKeyRow, "expiresAt" | "lifetimeDays"> {
  const end = endOfKey(asked, key.expiresAt ?? Infinity, Date.now());
  if ("status" in end) throw ServiceError.of(end);
  return { expiresAt: end.endsAtMs, lifetimeDays: end.lifetimeDays };
}

class FakeApiKeys {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  create(body: z.output<typeof CreateApiKey>, access: Access): CreatedApiKey {
    const row = createKey({
      name: body.name,
      projectId: this.#projectFor(access, body.project_id ?? null),
      ...endFor(access, body),
      policy: this.#policyFor(access, body),
      createdBy: madeBy(access),
    });
    this.#store.apiKeys.push(row);
    return this.#created(row);
  }

  list(query: List, access: Access): Page<ApiKey> {
    const { limit, name, offset, query: part } = query;
    // oxlint-disable-next-line typescript/no-deprecated -- deprecated, but still accepted
    const status = query.include_deleted ? "all" : query.status;
    const found = this.#visible(access)
      .filter((key) => status === "all" || (key.deletedAt === null) === (status === "active"))
      .filter((key) => name === undefined || folded(key.name) === folded(name))
      .filter((key) => part === undefined || this.#matches(key, part));
    return pageOf(this.#sorted(found, query), { limit, offset }, (row) => this.#toApiKey(row));
  }

  get(id: string, includeDeleted: boolean, access: Access): ApiKey {
    return this.#toApiKey(this.#existing(access, id, includeDeleted));
  }

  rename(id: string, name: string, access: Access): ApiKey {
    const row = this.#existing(access, id);
    row.name = name;
    return this.#toApiKey(row);
  }

  delete(id: string, access: Access): void {
    const row = this.#existing(access, id);
    if (row === access.key) throw ServiceError.of(keyDeletesItself());
    row.deletedAt = new Date().toISOString();
  }

  rotate(id: string, body: z.output<typeof RotateApiKey>, access: Access): CreatedApiKey {
    const old = this.#existing(access, id);
    const days = body.days_to_expire === undefined ? old.lifetimeDays : body.days_to_expire;
    const graceDays = body.expire_in_days ?? Math.min(defaultGraceDays, days ?? defaultGraceDays);
    if (days !== null && days < graceDays) throw ServiceError.of(successorExpiresFirst(days, graceDays));
    if (widerThan(access.key.policy, old.policy?.wire ?? null)) throw ServiceError.of(widerKey());
    const { name, policy, projectId } = old;
    const end = endFor(access, body.days_to_expire === undefined ? { usualDays: days } : { days_to_expire: days });
    const row = createKey({ name, projectId, policy, ...end, createdBy: madeBy(access) });
    old.expiresAt = Math.min(old.expiresAt ?? Infinity, Date.now() + graceDays * dayMs);
    this.#store.apiKeys.push(row);
    return this.#created(row);
  }

  #toApiKey(row: ApiKeyRow): ApiKey {
    return {
      id: row.id,
      name: row.name,
      created_at: row.createdAt,
      created_by: { ...row.createdBy },
      expires_at: row.expiresAt === null ? null : new Date(row.expiresAt).toISOString(),
      deleted_at: row.deletedAt,
      project_id: row.projectId,
      project_name: this.#projectNameOf(row),
      masked_key: masked(row.secret),
      ...(row.lastUsedAt !== undefined && { last_used_at: row.lastUsedAt }),
      ...(row.policy && { policy: { statements: [...row.policy.wire.statements] } }),
    };
  }

  #created(row: ApiKeyRow): CreatedApiKey {
    return { ...this.#toApiKey(row), key: row.secret };
  }

  #projectNameOf({ projectId }: ApiKeyRow): string | null {
    return projectId === null ? null : (this.#store.findProject(projectId)?.name ?? null);
  }

  #visible({ key }: Access): ApiKeyRow[] {
    return this.#store.apiKeys.filter(({ projectId }) => key.projectId === null || projectId === key.projectId);
  }

  #existing(access: Access, id: string, includeDeleted = false): ApiKeyRow {
    const found = this.#visible(access).find((key) => key.id === id && (includeDeleted || key.deletedAt === null));
    if (found === undefined) throw ServiceError.of(apiKeyNotFound(id));
    return found;
  }

  #projectFor({ key }: Access, requested: string | null): string | null {
    const id = requested ?? key.projectId;
    if (id === null) return null;
    if (key.projectId !== null && id !== key.projectId) throw ServiceError.of(keyForOtherProject(id));
    const project = this.#store.projects.find((candidate) => candidate.id === id);
    if (project === undefined) throw ServiceError.of(keyProjectNotFound(id));
    if (project.status === "archived") throw ServiceError.of(projectClosed(id));
    return id;
  }

  #policyFor(access: Access, asked: z.output<typeof CreateApiKey>): KeyPolicy | undefined {
    const policy = policyOfKey(asked, {
      organizationId: fakeOrganizationId,
      projectId: asked.project_id ?? access.key.projectId,
      requestProjectId: access.projectId,
      operations: policyOperations,
      callerPolicy: access.key.policy,
    });
    if (policy === null) return undefined;
    if ("status" in policy) throw ServiceError.of(policy);
    for (const [index, statement] of policy.statements.entries())
      if (!policyObjectExists(this.#store, statement.resource))
        throw ServiceError.of(policyObjectMissing(asked, statement, index));
    return new KeyPolicy(policy);
  }

  #matches(key: ApiKeyRow, part: string): boolean {
    const { createdBy, id, name, secret } = key;
    const texts = [name, createdBy.name, createdBy.email, this.#projectNameOf(key)];
    return texts.some((text) => holds(text, part)) || id.startsWith(part) || masked(secret).startsWith(part);
  }

  #sorted(keys: readonly ApiKeyRow[], { sort_by, sort_direction }: Pick<List, "sort_by" | "sort_direction">) {
    const sign = sort_direction === "asc" ? 1 : -1;
    const order = new Map(this.#store.apiKeys.map((key, index) => [key, index]));
    return keys.toSorted((a, b) => {
      const later = (order.get(a) ?? 0) - (order.get(b) ?? 0);
      if (sort_by === "name") return sign * (byText(folded(a.name), folded(b.name)) || later);
      if (sort_by === "created_at") return sign * later;
      // Keys without an expiry come last in both directions.
      if (a.expiresAt === null || b.expiresAt === null)
        return a.expiresAt === b.expiresAt ? sign * later : a.expiresAt === null ? 1 : -1;
      return sign * (a.expiresAt - b.expiresAt || later);
    });
  }
}

export function apiKeyHandlers(store: Store): Handlers<OperationsOf<"apiKeys">, Access> {
  const keys = new FakeApiKeys(store);
  return {
    createApiKey: ({ body, context }) => keys.create(body, context),
    listApiKeys: ({ query, context }) => keys.list(query, context),
    getApiKey: ({ params, query, context }) => keys.get(params.id, query.include_deleted, context),
    updateApiKey: ({ params, body, context }) => keys.rename(params.id, body.name, context),
    deleteApiKey: ({ params, context }) => {
      keys.delete(params.id, context);
    },
    rotateApiKey: ({ params, body, context }) => keys.rotate(params.id, body, context),
  };
}

export function authContextHandlers(): Handlers<OperationsOf<"auth.context">, Access> {
  return {
    getAuthContext: ({ context: { key, namedProjectId } }) => ({
      authentication: { method: "api_key", source: "api_key", credential_id: key.id },
      authorization: {
        credential_scope: { project_id: key.projectId },
        effective_scope: { project_id: namedProjectId ?? key.projectId },
        ...(key.policy && { policy: { statements: [...key.policy.wire.statements] } }),
      },
      organization: { id: fakeOrganizationId },
      principal: { id: key.id, type: "api_key" },
    }),
  };
}
