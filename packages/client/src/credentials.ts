import { createCredential, deleteCredential, getCredential, getTotpCode, listCredentials, updateCredential } from "@shoal/contract";
import type { CreateCredential, Credential, ListCredentials, TotpCode, UpdateCredential } from "@shoal/schemas";
import type { CallOptions, ItemPage, Transport } from "@shoal/transport";

/** What people sign in with on sites. Secrets go in and are never sent back. */
export class Credentials {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Stores a credential. With `totp_secret` the answer holds a one-time code to check it against. @throws {ApiError} 409 `name_taken`; 400 for a `totp_secret` that is no Base32. */
  create(body: CreateCredential, options?: CallOptions): Promise<Credential> {
    return this.#transport.call(createCredential, { body }, options);
  }
  /** Lists credentials, newest first, without the names of their values. `for await` over the page gives all of them, page by page. */
  list(query: ListCredentials = {}, options?: CallOptions): Promise<ItemPage<Credential>> {
    return this.#transport.call(listCredentials, { query }, options);
  }
  /** Finds a credential. An id is looked for before a name. @throws {ApiError} 404 `not_found`. */
  get(idOrName: string, options?: CallOptions): Promise<Credential> {
    return this.#transport.call(getCredential, { params: { id_or_name: idOrName } }, options);
  }
  /** Changes a credential: fields that are absent stay as they are, `values` are added to those that are there. @throws {ApiError} 404 `not_found`, 409 `name_taken`. */
  update(idOrName: string, body: UpdateCredential, options?: CallOptions): Promise<Credential> {
    return this.#transport.call(updateCredential, { params: { id_or_name: idOrName }, body }, options);
  }
  /** Deletes a credential with its secrets. @throws {ApiError} 404 `not_found`. */
  delete(idOrName: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(deleteCredential, { params: { id_or_name: idOrName } }, options);
  }
  /** Makes the one-time code, 6 digits, that is valid now. @throws {ApiError} 404 `not_found`, also for a credential without a `totp_secret`. */
  totpCode(idOrName: string, options?: CallOptions): Promise<TotpCode> {
    return this.#transport.call(getTotpCode, { params: { id_or_name: idOrName } }, options);
  }
}
