import { CreateVault, Id, lazyObject, ListVaults, Vault, VaultEncryptionKey } from "@shoal/schemas";
import { defineEndpoint, empty, json, page } from "../base/endpoint.ts";

/** Stores of login data. Sensitive values are never returned. */
const area = "Vaults";
const idOrName = lazyObject(() => ({
  /** The vault's id, or its name. */
  id_or_name: Id,
}));

/** Returns the vault with this name if there is one. */
export const createVault = defineEndpoint({
  operationId: "vaults.create",
  area,
  plane: "control",
  moves: ["write secrets"],
  scope: ["vaults:create"],
  method: "POST",
  path: "/vaults",
  summary: "Create a vault, or get it by name.",
  body: json(CreateVault),
  responses: { 200: json(Vault) },
  errors: [400, 401, 403, 500],
});

/** Newest first. */
export const listVaults = defineEndpoint({
  operationId: "vaults.list",
  area,
  plane: "control",
  moves: ["read secrets"],
  scope: ["vaults:read"],
  method: "GET",
  path: "/vaults",
  summary: "List vaults.",
  query: ListVaults,
  responses: { 200: page(Vault) },
  errors: [400, 401, 403, 500],
});

/** An id takes precedence over a name. */
export const getVault = defineEndpoint({
  operationId: "vaults.get",
  area,
  plane: "control",
  moves: ["read secrets"],
  scope: ["vaults:read"],
  method: "GET",
  path: "/vaults/{id_or_name}",
  summary: "Get a vault by id or name.",
  params: idOrName,
  responses: { 200: json(Vault) },
  errors: [401, 403, 404, 500],
});

/** With its items, their values and events. */
export const deleteVault = defineEndpoint({
  operationId: "vaults.delete",
  area,
  plane: "control",
  moves: ["write secrets"],
  scope: ["vaults:delete"],
  method: "DELETE",
  path: "/vaults/{id_or_name}",
  summary: "Delete a vault with its items.",
  params: idOrName,
  responses: { 204: empty },
  errors: [401, 403, 404, 500],
});

/** For pages that encrypt values of sensitive fields before they leave the browser. Each vault has another key, which stays the same. */
export const getVaultEncryptionKey = defineEndpoint({
  operationId: "vaults.encryptionKey",
  area,
  plane: "control",
  moves: ["read secrets"],
  scope: ["vaults:read"],
  method: "GET",
  path: "/vaults/{id_or_name}/encryption_key",
  summary: "Get the public key of a vault.",
  params: idOrName,
  responses: { 200: json(VaultEncryptionKey) },
  errors: [401, 403, 404, 500],
});
