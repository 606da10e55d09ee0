import { listApps } from "@shoal/contract";
import type { AppVersion, ListApps } from "@shoal/schemas";
import type { Call, CallOptions, ItemPage, Transport } from "@shoal/transport";

/** Deployed apps. */
export class Apps {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists app versions with their actions, newest first. `for await` iterates over all pages. */
  list(query: ListApps = {}, options?: CallOptions): Call<ItemPage<AppVersion>> {
    return this.#transport.call(listApps, { query }, options);
  }
}
