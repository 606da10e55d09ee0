import type { Page } from "@shoal/contract";
import { badInput, ServiceError } from "@shoal/router";
import type { ApiKey, CreateApiKey, CreatedApiKey, ListApiKeys, RotateApiKey } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { KeyRow } from "../auth/access.ts";
import { createKeySecret, hashKey, maskKey } from "../auth/api-key-secret.ts";
import { createId } from "../ids.ts";
import type { ProjectLookup } from "../projects/project-lookup.ts";
import { type ApiKeyStore, type StoredKey, toApiKey } from "./api-key-store.ts";

const dayMs = 24 * 60 * 60 * 1000;
const defaultGraceDays = 7;

/** The rules of API keys. `caller` is the key that asks: a project's key sees and makes keys of that project only. */
export interface ApiKeys {
  create(caller: KeyRow, request: z.output<typeof CreateApiKey>): Promise<CreatedApiKey>;
  list(caller: KeyRow, filter: z.output<typeof ListApiKeys>): Promise<Page<ApiKey>>;
  get(caller: KeyRow, id: string, includeDeleted: boolean): Promise<ApiKey>;
  rename(caller: KeyRow, id: string, name: string): Promise<ApiKey>;
  delete(caller: KeyRow, id: string): Promise<void>;
  rotate(caller: KeyRow, id: string, request: z.output<typeof RotateApiKey>): Promise<CreatedApiKey>;
  /** Makes an organisation-wide key on behalf of the service itself. @returns its secret. */
  createAdmin(): Promise<string>;
  /** Whether a secret opens the service for the whole organisation now. */
  isAdmin(secret: string): Promise<boolean>;
  /** Whether no key was ever made. */
  isEmpty(): Promise<boolean>;
}

function notFound(id: string): ServiceError {
  return new ServiceError(404, "not_found", `API key ${id} was not found, or was deleted. List the keys with apiKeys.list.`);
}

function inDays(days: number | null): string | null {
  return days === null ? null : new Date(Date.now() + days * dayMs).toISOString();
}

/** @param forget - called with a key's id before a change of it is reported as done: once it is, nobody may use the old state. */
export function createApiKeys(store: ApiKeyStore, projects: ProjectLookup, forget: (id: string) => Promise<void>): ApiKeys {
  async function existing(caller: KeyRow, id: string, includeDeleted = false): Promise<StoredKey> {
    const key = await store.find(caller.project_id, id, includeDeleted);
    if (key === undefined) throw notFound(id);
    return key;
  }

  function mint(
    about: { name: string; days: number | null; projectId: string | null },
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
        expires_at: inDays(about.days),
        lifetime_days: about.days,
      },
    };
  }

  const madeBy = (caller: KeyRow) => ({ created_by_id: caller.id, created_by_email: caller.created_by_email, created_by_name: caller.name });

  async function projectFor(caller: KeyRow, requested: string | null): Promise<{ id: string; name: string } | null> {
    const id = requested ?? caller.project_id;
    if (id === null) return null;
    if (caller.project_id !== null && id !== caller.project_id) {
      throw new ServiceError(
        403,
        "forbidden",
        `This API key makes keys of its own project only, not of ${id}. Leave project_id away, or use an organisation-wide key.`,
      );
    }
    const project = await projects.find(id);
    // A name is no id: a key must not end up in another project because one was renamed.
    if (project?.id !== id) throw new ServiceError(404, "project_not_found", `Project ${id} was not found; project_id takes the id of a project.`);
    if (project.status === "archived")
      throw new ServiceError(
        404,
        "project_not_found",
        `Project ${id} is archived, so no keys can be made for it. Reopen it with projects.update first.`,
      );
    return project;
  }

  return {
    async create(caller, request) {
      const project = await projectFor(caller, request.project_id ?? null);
      const { secret, row } = mint({ name: request.name, days: request.days_to_expire ?? null, projectId: project?.id ?? null }, madeBy(caller));
      await store.insert(row);
      return { ...toApiKey({ ...row, project_name: project?.name ?? null, deleted_at: null, last_used_at: null }), key: secret };
    },

    list: (caller, filter) => store.list(caller.project_id, filter),

    get: async (caller, id, includeDeleted) => toApiKey(await existing(caller, id, includeDeleted)),

    async rename(caller, id, name) {
      try {
        const row = await store.rename(id, name, caller.project_id);
        if (row === undefined) throw notFound(id);
        return toApiKey(row);
      } finally {
        await forget(id);
      }
    },

    async delete(caller, id) {
      await existing(caller, id);
      if (id === caller.id)
        throw new ServiceError(
          400,
          "bad_request",
          "An API key cannot delete itself. Delete it with another key, or rotate it with expire_in_days 0.",
        );
      try {
        if (!(await store.delete(id))) throw notFound(id);
      } finally {
        await forget(id);
      }
    },

    async rotate(caller, id, request) {
      const old = await existing(caller, id);
      const days = request.days_to_expire === undefined ? old.lifetime_days : request.days_to_expire;
      // A short-lived key can be rotated without saying anything: only a lifetime that was asked for can contradict the grace period.
      const graceDays =
        request.expire_in_days ?? (request.days_to_expire === undefined && days !== null ? Math.min(defaultGraceDays, days) : defaultGraceDays);
      if (days !== null && days < graceDays) {
        throw badInput(
          `body.days_to_expire: must not be below expire_in_days (${String(graceDays)}): the new key would live ${String(days)} days, the old one ${String(graceDays)} (expire_in_days, ${String(defaultGraceDays)} when absent). Set expire_in_days to ${String(days)} or less, or days_to_expire higher`,
        );
      }
      const { secret, row } = mint({ name: old.name, days, projectId: old.project_id }, madeBy(caller));
      try {
        if (!(await store.replace(id, row, new Date(Date.now() + graceDays * dayMs)))) throw notFound(id);
      } finally {
        await forget(id);
      }
      return { ...toApiKey({ ...row, project_name: old.project_name, deleted_at: null, last_used_at: null }), key: secret };
    },

    async createAdmin() {
      const { secret, row } = mint(
        { name: "admin", days: null, projectId: null },
        { created_by_id: "shoal", created_by_email: "admin@localhost", created_by_name: "Shoal" },
      );
      await store.insert(row);
      return secret;
    },

    async isAdmin(secret) {
      const key = await store.findByHash(hashKey(secret));
      return key?.project_id === null && key.expiresAtMs > Date.now();
    },

    isEmpty: () => store.isEmpty(),
  };
}
