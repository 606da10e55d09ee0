import { CreateCredential, Credential, Id, lazyObject, ListCredentials, TotpCode, UpdateCredential } from "@shoal/schemas";
import { defineEndpoint, empty, json, page } from "./endpoint.ts";

const area = "Credentials";
const idOrName = lazyObject(() => ({
  /** The credential's id, or its name. */
  id_or_name: Id,
}));

/** The values are stored encrypted and never sent back. With `totp_secret` the answer holds a code to check it against. */
export const createCredential = defineEndpoint({
  operationId: "credentials.create",
  area,
  plane: "control",
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
  method: "GET",
  path: "/credentials",
  summary: "List credentials.",
  query: ListCredentials,
  responses: { 200: page(Credential) },
  errors: [400, 401, 500],
});

/** An id is looked for before a name. Values are named, never shown. */
export const getCredential = defineEndpoint({
  operationId: "credentials.get",
  area,
  plane: "control",
  method: "GET",
  path: "/credentials/{id_or_name}",
  summary: "Get a credential by id or name.",
  params: idOrName,
  responses: { 200: json(Credential) },
  errors: [401, 404, 500],
});

/** Fields that are absent stay as they are; values are added to those that are there. */
export const updateCredential = defineEndpoint({
  operationId: "credentials.update",
  area,
  plane: "control",
  method: "PATCH",
  path: "/credentials/{id_or_name}",
  summary: "Change a credential.",
  params: idOrName,
  body: json(UpdateCredential),
  responses: { 200: json(Credential) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Connections that sign in with it have to ask a person from then on. */
export const deleteCredential = defineEndpoint({
  operationId: "credentials.delete",
  area,
  plane: "control",
  method: "DELETE",
  path: "/credentials/{id_or_name}",
  summary: "Delete a credential.",
  params: idOrName,
  responses: { 204: empty },
  errors: [401, 403, 404, 500],
});

/** 404 also for a credential that has no `totp_secret`. */
export const getTotpCode = defineEndpoint({
  operationId: "credentials.totpCode",
  area,
  plane: "control",
  method: "GET",
  path: "/credentials/{id_or_name}/totp-code",
  summary: "Make a one-time code.",
  params: idOrName,
  responses: { 200: json(TotpCode) },
  errors: [401, 404, 500],
});
