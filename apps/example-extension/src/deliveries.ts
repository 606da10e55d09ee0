import type { CallOptions, Download, DownloadOptions, ItemPage, Transport } from "@shoal/transport";
import { createDelivery, getDelivery, listDeliveries, readDelivery } from "./endpoints.ts";
import type { CreateDelivery, Delivery, ListDeliveries } from "./schemas.ts";

/** Files copied out of browser sessions. */
export class Deliveries {
  readonly #transport: Transport;
  /** @param transport - to the deliveries server: `createTransport({ baseUrl, apiKey })`, with a key of Shoal. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Copies a file out of a session. @throws {ApiError} 404 `not_found` for the session or the file, 413 above 64 MiB.
   */
  create(body: CreateDelivery, options?: CallOptions): Promise<Delivery> {
    return this.#transport.call(createDelivery, { body }, options);
  }
  /** Lists deliveries, newest first. `for await` over the result fetches all pages. */
  list(query: ListDeliveries = {}, options?: CallOptions): Promise<ItemPage<Delivery>> {
    return this.#transport.call(listDeliveries, { query }, options);
  }
  /** @throws {ApiError} 404 `not_found`. */
  get(id: string, options?: CallOptions): Promise<Delivery> {
    return this.#transport.call(getDelivery, { params: { id } }, options);
  }
  /** Downloads the file as a stream. @throws {ApiError} 404 `not_found`. */
  read(id: string, options?: DownloadOptions): Promise<Download> {
    return this.#transport.download(readDelivery, { params: { id } }, options);
  }
}
