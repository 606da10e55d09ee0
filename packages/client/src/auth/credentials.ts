import {
  createCredential,
  deleteCredential,
  getCredential,
  getTotpCode,
  listCredentials,
  updateCredential,
} from "@shoal/contract";
import type { CreateCredential, Credential, ListCredentials, TotpCode, UpdateCredential } from "@shoal/schemas";
import type { Call, CallOptions, ItemPage, Transport } from "@shoal/transport";

/** Credentials for signing in to websites. Secrets cannot be read again. */
export class Credentials {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Stores a credential. With `totp_secret` the result has a one-time code, to verify the secret. @throws {ApiError} 409 `name_taken`; 400 for an invalid `totp_secret` or `domain`. */
  create(body: CreateCredential, options?: CallOptions): Call<Credential> {
    return this.#transport.call(createCredential, { body }, options);
  }
  /** Lists credentials, newest first, without `value_keys`. `for await` iterates over all pages. */
  list(query: ListCredentials = {}, options?: CallOptions): Call<ItemPage<Credential>> {
    return this.#transport.call(listCredentials, { query }, options);
  }
  /** Gets a credential. Ids take precedence over names. @throws {ApiError} 404 `not_found`. */
  get(idOrName: string, options?: CallOptions): Call<Credential> {
    return this.#transport.call(getCredential, { params: { id_or_name: idOrName } }, options);
  }
  /** Changes the given fields of a credential; new `values` are merged into the stored ones. @throws {ApiError} 404 `not_found`, 409 `name_taken`. */
  update(idOrName: string, body: UpdateCredential, options?: CallOptions): Call<Credential> {
    return this.#transport.call(updateCredential, { params: { id_or_name: idOrName }, body }, options);
  }
  /** Deletes a credential with its secrets. @throws {ApiError} 404 `not_found`. */
  delete(idOrName: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteCredential, { params: { id_or_name: idOrName } }, options);
  }
  /** Returns the current one-time code. @throws {ApiError} 404 `not_found`, also for a credential without `totp_secret`. */
  totpCode(idOrName: string, options?: CallOptions): Call<TotpCode> {
    return this.#transport.call(getTotpCode, { params: { id_or_name: idOrName } }, options);
  }
}
