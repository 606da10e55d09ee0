import { createProfile, deleteProfile, downloadProfile, getProfile, listProfiles, updateProfile } from "@shoal/contract";
import type { CreateProfile, DownloadProfile, ListProfiles, Profile, UpdateProfile } from "@shoal/schemas";
import type { CallOptions, Download, DownloadOptions, ItemPage, Transport } from "@shoal/transport";

/** Saved browser state (cookies, storage, preferences) that sessions start from. */
export class Profiles {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
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
  /** Deletes a profile with its saved state. @throws {ApiError} 404 `not_found`. */
  delete(idOrName: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(deleteProfile, { params: { id_or_name: idOrName } }, options);
  }
  /** Downloads the saved state as an archive, `tar.zst` unless `query` says otherwise. @returns `undefined` while nothing was saved. @throws {ApiError} 404 `not_found`. */
  download(idOrName: string, query: DownloadProfile = {}, options?: DownloadOptions): Promise<Download | undefined> {
    return this.#transport.download(downloadProfile, { params: { id_or_name: idOrName }, query }, options);
  }
}
