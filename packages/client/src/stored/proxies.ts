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
  /** Gets a proxy by its id; names need not be unique. @throws {ApiError} 404 `not_found`. */
  get(id: string, options?: CallOptions): Call<Proxy> {
    return this.#transport.call(getProxy, { params: { id } }, options);
  }
  /** Renames a proxy. @throws {ApiError} 404 `not_found`. */
  update(id: string, body: UpdateProxy, options?: CallOptions): Call<Proxy> {
    return this.#transport.call(updateProxy, { params: { id }, body }, options);
  }
  /** Deletes a proxy. Running sessions keep it. @throws {ApiError} 404 `not_found`. */
  delete(id: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteProxy, { params: { id } }, options);
  }
  /** Tests the proxy with a request. The result is stored unless `body.url` is set. @throws {ApiError} 404 `not_found`; 422 when the request failed. */
  check(id: string, body: CheckProxy = {}, options?: CallOptions): Call<Proxy> {
    return this.#transport.call(checkProxy, { params: { id }, body }, options);
  }
}
