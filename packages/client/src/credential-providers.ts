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
import type { CallOptions, ItemPage, Transport } from "@shoal/transport";

/** Password managers that credentials are fetched from when a login needs them. */
export class CredentialProviders {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Connects a password manager. Its token is stored encrypted and never sent back. @throws {ApiError} 409 `name_taken`. */
  create(body: CreateCredentialProvider, options?: CallOptions): Promise<CredentialProvider> {
    return this.#transport.call(createCredentialProvider, { body }, options);
  }
  /** Lists password managers in the order in which they are asked. `for await` over the page gives all of them, page by page. */
  list(query: ListCredentialProviders = {}, options?: CallOptions): Promise<ItemPage<CredentialProvider>> {
    return this.#transport.call(listCredentialProviders, { query }, options);
  }
  /** Finds a password manager. @throws {ApiError} 404 `not_found`. */
  get(id: string, options?: CallOptions): Promise<CredentialProvider> {
    return this.#transport.call(getCredentialProvider, { params: { id } }, options);
  }
  /** Changes a password manager: fields that are absent stay as they are, a `token` takes the place of the old one. @throws {ApiError} 404 `not_found`, 409 `name_taken`. */
  update(id: string, body: UpdateCredentialProvider, options?: CallOptions): Promise<CredentialProvider> {
    return this.#transport.call(updateCredentialProvider, { params: { id }, body }, options);
  }
  /** Disconnects a password manager and forgets its token. @throws {ApiError} 404 `not_found`. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(deleteCredentialProvider, { params: { id } }, options);
  }
  /** Asks a password manager for the vaults that its token opens. A token that is refused gives `success: false`, not an error. @throws {ApiError} 404 `not_found`. */
  test(id: string, options?: CallOptions): Promise<CredentialProviderTestResult> {
    return this.#transport.call(testCredentialProvider, { params: { id } }, options);
  }
  /** Lists all that a password manager's token may read: titles and paths, no secrets. @throws {ApiError} 404 `not_found`. */
  listItems(id: string, options?: CallOptions): Promise<CredentialProviderItems> {
    return this.#transport.call(listCredentialProviderItems, { params: { id } }, options);
  }
}
