import { listTelemetryEvents, streamTelemetry } from "@shoal/contract";
import type { ListTelemetryEvents, StreamTelemetry, TelemetryEnvelope } from "@shoal/schemas";
import type { CallOptions, EventStream, ItemPage, StreamOptions, Transport } from "@shoal/transport";

/** What happens in a browser session, as far as its telemetry captures it. */
export class SessionTelemetry {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists events of the past, those of the last five minutes unless `since` or `offset` says otherwise; also after the session has ended. `for await` over the page gives all of them, page by page. */
  events(browserId: string, query: ListTelemetryEvents = {}, options?: CallOptions): Promise<ItemPage<TelemetryEnvelope>> {
    return this.#transport.call(listTelemetryEvents, { params: { id: browserId }, query }, options);
  }
  /**
   * Yields events from now on, or from the oldest that is kept with `replay: "all"`; goes on after a lost connection; ends with the session.
   * Kinds that this version does not know come as they are, so a `switch` over `event.type` needs a `default`.
   *
   * @param options - `onGap` is told of events that were lost; numbers missing in `seq` show them too.
   *
   * @example
   * for await (const { event } of shoal.browsers.telemetry.stream(id)) {
   *   if (event.type === "console_error") console.log(event.data?.text);
   * }
   */
  stream(browserId: string, query: StreamTelemetry = {}, options?: StreamOptions): EventStream<TelemetryEnvelope> {
    return this.#transport.stream(streamTelemetry, { params: { id: browserId }, query }, options);
  }
}
