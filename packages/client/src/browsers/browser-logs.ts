import { streamBrowserLogs } from "@shoal/contract";
import type { LogEvent, StreamBrowserLogs } from "@shoal/schemas";
import type { EventStream, StreamOptions, Transport } from "@shoal/transport";

/** Logs of a browser session. */
export class BrowserLogs {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Yields the lines of a file or of a process of the session, and new ones unless `follow` is `false`.
   *
   * @example
   * for await (const { message } of shoal.browsers.logs.stream(id, { source: "supervisor", supervisor_process: "chromium" })) console.log(message);
   */
  stream(browserId: string, query: StreamBrowserLogs, options?: StreamOptions): EventStream<LogEvent> {
    return this.#transport.stream(streamBrowserLogs, { params: { id: browserId }, query }, options);
  }
}
