import {
  createCredentialProvider,
  deleteCredentialProvider,
  getCredentialProvider,
  listCredentialProviderItems,
  listCredentialProviders,
  testCredentialProvider,
  updateCredentialProvider,
} from "@shoal/contract";
import type {
  CreateCredentialProvider,
  CredentialProvider,
  CredentialProviderItems,
  CredentialProviderTestResult,
  ListCredentialProviders,
  UpdateCredentialProvider,
} from "@shoal/schemas";
import type { Call, CallOptions, ItemPage, Transport } from "@shoal/transport";

/** Password managers, which provide credentials for logins. */
export class CredentialProviders {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Connects a password manager. Its token is stored encrypted and never sent back. @throws {ApiError} 409 `name_taken`. */
  create(body: CreateCredentialProvider, options?: CallOptions): Call<CredentialProvider> {
    return this.#transport.call(createCredentialProvider, { body }, options);
  }
  /** Lists password managers in the order of queries. `for await` iterates over all pages. */
  list(query: ListCredentialProviders = {}, options?: CallOptions): Call<ItemPage<CredentialProvider>> {
    return this.#transport.call(listCredentialProviders, { query }, options);
  }
  /** Gets a password manager. @throws {ApiError} 404 `not_found`. */
  get(id: string, options?: CallOptions): Call<CredentialProvider> {
    return this.#transport.call(getCredentialProvider, { params: { id } }, options);
  }
  /** Changes the given fields of a password manager; a new `token` replaces the old one. @throws {ApiError} 404 `not_found`, 409 `name_taken`. */
  update(id: string, body: UpdateCredentialProvider, options?: CallOptions): Call<CredentialProvider> {
    return this.#transport.call(updateCredentialProvider, { params: { id }, body }, options);
  }
  /** Disconnects a password manager and deletes its token. @throws {ApiError} 404 `not_found`. */
  delete(id: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteCredentialProvider, { params: { id } }, options);
  }
  /** Lists the vaults that a password manager's token can read. Resolves with `success: false` when the token is rejected. @throws {ApiError} 404 `not_found`. */
  test(id: string, options?: CallOptions): Call<CredentialProviderTestResult> {
    return this.#transport.call(testCredentialProvider, { params: { id } }, options);
  }
  /** Lists all items that a password manager's token can read: titles and paths, no secrets. @throws {ApiError} 404 `not_found`. */
  listItems(id: string, options?: CallOptions): Call<CredentialProviderItems> {
    return this.#transport.call(listCredentialProviderItems, { params: { id } }, options);
  }
}
