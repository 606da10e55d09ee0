import { exportUsage, listUsage } from "@shoal/contract";
import type { ExportUsage, ListUsage, UsageRow } from "@shoal/schemas";
import type { Call, CallOptions, Download, DownloadOptions, ItemPage, Transport } from "@shoal/transport";

/** Use of sessions, network and storage by UTC day. */
export class Usage {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Lists at most 366 days, newest first; the last seven by default. Figures lag behind by up to a minute. `for await`
   * iterates over all pages.
   * @throws {ApiError} 400 for a longer period; 404 `project_not_found` for another project than that of the key.
   */
  list(query: ListUsage = {}, options?: CallOptions): Call<ItemPage<UsageRow>> {
    return this.#transport.call(listUsage, { query }, options);
  }
  /** Downloads all rows of a period as CSV, or with `format: "jsonl"` as JSON lines. @throws {ApiError} as {@link list}. */
  export(query: ExportUsage = {}, options?: DownloadOptions): Promise<Download> {
    return this.#transport.download(exportUsage, { query }, options);
  }
}
