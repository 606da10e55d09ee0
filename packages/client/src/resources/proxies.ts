import { checkProxy, createProxy, deleteProxy, getProxy, listProxies, updateProxy } from "@shoal/contract";
import type { CheckProxy, CreateProxy, ListProxies, Proxy, UpdateProxy } from "@shoal/schemas";
import type { Call, CallOptions, ItemPage, Transport } from "@shoal/transport";

/** Proxies for the traffic of sessions. */
export class Proxies {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Creates a proxy: your own with `type: "custom"`, or one of the service's operator. @throws {ApiError} 400 for an invalid `config`. */
  create(body: CreateProxy, options?: CallOptions): Call<Proxy> {
    return this.#transport.call(createProxy, { body }, options);
  }
  /** Lists proxies, newest first. `for await` iterates over all pages. */
  list(query: ListProxies = {}, options?: CallOptions): Call<ItemPage<Proxy>> {
    return this.#transport.call(listProxies, { query }, options);
  }
  /** Gets a proxy by its id or its name. @throws {ApiError} 404 `not_found`; 400 for the name of several proxies. */
  get(idOrName: string, options?: CallOptions): Call<Proxy> {
    return this.#transport.call(getProxy, { params: { id_or_name: idOrName } }, options);
  }
  /** Renames a proxy. @throws {ApiError} 404 `not_found`. */
  update(idOrName: string, body: UpdateProxy, options?: CallOptions): Call<Proxy> {
    return this.#transport.call(updateProxy, { params: { id_or_name: idOrName }, body }, options);
  }
  /** Deletes a proxy. Running sessions keep it. @throws {ApiError} 404 `not_found`. */
  delete(idOrName: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteProxy, { params: { id_or_name: idOrName } }, options);
  }
  /** Tests the proxy with a request. The result is stored unless `body.url` is set. @throws {ApiError} 404 `not_found`; 422 when the request failed. */
  check(idOrName: string, body: CheckProxy = {}, options?: CallOptions): Call<Proxy> {
    return this.#transport.call(checkProxy, { params: { id_or_name: idOrName }, body }, options);
  }
}
