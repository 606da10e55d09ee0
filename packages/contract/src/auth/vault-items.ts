import {
  GetVaultItem,
  Id,
  lazyObject,
  ListVaultItemEvents,
  OperateVaultItem,
  PutVaultItem,
  UpdateVaultItem,
  VaultItem,
  VaultItemEvent,
  VaultItemOperation,
} from "@shoal/schemas";
import * as z from "zod/mini";
import { defineEndpoint, empty, json } from "../base/endpoint.ts";

/** Secrets of a vault. Sensitive values are never returned. */
const area = "Vault Items";
const ofVault = lazyObject(() => ({
  /** The vault's id, or its name. */
  id_or_name: Id,
}));
const byKey = lazyObject(() => ({
  /** The vault's id, or its name. */
  id_or_name: Id,
  /** The item's key. */
  key: Id,
}));
const limitBytes = 128 * 1024;

/** Oldest first. */
export const listVaultItems = defineEndpoint({
  operationId: "vaults.items.list",
  area,
  plane: "control",
  moves: ["read secrets"],
  scope: ["vaults:read"],
  method: "GET",
  path: "/vaults/{id_or_name}/items",
  summary: "List the items of a vault.",
  params: ofVault,
  responses: { 200: json(z.array(VaultItem)) },
  errors: [401, 403, 404, 500],
});

/**
 * Keys have 1 to 255 letters, digits, dots, underscores and hyphens. The same request again returns the present item, unchanged. A vault has at most 500 items. Values are stored encrypted; the item is ready when every
 * required field has one.
 */
export const putVaultItem = defineEndpoint({
  operationId: "vaults.items.put",
  area,
  plane: "control",
  moves: ["write secrets"],
  scope: ["vaults:write"],
  method: "PUT",
  path: "/vaults/{id_or_name}/items/{key}",
  summary: "Create an item of a vault.",
  params: byKey,
  body: json(PutVaultItem, { limitBytes }),
  responses: { 200: json(VaultItem) },
  errors: [400, 401, 403, 404, 409, 500, 501],
});

/** Sensitive values are left out. */
export const getVaultItem = defineEndpoint({
  operationId: "vaults.items.get",
  area,
  plane: "control",
  moves: ["read secrets"],
  scope: ["vaults:read"],
  method: "GET",
  path: "/vaults/{id_or_name}/items/{key}",
  summary: "Get an item of a vault.",
  params: byKey,
  query: GetVaultItem,
  responses: { 200: json(VaultItem) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** All changes or none: fields are removed first, then added, then get their values. */
export const updateVaultItem = defineEndpoint({
  operationId: "vaults.items.update",
  area,
  plane: "control",
  moves: ["write secrets"],
  scope: ["vaults:write"],
  method: "PATCH",
  path: "/vaults/{id_or_name}/items/{key}",
  summary: "Change an item of a vault.",
  params: byKey,
  body: json(UpdateVaultItem, { limitBytes }),
  responses: { 200: json(VaultItem) },
  errors: [400, 401, 403, 404, 409, 500, 501],
});

/** With its values and events. */
export const deleteVaultItem = defineEndpoint({
  operationId: "vaults.items.delete",
  area,
  plane: "control",
  moves: ["write secrets"],
  scope: ["vaults:write"],
  method: "DELETE",
  path: "/vaults/{id_or_name}/items/{key}",
  summary: "Delete an item of a vault.",
  params: byKey,
  responses: { 204: empty },
  errors: [401, 403, 404, 500],
});

/** Oldest first, the latest 1000. Values are never part of events. */
export const listVaultItemEvents = defineEndpoint({
  operationId: "vaults.items.events",
  area,
  plane: "control",
  moves: ["read secrets"],
  scope: ["vaults:read"],
  method: "GET",
  path: "/vaults/{id_or_name}/items/{key}/events",
  summary: "List what happened with an item of a vault.",
  params: byKey,
  query: ListVaultItemEvents,
  responses: { 200: json(z.array(VaultItemEvent)) },
  errors: [400, 401, 403, 404, 500],
});

/**
 * `collect` returns the item with `action.url`, a form in which a person enters values; the address is valid until `action.expires_at`, 15 to 30 minutes.
 * `fill` types values into fields of a page, in order, and never submits: each selector must name one `<input>` on a site of
 * the item. It answers 200 also when a field failed.
 * Clients must not repeat it automatically.
 */
export const operateVaultItem = defineEndpoint({
  operationId: "vaults.items.operate",
  area,
  plane: "control",
  moves: ["read secrets", "write secrets", "read page_content", "write page_content"],
  scope: ["vaults:use"],
  method: "POST",
  path: "/vaults/{id_or_name}/items/{key}/operations",
  summary: "Use an item of a vault.",
  params: byKey,
  body: json(OperateVaultItem),
  responses: { 200: json(VaultItemOperation) },
  errors: [400, 401, 403, 404, 409, 500, 501, 502, 503],
});
