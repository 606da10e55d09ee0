import { listTelemetryEvents, readLastPicture, streamTelemetry } from "@shoal/contract";
import type { ListTelemetryEvents, StreamTelemetry, TelemetryEnvelope } from "@shoal/schemas";
import type {
  Call,
  CallOptions,
  Download,
  DownloadOptions,
  EventStream,
  ItemPage,
  StreamOptions,
  Transport,
} from "@shoal/transport";

/** Telemetry events of a browser session. */
export class SessionTelemetry {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists past events, also after the end of the session; by default of the last five minutes. `for await` iterates over all pages. */
  events(browserId: string, query: ListTelemetryEvents = {}, options?: CallOptions): Call<ItemPage<TelemetryEnvelope>> {
    return this.#transport.call(listTelemetryEvents, { params: { id: browserId }, query }, options);
  }
  /**
   * Yields new events, with `replay: "all"` stored ones first; resumes after a lost connection; ends with the session.
   * Newer services may send unknown types, so a `switch` over `event.type` needs a `default`.
   *
   * @param options - `onGap` is called when events were lost; gaps in `seq` show lost events too.
   *
   * @example
   * for await (const { event } of shoal.browsers.telemetry.stream(id)) {
   *   if (event.type === "console_error") console.log(event.data?.text);
   * }
   */
  stream(browserId: string, query: StreamTelemetry = {}, options?: StreamOptions): EventStream<TelemetryEnvelope> {
    return this.#transport.stream(streamTelemetry, { params: { id: browserId }, query }, options);
  }
  /**
   * Downloads what an ended session showed last, as a JPEG file. Read the stream to its end or cancel it.
   *
   * @throws {ApiError} 404 `not_found` while the session runs, and without a picture.
   */
  lastPicture(browserId: string, options?: DownloadOptions): Promise<Download> {
    return this.#transport.download(readLastPicture, { params: { id: browserId } }, options);
  }
}
