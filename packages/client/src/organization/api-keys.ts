import { createApiKey, deleteApiKey, getApiKey, listApiKeys, rotateApiKey, updateApiKey } from "@shoal/contract";
import type {
  ApiKey,
  CreateApiKey,
  CreatedApiKey,
  GetApiKey,
  ListApiKeys,
  RotateApiKey,
  UpdateApiKey,
} from "@shoal/schemas";
import type { Call, CallOptions, ItemPage, Transport } from "@shoal/transport";

/** API keys. */
export class ApiKeys {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Creates a key. `key` in the result is the secret, which cannot be read again. A project's key creates keys of that project only. @throws {ApiError} 403, 404. */
  create(body: CreateApiKey, options?: CallOptions): Call<CreatedApiKey> {
    return this.#transport.call(createApiKey, { body }, options);
  }
  /** Lists keys without their secrets. `for await` iterates over all pages. */
  list(query: ListApiKeys = {}, options?: CallOptions): Call<ItemPage<ApiKey>> {
    return this.#transport.call(listApiKeys, { query }, options);
  }
  /** Gets a key by its id, with `include_deleted` also a deleted one. @throws {ApiError} 404 `not_found`. */
  get(id: string, query: GetApiKey = {}, options?: CallOptions): Call<ApiKey> {
    return this.#transport.call(getApiKey, { params: { id }, query }, options);
  }
  /** Renames a key; its secret stays the same. @throws {ApiError} 400 for a name that is empty or longer than 255 characters; 404 `not_found`. */
  update(id: string, body: UpdateApiKey, options?: CallOptions): Call<ApiKey> {
    return this.#transport.call(updateApiKey, { params: { id }, body }, options);
  }
  /** Deletes a key with immediate effect. @throws {ApiError} 400 when a key deletes itself; 404 `not_found`. */
  delete(id: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteApiKey, { params: { id } }, options);
  }
  /** Creates a key with the same name and project. The old one stays valid for `expire_in_days`, default 7. @throws {ApiError} 404 `not_found`. */
  rotate(id: string, body: RotateApiKey = {}, options?: CallOptions): Call<CreatedApiKey> {
    return this.#transport.call(rotateApiKey, { params: { id }, body }, options);
  }
}
