import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { ApiKeys } from "./api-keys.ts";

export function apiKeyHandlers(apiKeys: ApiKeys): Handlers<OperationsOf<"apiKeys">, Access> {
  return {
    createApiKey: ({ body, context }) => apiKeys.create(context, body),
    listApiKeys: ({ query, context }) => apiKeys.list(context.key, query),
    getApiKey: ({ params, query, context }) => apiKeys.get(context.key, params.id, query.include_deleted),
    updateApiKey: ({ params, body, context }) => apiKeys.rename(context.key, params.id, body.name),
    deleteApiKey: ({ params, context }) => apiKeys.delete(context.key, params.id),
    rotateApiKey: ({ params, body, context }) => apiKeys.rotate(context.key, params.id, body),
  };
}
