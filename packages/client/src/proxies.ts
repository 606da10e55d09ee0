import { checkProxy, createProxy, deleteProxy, getProxy, listProxies, updateProxy } from "@shoal/contract";
import type { CheckProxy, CreateProxy, ListProxies, Proxy, UpdateProxy } from "@shoal/schemas";
import type { CallOptions, ItemPage, Transport } from "@shoal/transport";

/** Exits that sessions' traffic can leave by. */
export class Proxies {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Makes a proxy: one of your own with `type: "custom"`, or one that the service's operator provides. @throws {ApiError} 400 for a `config` that the type does not take. */
  create(body: CreateProxy, options?: CallOptions): Promise<Proxy> {
    return this.#transport.call(createProxy, { body }, options);
  }
  /** Lists proxies, newest first. `for await` over the page gives all of them, page by page. */
  list(query: ListProxies = {}, options?: CallOptions): Promise<ItemPage<Proxy>> {
    return this.#transport.call(listProxies, { query }, options);
  }
  /** Finds a proxy by its id; names need not be unique. @throws {ApiError} 404 `not_found`. */
  get(id: string, options?: CallOptions): Promise<Proxy> {
    return this.#transport.call(getProxy, { params: { id } }, options);
  }
  /** Renames a proxy. @throws {ApiError} 404 `not_found`. */
  update(id: string, body: UpdateProxy, options?: CallOptions): Promise<Proxy> {
    return this.#transport.call(updateProxy, { params: { id }, body }, options);
  }
  /** Deletes a proxy; sessions that use it go on using it. @throws {ApiError} 404 `not_found`. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(deleteProxy, { params: { id } }, options);
  }
  /** Fetches a page through the proxy. What was found is stored, unless `body.url` names the page. @throws {ApiError} 404 `not_found`; 422 when the page could not be fetched. */
  check(id: string, body: CheckProxy = {}, options?: CallOptions): Promise<Proxy> {
    return this.#transport.call(checkProxy, { params: { id }, body }, options);
  }
}
