import {
  CloneProfile,
  CreateProfile,
  DownloadProfile,
  Id,
  ImportStorageState,
  lazyObject,
  ListProfiles,
  ListProfileVersions,
  Profile,
  ProfileVersion,
  RollbackProfile,
  StorageState,
  UpdateProfile,
} from "@shoal/schemas";
import { bytes, defineEndpoint, empty, json, optionalJson, page } from "./endpoint.ts";

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

/** Takes its saved states with it. 409 while a browser runs with it, or a pool starts its browsers from it. */
export const deleteProfile = defineEndpoint({
  operationId: "profiles.delete",
  area,
  plane: "control",
  method: "DELETE",
  path: "/profiles/{id_or_name}",
  summary: "Delete a profile.",
  params: idOrName,
  responses: { 204: empty },
  errors: [400, 401, 403, 404, 409, 500],
});

/**
 * The saved state as an archive: the part of Chromium's user data folder that is kept, and `shoal/state.json` with cookies and local storage.
 * 202 without a body: nothing was saved yet.
 */
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

/** Newest first. The latest ones of each profile are kept; one session makes one of them, however often it saves. */
export const listProfileVersions = defineEndpoint({
  operationId: "profiles.versions.list",
  area,
  plane: "control",
  method: "GET",
  path: "/profiles/{id_or_name}/versions",
  summary: "List the saved states of a profile.",
  params: idOrName,
  query: ListProfileVersions,
  responses: { 200: page(ProfileVersion) },
  errors: [400, 401, 404, 500],
});

/** Makes an earlier state the present one, as a version of its own: rolling back can be rolled back. 409 while a session saves to the profile. */
export const rollbackProfile = defineEndpoint({
  operationId: "profiles.rollback",
  area,
  plane: "control",
  method: "POST",
  path: "/profiles/{id_or_name}/rollback",
  summary: "Return a profile to an earlier saved state.",
  params: idOrName,
  body: json(RollbackProfile),
  responses: { 200: json(Profile) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** The new profile starts with the present state of this one; what is saved to either later is its own. */
export const cloneProfile = defineEndpoint({
  operationId: "profiles.clone",
  area,
  plane: "control",
  method: "POST",
  path: "/profiles/{id_or_name}/clone",
  summary: "Copy a profile.",
  params: idOrName,
  body: optionalJson(CloneProfile),
  responses: { 201: json(Profile) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** For Playwright's `newContext({ storageState })`. 202 without a body: nothing was saved yet. */
export const getStorageState = defineEndpoint({
  operationId: "profiles.storageState.get",
  area,
  plane: "control",
  method: "GET",
  path: "/profiles/{id_or_name}/storage_state",
  summary: "Get the cookies and local storage of a profile.",
  params: idOrName,
  responses: { 200: json(StorageState), 202: empty },
  errors: [401, 404, 409, 500, 503],
});

/** Replaces the profile's state: takes what Playwright's `context.storageState()` gave, 1 MiB at most. 409 while a session saves to the profile. */
export const importStorageState = defineEndpoint({
  operationId: "profiles.storageState.import",
  area,
  plane: "control",
  method: "PUT",
  path: "/profiles/{id_or_name}/storage_state",
  summary: "Set the cookies and local storage of a profile.",
  params: idOrName,
  body: json(ImportStorageState),
  responses: { 200: json(Profile) },
  errors: [400, 401, 403, 404, 409, 413, 500],
});

const browserIdOrName = lazyObject(() => ({
  /** The session's id, or the name of a running session. */
  id_or_name: Id,
}));

/**
 * Saves the session's state to its profile while it goes on; the session must have been made with `save_changes`. Cookies are those of this moment, local
 * storage and databases may lack the last seconds.
 */
export const saveBrowserProfile = defineEndpoint({
  operationId: "browsers.saveProfile",
  area,
  plane: "control",
  method: "POST",
  path: "/browsers/{id_or_name}/profile/save",
  summary: "Save a running session's state to its profile.",
  params: browserIdOrName,
  responses: { 200: json(Profile) },
  errors: [401, 403, 404, 409, 500, 503],
});
