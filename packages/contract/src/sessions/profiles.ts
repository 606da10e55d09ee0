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
import { bytes, defineEndpoint, empty, json, optionalJson, page } from "../base/endpoint.ts";

/** Saved browser state (cookies, storage, preferences) that sessions start from and write back to. */
const area = "Profiles";
const idOrName = lazyObject(() => ({
  /** The profile's id, or its name. */
  id_or_name: Id,
}));

/** Creates an empty profile. Sessions with `save_changes` fill it when they end. */
export const createProfile = defineEndpoint({
  operationId: "profiles.create",
  area,
  plane: "control",
  moves: ["write profiles"],
  scope: ["profiles:create"],
  method: "POST",
  idempotency: "transaction",
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
  tool: "list_profiles",
  moves: ["read profiles"],
  scope: ["profiles:read"],
  method: "GET",
  path: "/profiles",
  summary: "List profiles.",
  query: ListProfiles,
  responses: { 200: page(Profile) },
  errors: [400, 401, 500],
});

/** An id takes precedence over a name. */
export const getProfile = defineEndpoint({
  operationId: "profiles.get",
  area,
  plane: "control",
  moves: ["read profiles"],
  scope: ["profiles:read"],
  method: "GET",
  path: "/profiles/{id_or_name}",
  summary: "Get a profile by id or name.",
  params: idOrName,
  responses: { 200: json(Profile) },
  errors: [401, 404, 500],
});

/** Running sessions keep the profile. */
export const updateProfile = defineEndpoint({
  operationId: "profiles.update",
  area,
  plane: "control",
  moves: ["write profiles"],
  scope: ["profiles:write"],
  method: "PATCH",
  path: "/profiles/{id_or_name}",
  summary: "Change a profile: its name, or how its sessions sign requests.",
  params: idOrName,
  body: json(UpdateProfile),
  responses: { 200: json(Profile) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Deletes its saved states too. 409 while a session or a pool uses it. */
export const deleteProfile = defineEndpoint({
  operationId: "profiles.delete",
  area,
  plane: "control",
  moves: ["write profiles"],
  scope: ["profiles:delete"],
  method: "DELETE",
  path: "/profiles/{id_or_name}",
  summary: "Delete a profile.",
  params: idOrName,
  responses: { 204: empty },
  errors: [400, 401, 403, 404, 409, 500],
});

/**
 * The saved state as an archive: the part of Chromium's user data folder that is kept, and `shoal/state.json` with cookies and local storage.
 * 202 without a body: nothing is saved yet.
 */
export const downloadProfile = defineEndpoint({
  operationId: "profiles.download",
  area,
  plane: "control",
  audited: true,
  moves: ["read profiles", "read cookies"],
  scope: ["profiles:read", "profiles:use"],
  method: "GET",
  path: "/profiles/{id_or_name}/download",
  summary: "Download the saved state of a profile.",
  params: idOrName,
  query: DownloadProfile,
  responses: { 200: bytes("application/octet-stream"), 202: empty },
  errors: [400, 401, 403, 404, 500],
});

/** Newest first. Only the latest states are kept. One session adds one state, however often it saves. */
export const listProfileVersions = defineEndpoint({
  operationId: "profiles.versions.list",
  area,
  plane: "control",
  moves: ["read profiles"],
  scope: ["profiles:read"],
  method: "GET",
  path: "/profiles/{id_or_name}/versions",
  summary: "List the saved states of a profile.",
  params: idOrName,
  query: ListProfileVersions,
  responses: { 200: page(ProfileVersion) },
  errors: [400, 401, 404, 500],
});

/** Copies an earlier state to a new version, so a rollback can be rolled back. 409 while a session saves to the profile. */
export const rollbackProfile = defineEndpoint({
  operationId: "profiles.rollback",
  area,
  plane: "control",
  moves: ["write profiles"],
  scope: ["profiles:write"],
  method: "POST",
  idempotency: "transaction",
  path: "/profiles/{id_or_name}/rollback",
  summary: "Return a profile to an earlier saved state.",
  params: idOrName,
  body: json(RollbackProfile),
  responses: { 200: json(Profile) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** The new profile starts with the current state of this one. Later saves are separate. */
export const cloneProfile = defineEndpoint({
  operationId: "profiles.clone",
  area,
  plane: "control",
  moves: ["write profiles"],
  scope: ["profiles:read", "profiles:use", "profiles:create"],
  method: "POST",
  idempotency: "transaction",
  path: "/profiles/{id_or_name}/clone",
  summary: "Copy a profile.",
  params: idOrName,
  body: optionalJson(CloneProfile),
  responses: { 201: json(Profile) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** For Playwright's `newContext({ storageState })`. 202 without a body: nothing is saved yet. */
export const getStorageState = defineEndpoint({
  operationId: "profiles.storageState.get",
  area,
  plane: "control",
  audited: true,
  moves: ["read profiles", "read cookies"],
  scope: ["profiles:read", "profiles:use"],
  method: "GET",
  path: "/profiles/{id_or_name}/storage_state",
  summary: "Get the cookies and local storage of a profile.",
  params: idOrName,
  responses: { 200: json(StorageState), 202: empty },
  errors: [401, 404, 409, 500, 503],
});

/** Replaces the profile's state with the result of Playwright's `context.storageState()`, at most 1 MiB. 409 while a session saves to the profile. */
export const importStorageState = defineEndpoint({
  operationId: "profiles.storageState.import",
  area,
  plane: "control",
  moves: ["write profiles", "write cookies"],
  scope: ["profiles:write", "profiles:use"],
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

/** Saves the state of a running session to its profile. The session must have a profile with `save_changes`. Cookies are current; local storage and databases may lack the last seconds. */
export const saveBrowserProfile = defineEndpoint({
  operationId: "browsers.saveProfile",
  area,
  plane: "control",
  tool: "save_profile",
  moves: ["write profiles"],
  scope: ["browsers:use", "profiles:write"],
  method: "POST",
  path: "/browsers/{id_or_name}/profile/save",
  summary: "Save a running session's state to its profile.",
  params: browserIdOrName,
  responses: { 200: json(Profile) },
  errors: [401, 403, 404, 409, 500, 503],
});
