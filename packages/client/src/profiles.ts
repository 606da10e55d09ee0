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
import type { CallOptions, Download, DownloadOptions, ItemPage, Transport } from "@shoal/transport";

/** Saved browser state (cookies, storage, preferences) that sessions start from. */
export class Profiles {
  /** Their saved states. */
  readonly versions: ProfileVersions;
  /** Their cookies and local storage, as Playwright's `storageState` has them. */
  readonly storageState: ProfileStorageState;
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
    this.versions = new ProfileVersions(transport);
    this.storageState = new ProfileStorageState(transport);
  }

  /** Makes an empty profile; sessions fill it when they end with `save_changes`. @throws {ApiError} 409 `name_taken`; 400 for a name that is empty or longer than 255 characters. */
  create(body: CreateProfile = {}, options?: CallOptions): Promise<Profile> {
    return this.#transport.call(createProfile, { body }, options);
  }
  /** Lists profiles, newest first. `for await` over the page gives all of them, page by page. */
  list(query: ListProfiles = {}, options?: CallOptions): Promise<ItemPage<Profile>> {
    return this.#transport.call(listProfiles, { query }, options);
  }
  /** Finds a profile. An id is looked for before a name. @throws {ApiError} 404 `not_found`. */
  get(idOrName: string, options?: CallOptions): Promise<Profile> {
    return this.#transport.call(getProfile, { params: { id_or_name: idOrName } }, options);
  }
  /** Renames a profile. Sessions that run with it keep it. @throws {ApiError} 404 `not_found`, 409 `name_taken`. */
  update(idOrName: string, body: UpdateProfile, options?: CallOptions): Promise<Profile> {
    return this.#transport.call(updateProfile, { params: { id_or_name: idOrName }, body }, options);
  }
  /** Deletes a profile with its saved states. @throws {ApiError} 404 `not_found`; 409 `profile_in_use` while a browser or a pool has it. */
  delete(idOrName: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(deleteProfile, { params: { id_or_name: idOrName } }, options);
  }
  /** Downloads the saved state as an archive, `tar.zst` unless `query` says otherwise. @returns `undefined` while nothing was saved. @throws {ApiError} 404 `not_found`. */
  download(idOrName: string, query: DownloadProfile = {}, options?: DownloadOptions): Promise<Download | undefined> {
    return this.#transport.download(downloadProfile, { params: { id_or_name: idOrName }, query }, options);
  }
  /** Makes an earlier saved state the present one, as a new version. @throws {ApiError} 404 `not_found`; 409 `profile_in_use` while a session saves to it. */
  rollback(idOrName: string, body: RollbackProfile, options?: CallOptions): Promise<Profile> {
    return this.#transport.call(rollbackProfile, { params: { id_or_name: idOrName }, body }, options);
  }
  /** Makes a new profile with the present state of this one. @throws {ApiError} 404 `not_found`, 409 `name_taken`. */
  clone(idOrName: string, body: CloneProfile = {}, options?: CallOptions): Promise<Profile> {
    return this.#transport.call(cloneProfile, { params: { id_or_name: idOrName }, body }, options);
  }
}

/** Saved states of profiles, numbered from 1 on. */
export class ProfileVersions {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists the saved states that are kept, newest first. @throws {ApiError} 404 `not_found`. */
  list(idOrName: string, query: ListProfileVersions = {}, options?: CallOptions): Promise<ItemPage<ProfileVersion>> {
    return this.#transport.call(listProfileVersions, { params: { id_or_name: idOrName }, query }, options);
  }
}

/** Cookies and local storage of profiles, in Playwright's format. */
export class ProfileStorageState {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** What was saved, for `newContext({ storageState })`. @returns `undefined` while nothing was saved. @throws {ApiError} 404 `not_found`. */
  get(idOrName: string, options?: CallOptions): Promise<StorageState | undefined> {
    return this.#transport.call(getStorageState, { params: { id_or_name: idOrName } }, options);
  }
  /** Replaces the profile's state by what `context.storageState()` gave, 1 MiB at most. @throws {ApiError} 404 `not_found`; 409 `profile_in_use` while a session saves to it. */
  import(idOrName: string, body: ImportStorageState, options?: CallOptions): Promise<Profile> {
    return this.#transport.call(importStorageState, { params: { id_or_name: idOrName }, body }, options);
  }
}
