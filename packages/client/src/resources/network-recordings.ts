import { deleteNetworkRecording, getNetworkRecording, listNetworkRecordings } from "@shoal/contract";
import type { ListNetworkRecordings, NetworkRecording } from "@shoal/schemas";
import type { Call, CallOptions, ItemPage, Transport } from "@shoal/transport";

/** Recorded answers of the network. `browsers.create` records and replays them. */
export class NetworkRecordings {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists recordings, newest first. `for await` iterates over all pages. */
  list(query: ListNetworkRecordings = {}, options?: CallOptions): Call<ItemPage<NetworkRecording>> {
    return this.#transport.call(listNetworkRecordings, { query }, options);
  }
  /** Gets a recording. @throws {ApiError} 404 `not_found`. */
  get(id: string, options?: CallOptions): Call<NetworkRecording> {
    return this.#transport.call(getNetworkRecording, { params: { id } }, options);
  }
  /** Deletes a recording. @throws {ApiError} 409 `conflict` while its session runs. */
  delete(id: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteNetworkRecording, { params: { id } }, options);
  }
}
