import {
  createVault,
  deleteVault,
  deleteVaultItem,
  getVault,
  getVaultEncryptionKey,
  getVaultItem,
  listVaultItemEvents,
  listVaultItems,
  listVaults,
  operateVaultItem,
  putVaultItem,
  updateVaultItem,
} from "@shoal/contract";
import type {
  CreateVault,
  GetVaultItem,
  ListVaultItemEvents,
  ListVaults,
  OperateVaultItem,
  PutVaultItem,
  UpdateVaultItem,
  Vault,
  VaultEncryptionKey,
  VaultItem,
  VaultItemEvent,
  VaultItemOperation,
} from "@shoal/schemas";
import type { Call, CallOptions, ItemPage, Transport } from "@shoal/transport";
import { waitingUpTo } from "../waits/wait-limits.ts";

/** Secrets of a vault. Sensitive values cannot be read again. */
export class VaultItems {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists the items of a vault, oldest first. @throws {ApiError} 404 `not_found`. */
  list(vault: string, options?: CallOptions): Call<VaultItem[]> {
    return this.#transport.call(listVaultItems, { params: { id_or_name: vault } }, options);
  }
  /** Creates an item. The same request again returns the present item. @throws {ApiError} 409 for an item of another request. */
  put(vault: string, key: string, body: PutVaultItem, options?: CallOptions): Call<VaultItem> {
    return this.#transport.call(putVaultItem, { params: { id_or_name: vault, key }, body }, options);
  }
  /** Gets an item; with `wait`, when it is ready or after that time; the default of `timeoutMs` is longer by it. @throws {ApiError} 404 `not_found`. */
  get(vault: string, key: string, query: GetVaultItem = {}, options?: CallOptions): Call<VaultItem> {
    return this.#transport.call(
      getVaultItem,
      { params: { id_or_name: vault, key }, query },
      waitingUpTo(query.wait, options),
    );
  }
  /** Changes an item, all or nothing. @throws {ApiError} 404 `not_found`; 409 for another `version`. */
  update(vault: string, key: string, body: UpdateVaultItem, options?: CallOptions): Call<VaultItem> {
    return this.#transport.call(updateVaultItem, { params: { id_or_name: vault, key }, body }, options);
  }
  /** Uses an item: `fill` types values into a page, `collect` returns it with a link to a form for a person. @throws {ApiError} 409 unless `available_operations` has it, 501 `not_implemented`. */
  operate(vault: string, key: string, body: OperateVaultItem, options?: CallOptions): Call<VaultItemOperation> {
    return this.#transport.call(operateVaultItem, { params: { id_or_name: vault, key }, body }, options);
  }
  /** Deletes an item with its values. @throws {ApiError} 404 `not_found`. */
  delete(vault: string, key: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteVaultItem, { params: { id_or_name: vault, key } }, options);
  }
  /** Lists the events of an item, oldest first; with `wait`, as soon as there is one. @throws {ApiError} 404 `not_found`. */
  events(vault: string, key: string, query: ListVaultItemEvents = {}, options?: CallOptions): Call<VaultItemEvent[]> {
    return this.#transport.call(
      listVaultItemEvents,
      { params: { id_or_name: vault, key }, query },
      waitingUpTo(query.wait, options),
    );
  }
}

/** Stores of login data. */
export class Vaults {
  readonly items: VaultItems;
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
    this.items = new VaultItems(transport);
  }

  /** Creates a vault, or returns the vault with this name. @throws {ApiError} 400 for a name in the form of an id. */
  create(body: CreateVault, options?: CallOptions): Call<Vault> {
    return this.#transport.call(createVault, { body }, options);
  }
  /** Lists vaults, newest first. `for await` iterates over all pages. */
  list(query: ListVaults = {}, options?: CallOptions): Call<ItemPage<Vault>> {
    return this.#transport.call(listVaults, { query }, options);
  }
  /** Gets a vault. @throws {ApiError} 404 `not_found`. */
  get(idOrName: string, options?: CallOptions): Call<Vault> {
    return this.#transport.call(getVault, { params: { id_or_name: idOrName } }, options);
  }
  /** Deletes a vault with its items. @throws {ApiError} 404 `not_found`. */
  delete(idOrName: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteVault, { params: { id_or_name: idOrName } }, options);
  }
  /** Returns the key to which pages encrypt values; the first call creates it. @throws {ApiError} 404 `not_found`. */
  encryptionKey(idOrName: string, options?: CallOptions): Call<VaultEncryptionKey> {
    return this.#transport.call(getVaultEncryptionKey, { params: { id_or_name: idOrName } }, options);
  }
}
