import { CreateProfile, DownloadProfile, Id, lazyObject, ListProfiles, Profile, UpdateProfile } from "@shoal/schemas";
import { bytes, defineEndpoint, empty, json, page } from "./endpoint.ts";

const area = "Profiles";
const idOrName = lazyObject(() => ({
  /** The profile's id, or its name. */
  id_or_name: Id,
}));

/** Makes an empty profile. Sessions fill it when they end with `save_changes`. */
export const createProfile = defineEndpoint({
  operationId: "profiles.create",
  area,
  plane: "control",
  method: "POST",
  path: "/profiles",
  summary: "Create a profile.",
  body: json(CreateProfile),
  responses: { 201: json(Profile) },
  errors: [400, 401, 403, 409, 500],
});

/** Newest first. */
export const listProfiles = defineEndpoint({
  operationId: "profiles.list",
  area,
  plane: "control",
  method: "GET",
  path: "/profiles",
  summary: "List profiles.",
  query: ListProfiles,
  responses: { 200: page(Profile) },
  errors: [400, 401, 500],
});

/** An id is looked for before a name. */
export const getProfile = defineEndpoint({
  operationId: "profiles.get",
  area,
  plane: "control",
  method: "GET",
  path: "/profiles/{id_or_name}",
  summary: "Get a profile by id or name.",
  params: idOrName,
  responses: { 200: json(Profile) },
  errors: [401, 404, 500],
});

/** Sessions that run with the profile keep it, whatever its name. */
export const updateProfile = defineEndpoint({
  operationId: "profiles.update",
  area,
  plane: "control",
  method: "PATCH",
  path: "/profiles/{id_or_name}",
  summary: "Rename a profile.",
  params: idOrName,
  body: json(UpdateProfile),
  responses: { 200: json(Profile) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Takes its saved state with it. */
export const deleteProfile = defineEndpoint({
  operationId: "profiles.delete",
  area,
  plane: "control",
  method: "DELETE",
  path: "/profiles/{id_or_name}",
  summary: "Delete a profile.",
  params: idOrName,
  responses: { 204: empty },
  errors: [400, 401, 403, 404, 500],
});

/** The saved state as an archive. 202 without a body: nothing was saved yet. */
export const downloadProfile = defineEndpoint({
  operationId: "profiles.download",
  area,
  plane: "control",
  method: "GET",
  path: "/profiles/{id_or_name}/download",
  summary: "Download the saved state of a profile.",
  params: idOrName,
  query: DownloadProfile,
  responses: { 200: bytes("application/octet-stream"), 202: empty },
  errors: [400, 401, 403, 404, 500],
});
