import {
  CreateCredentialProvider,
  CredentialProvider,
  CredentialProviderItems,
  CredentialProviderTestResult,
  Id,
  lazyObject,
  ListCredentialProviders,
  UpdateCredentialProvider,
} from "@shoal/schemas";
import { defineEndpoint, empty, json, page } from "../base/endpoint.ts";

/** Password managers from which login data is read. */
const area = "Credential Providers";
const id = lazyObject(() => ({
  /** The provider's id. */
  id: Id,
}));

/** The token is stored encrypted and never returned. */
export const createCredentialProvider = defineEndpoint({
  operationId: "credentialProviders.create",
  area,
  plane: "control",
  moves: ["write secrets"],
  method: "POST",
  path: "/org/credential_providers",
  summary: "Connect a password manager.",
  body: json(CreateCredentialProvider),
  responses: { 201: json(CredentialProvider) },
  errors: [400, 401, 403, 409, 500],
});

/** In the order in which they are asked. */
export const listCredentialProviders = defineEndpoint({
  operationId: "credentialProviders.list",
  area,
  plane: "control",
  moves: ["read secrets"],
  method: "GET",
  path: "/org/credential_providers",
  summary: "List password managers.",
  query: ListCredentialProviders,
  responses: { 200: page(CredentialProvider) },
  errors: [400, 401, 500],
});

/** Without its token. */
export const getCredentialProvider = defineEndpoint({
  operationId: "credentialProviders.get",
  area,
  plane: "control",
  moves: ["read secrets"],
  method: "GET",
  path: "/org/credential_providers/{id}",
  summary: "Get a password manager.",
  params: id,
  responses: { 200: json(CredentialProvider) },
  errors: [401, 404, 500],
});

/** Absent fields stay unchanged. A new `token` replaces the old one. */
export const updateCredentialProvider = defineEndpoint({
  operationId: "credentialProviders.update",
  area,
  plane: "control",
  moves: ["write secrets"],
  method: "PATCH",
  path: "/org/credential_providers/{id}",
  summary: "Change a password manager.",
  params: id,
  body: json(UpdateCredentialProvider),
  responses: { 200: json(CredentialProvider) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Connections that use its items must ask a person from then on. */
export const deleteCredentialProvider = defineEndpoint({
  operationId: "credentialProviders.delete",
  area,
  plane: "control",
  moves: ["write secrets"],
  method: "DELETE",
  path: "/org/credential_providers/{id}",
  summary: "Disconnect a password manager.",
  params: id,
  responses: { 204: empty },
  errors: [401, 403, 404, 500],
});

/** Lists the vaults that the token opens. A rejected token returns `success: false`, not an error. */
export const testCredentialProvider = defineEndpoint({
  operationId: "credentialProviders.test",
  area,
  plane: "control",
  moves: ["write secrets"],
  method: "POST",
  path: "/org/credential_providers/{id}/test",
  summary: "Test a password manager.",
  params: id,
  responses: { 200: json(CredentialProviderTestResult) },
  errors: [401, 403, 404, 500],
});

/** Titles and paths, without secrets. */
export const listCredentialProviderItems = defineEndpoint({
  operationId: "credentialProviders.listItems",
  area,
  plane: "control",
  audited: true,
  moves: ["read secrets"],
  method: "GET",
  path: "/org/credential_providers/{id}/items",
  summary: "List a password manager's items.",
  params: id,
  responses: { 200: json(CredentialProviderItems) },
  errors: [401, 403, 404, 500, 502],
});
