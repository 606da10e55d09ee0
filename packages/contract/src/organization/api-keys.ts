import {
  ApiKey,
  CreateApiKey,
  CreatedApiKey,
  GetApiKey,
  Id,
  lazyObject,
  ListApiKeys,
  RotateApiKey,
  UpdateApiKey,
} from "@shoal/schemas";
import { defineEndpoint, empty, json, optionalJson, page } from "../base/endpoint.ts";

/** Keys that authenticate callers. */
const area = "API Keys";
const id = lazyObject(() => ({
  /** The key's id. */
  id: Id,
}));

/** The response contains the secret, which cannot be read again. A project's key creates keys of that project only. */
export const createApiKey = defineEndpoint({
  operationId: "apiKeys.create",
  area,
  plane: "control",
  moves: ["write secrets"],
  method: "POST",
  idempotency: "transaction",
  path: "/org/api_keys",
  summary: "Create an API key.",
  body: json(CreateApiKey),
  responses: { 201: json(CreatedApiKey) },
  errors: [400, 401, 403, 404, 500],
});

/** A project's key sees the keys of that project only. */
export const listApiKeys = defineEndpoint({
  operationId: "apiKeys.list",
  area,
  plane: "control",
  moves: ["read secrets"],
  method: "GET",
  path: "/org/api_keys",
  summary: "List API keys.",
  query: ListApiKeys,
  responses: { 200: page(ApiKey) },
  errors: [400, 401, 500],
});

/** Deleted keys are found with `include_deleted`. */
export const getApiKey = defineEndpoint({
  operationId: "apiKeys.get",
  area,
  plane: "control",
  moves: ["read secrets"],
  method: "GET",
  path: "/org/api_keys/{id}",
  summary: "Get an API key.",
  params: id,
  query: GetApiKey,
  responses: { 200: json(ApiKey) },
  errors: [401, 404, 500],
});

/** The secret stays the same. */
export const updateApiKey = defineEndpoint({
  operationId: "apiKeys.update",
  area,
  plane: "control",
  moves: ["write secrets"],
  method: "PATCH",
  path: "/org/api_keys/{id}",
  summary: "Rename an API key.",
  params: id,
  body: json(UpdateApiKey),
  responses: { 200: json(ApiKey) },
  errors: [400, 401, 404, 500],
});

/** The key stops working at once. A key cannot delete itself. */
export const deleteApiKey = defineEndpoint({
  operationId: "apiKeys.delete",
  area,
  plane: "control",
  moves: ["write secrets"],
  method: "DELETE",
  path: "/org/api_keys/{id}",
  summary: "Delete an API key.",
  params: id,
  responses: { 204: empty },
  errors: [400, 401, 404, 500],
});

/** Creates a key with the same name and project. The old key works for `expire_in_days` more. */
export const rotateApiKey = defineEndpoint({
  operationId: "apiKeys.rotate",
  area,
  plane: "control",
  moves: ["write secrets"],
  method: "POST",
  idempotency: "transaction",
  path: "/org/api_keys/{id}/rotate",
  summary: "Replace an API key with a new one.",
  params: id,
  body: optionalJson(RotateApiKey),
  responses: { 201: json(CreatedApiKey) },
  errors: [400, 401, 404, 500],
});
