import type * as endpoints from "@shoal/contract";
import { badInput, ServiceError, type Handlers } from "@shoal/router";
import type { ApiKey, CreatedApiKey } from "@shoal/schemas";
import type { Access } from "../access.ts";
import { byText, folded, holds, pageOf } from "../listing.ts";
import { createKey, dayMs, type ApiKeyRow, type Store } from "../store.ts";

type ApiKeyEndpoints = Pick<typeof endpoints, "createApiKey" | "listApiKeys" | "getApiKey" | "updateApiKey" | "deleteApiKey" | "rotateApiKey">;

const defaultGraceDays = 7;

function masked(secret: string): string {
  return `${secret.slice(0, "sk_shoal_".length + 4)}...${secret.slice(-4)}`;
}

/** Handlers of the API keys, in memory. */
export function apiKeyHandlers(store: Store): Handlers<ApiKeyEndpoints, Access> {
  const projectNameOf = (id: string | null) => (id === null ? null : (store.findProject(id)?.name ?? null));

  function toApiKey(row: ApiKeyRow): ApiKey {
    return {
      id: row.id,
      name: row.name,
      created_at: row.createdAt,
      created_by: { ...row.createdBy },
      expires_at: row.expiresAt === null ? null : new Date(row.expiresAt).toISOString(),
      deleted_at: row.deletedAt,
      project_id: row.projectId,
      project_name: projectNameOf(row.projectId),
      masked_key: masked(row.secret),
      ...(row.lastUsedAt !== undefined && { last_used_at: row.lastUsedAt }),
    };
  }
  const created = (row: ApiKeyRow): CreatedApiKey => ({ ...toApiKey(row), key: row.secret });
  const madeBy = ({ key }: Access) => ({ id: key.id, email: key.createdBy.email, name: key.name });
  const visible = ({ key }: Access) => store.apiKeys.filter(({ projectId }) => key.projectId === null || projectId === key.projectId);

  function existing(access: Access, id: string, includeDeleted = false): ApiKeyRow {
    const found = visible(access).find((key) => key.id === id && (includeDeleted || key.deletedAt === null));
    if (found === undefined)
      throw new ServiceError(404, "not_found", `API key ${id} was not found, or was deleted. List the keys with apiKeys.list.`);
    return found;
  }

  function projectFor({ key }: Access, requested: string | null): string | null {
    const id = requested ?? key.projectId;
    if (id === null) return null;
    if (key.projectId !== null && id !== key.projectId)
      throw new ServiceError(
        403,
        "forbidden",
        `This API key makes keys of its own project only, not of ${id}. Leave project_id away, or use an organisation-wide key.`,
      );
    const project = store.projects.find((candidate) => candidate.id === id);
    if (project === undefined) throw new ServiceError(404, "project_not_found", `Project ${id} was not found; project_id takes the id of a project.`);
    if (project.status === "archived")
      throw new ServiceError(
        404,
        "project_not_found",
        `Project ${id} is archived, so no keys can be made for it. Reopen it with projects.update first.`,
      );
    return id;
  }

  return {
    createApiKey: ({ body, context }) => {
      const row = createKey({
        name: body.name,
        projectId: projectFor(context, body.project_id ?? null),
        lifetimeDays: body.days_to_expire ?? null,
        createdBy: madeBy(context),
      });
      store.apiKeys.push(row);
      return created(row);
    },
    listApiKeys: ({ query, context }) => {
      const { limit, name, offset, query: part, sort_by: sortBy, sort_direction: direction } = query;
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- deprecated for callers, who may still send it
      const status = query.include_deleted ? "all" : query.status;
      const found = visible(context)
        .filter((key) => status === "all" || (key.deletedAt === null) === (status === "active"))
        .filter((key) => name === undefined || folded(key.name) === folded(name))
        .filter(
          (key) =>
            part === undefined ||
            [key.name, key.createdBy.name, key.createdBy.email, projectNameOf(key.projectId)].some((text) => holds(text, part)) ||
            key.id.startsWith(part) ||
            masked(key.secret).startsWith(part),
        );
      const sign = direction === "asc" ? 1 : -1;
      // Keys of one moment keep the order in which they were made.
      const order = new Map(store.apiKeys.map((key, index) => [key, index]));
      found.sort((a, b) => {
        const later = (order.get(a) ?? 0) - (order.get(b) ?? 0);
        if (sortBy === "name") return sign * (byText(folded(a.name), folded(b.name)) || later);
        if (sortBy === "created_at") return sign * later;
        // Those that never expire come last in either direction.
        if (a.expiresAt === null || b.expiresAt === null) return a.expiresAt === b.expiresAt ? sign * later : a.expiresAt === null ? 1 : -1;
        return sign * (a.expiresAt - b.expiresAt || later);
      });
      return pageOf(found, { limit, offset }, toApiKey);
    },
    getApiKey: ({ params, query, context }) => toApiKey(existing(context, params.id, query.include_deleted)),
    updateApiKey: ({ params, body, context }) => {
      const row = existing(context, params.id);
      row.name = body.name;
      return toApiKey(row);
    },
    deleteApiKey: ({ params, context }) => {
      const row = existing(context, params.id);
      if (row === context.key)
        throw new ServiceError(
          400,
          "bad_request",
          "An API key cannot delete itself. Delete it with another key, or rotate it with expire_in_days 0.",
        );
      row.deletedAt = new Date().toISOString();
    },
    rotateApiKey: ({ params, body, context }) => {
      const old = existing(context, params.id);
      const days = body.days_to_expire === undefined ? old.lifetimeDays : body.days_to_expire;
      const graceDays =
        body.expire_in_days ?? (body.days_to_expire === undefined && days !== null ? Math.min(defaultGraceDays, days) : defaultGraceDays);
      if (days !== null && days < graceDays) {
        throw badInput(
          `body.days_to_expire: must not be below expire_in_days (${graceDays}): the new key would live ${days} days, the old one ${graceDays} (expire_in_days, ${defaultGraceDays} when absent). Set expire_in_days to ${days} or less, or days_to_expire higher`,
        );
      }
      const row = createKey({ name: old.name, projectId: old.projectId, lifetimeDays: days, createdBy: madeBy(context) });
      old.expiresAt = Math.min(old.expiresAt ?? Infinity, Date.now() + graceDays * dayMs);
      store.apiKeys.push(row);
      return created(row);
    },
  };
}
