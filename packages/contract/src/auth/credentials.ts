import {
  CreateCredential,
  Credential,
  Id,
  lazyObject,
  ListCredentials,
  TotpCode,
  UpdateCredential,
} from "@shoal/schemas";
import { defineEndpoint, empty, json, page } from "../base/endpoint.ts";

/** Login data that managed auth fills in. Secrets are never returned. */
const area = "Credentials";
const idOrName = lazyObject(() => ({
  /** The credential's id, or its name. */
  id_or_name: Id,
}));

/** The values are stored encrypted and never returned. With `totp_secret` the response contains a code to verify. */
export const createCredential = defineEndpoint({
  operationId: "credentials.create",
  area,
  plane: "control",
  moves: ["write secrets"],
  method: "POST",
  path: "/credentials",
  summary: "Store a credential.",
  body: json(CreateCredential),
  responses: { 201: json(Credential) },
  errors: [400, 401, 403, 409, 500],
});

/** Newest first, without the names of their values. */
export const listCredentials = defineEndpoint({
  operationId: "credentials.list",
  area,
  plane: "control",
  moves: ["read secrets"],
  method: "GET",
  path: "/credentials",
  summary: "List credentials.",
  query: ListCredentials,
  responses: { 200: page(Credential) },
  errors: [400, 401, 500],
});

/** An id takes precedence over a name. Values are named, never shown. */
export const getCredential = defineEndpoint({
  operationId: "credentials.get",
  area,
  plane: "control",
  moves: ["read secrets"],
  method: "GET",
  path: "/credentials/{id_or_name}",
  summary: "Get a credential by id or name.",
  params: idOrName,
  responses: { 200: json(Credential) },
  errors: [401, 404, 500],
});

/** Absent fields stay unchanged. New values are added to the existing ones. */
export const updateCredential = defineEndpoint({
  operationId: "credentials.update",
  area,
  plane: "control",
  moves: ["write secrets"],
  method: "PATCH",
  path: "/credentials/{id_or_name}",
  summary: "Change a credential.",
  params: idOrName,
  body: json(UpdateCredential),
  responses: { 200: json(Credential) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Connections that use it must ask a person from then on. */
export const deleteCredential = defineEndpoint({
  operationId: "credentials.delete",
  area,
  plane: "control",
  moves: ["write secrets"],
  method: "DELETE",
  path: "/credentials/{id_or_name}",
  summary: "Delete a credential.",
  params: idOrName,
  responses: { 204: empty },
  errors: [401, 403, 404, 500],
});

/** Also fails with 404 for a credential without `totp_secret`. */
export const getTotpCode = defineEndpoint({
  operationId: "credentials.totpCode",
  area,
  plane: "control",
  audited: true,
  moves: ["read secrets"],
  method: "GET",
  path: "/credentials/{id_or_name}/totp-code",
  summary: "Generate a one-time code.",
  params: idOrName,
  responses: { 200: json(TotpCode) },
  errors: [401, 404, 500],
});
