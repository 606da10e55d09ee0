import {
  cloneProfile,
  createProfile,
  deleteProfile,
  downloadProfile,
  getProfile,
  getStorageState,
  importStorageState,
  listProfiles,
  listProfileVersions,
  rollbackProfile,
  updateProfile,
} from "@shoal/contract";
import type {
  CloneProfile,
  CreateProfile,
  DownloadProfile,
  ImportStorageState,
  ListProfiles,
  ListProfileVersions,
  Profile,
  ProfileVersion,
  RollbackProfile,
  StorageState,
  UpdateProfile,
} from "@shoal/schemas";
import type { Call, CallOptions, Download, DownloadOptions, ItemPage, Transport } from "@shoal/transport";

/** Saved browser state (cookies, storage, preferences) that sessions start from. */
export class Profiles {
  readonly versions: ProfileVersions;
  readonly storageState: ProfileStorageState;
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
    this.versions = new ProfileVersions(transport);
    this.storageState = new ProfileStorageState(transport);
  }

  /** Creates an empty profile; sessions with `save_changes` save to it when they end. @throws {ApiError} 409 `name_taken`; 400 for a name that is empty or longer than 255 characters. */
  create(body: CreateProfile = {}, options?: CallOptions): Call<Profile> {
    return this.#transport.call(createProfile, { body }, options);
  }
  /** Lists profiles, newest first. `for await` iterates over all pages. */
  list(query: ListProfiles = {}, options?: CallOptions): Call<ItemPage<Profile>> {
    return this.#transport.call(listProfiles, { query }, options);
  }
  /** Gets a profile. Ids take precedence over names. @throws {ApiError} 404 `not_found`. */
  get(idOrName: string, options?: CallOptions): Call<Profile> {
    return this.#transport.call(getProfile, { params: { id_or_name: idOrName } }, options);
  }
  /** Changes the name of a profile, or how its sessions sign requests. Running sessions are not affected. @throws {ApiError} 404 `not_found`, 409 `name_taken`. */
  update(idOrName: string, body: UpdateProfile, options?: CallOptions): Call<Profile> {
    return this.#transport.call(updateProfile, { params: { id_or_name: idOrName }, body }, options);
  }
  /** Deletes a profile with its saved states. @throws {ApiError} 404 `not_found`; 409 `profile_in_use` while a browser or a pool uses it. */
  delete(idOrName: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteProfile, { params: { id_or_name: idOrName } }, options);
  }
  /** Downloads the saved state as an archive, by default `tar.zst`. @returns `undefined` before the first save. @throws {ApiError} 404 `not_found`. */
  download(idOrName: string, query: DownloadProfile = {}, options?: DownloadOptions): Promise<Download | undefined> {
    return this.#transport.download(downloadProfile, { params: { id_or_name: idOrName }, query }, options);
  }
  /** Restores an earlier saved state, as a new version. @throws {ApiError} 404 `not_found`; 409 `profile_in_use` while a session saves to it. */
  rollback(idOrName: string, body: RollbackProfile, options?: CallOptions): Call<Profile> {
    return this.#transport.call(rollbackProfile, { params: { id_or_name: idOrName }, body }, options);
  }
  /** Copies a profile with its current state. @throws {ApiError} 404 `not_found`, 409 `name_taken`. */
  clone(idOrName: string, body: CloneProfile = {}, options?: CallOptions): Call<Profile> {
    return this.#transport.call(cloneProfile, { params: { id_or_name: idOrName }, body }, options);
  }
}

/** Saved states of profiles, numbered from 1. */
export class ProfileVersions {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists the stored states, newest first. @throws {ApiError} 404 `not_found`. */
  list(idOrName: string, query: ListProfileVersions = {}, options?: CallOptions): Call<ItemPage<ProfileVersion>> {
    return this.#transport.call(listProfileVersions, { params: { id_or_name: idOrName }, query }, options);
  }
}

/** Cookies and local storage of profiles, in Playwright's format. */
export class ProfileStorageState {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns the saved state for `newContext({ storageState })`. @returns `undefined` before the first save. @throws {ApiError} 404 `not_found`. */
  get(idOrName: string, options?: CallOptions): Call<StorageState | undefined> {
    return this.#transport.call(getStorageState, { params: { id_or_name: idOrName } }, options);
  }
  /** Replaces the profile's state by the result of `context.storageState()`, at most 1 MiB. @throws {ApiError} 404 `not_found`; 409 `profile_in_use` while a session saves to it. */
  import(idOrName: string, body: ImportStorageState, options?: CallOptions): Call<Profile> {
    return this.#transport.call(importStorageState, { params: { id_or_name: idOrName }, body }, options);
  }
}
