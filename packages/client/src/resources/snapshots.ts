import { deleteSnapshot, getSnapshot, listSnapshots } from "@shoal/contract";
import type { ListSnapshots, Snapshot } from "@shoal/schemas";
import type { Call, CallOptions, ItemPage, Transport } from "@shoal/transport";

/** Stored states of sessions. `browsers.snapshot` makes them, and `browsers.create` starts sessions from them. */
export class Snapshots {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists snapshots, newest first. `for await` iterates over all pages. */
  list(query: ListSnapshots = {}, options?: CallOptions): Call<ItemPage<Snapshot>> {
    return this.#transport.call(listSnapshots, { query }, options);
  }
  /** Gets a snapshot. @throws {ApiError} 404 `not_found`. */
  get(id: string, options?: CallOptions): Call<Snapshot> {
    return this.#transport.call(getSnapshot, { params: { id } }, options);
  }
  /** Deletes a snapshot. Sessions that started from it continue. @throws {ApiError} 404 `not_found`. */
  delete(id: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteSnapshot, { params: { id } }, options);
  }
}
