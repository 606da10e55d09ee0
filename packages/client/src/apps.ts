import { listApps } from "@shoal/contract";
import type { AppVersion, ListApps } from "@shoal/schemas";
import type { CallOptions, ItemPage, Transport } from "@shoal/transport";

/** Deployed apps. */
export class Apps {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists the versions of apps, newest first, with the actions that each can be asked for. `for await` over the page gives all of them, page by page. */
  list(query: ListApps = {}, options?: CallOptions): Promise<ItemPage<AppVersion>> {
    return this.#transport.call(listApps, { query }, options);
  }
}
