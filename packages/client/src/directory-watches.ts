import { startWatch, stopWatch, watchEvents } from "@shoal/contract";
import type { DirectoryWatch, FileSystemEvent, StartWatch } from "@shoal/schemas";
import type { CallOptions, EventStream, StreamOptions, Transport } from "@shoal/transport";

/** Watches on directories of a browser session. */
export class DirectoryWatches {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Starts a watch on `body.path`, an absolute path in the browser's filesystem. What happens after the answer is kept for readers. @throws {ApiError} 404 when it does not exist, 400 `not_a_directory`, 429 `too_many_watches`. */
  start(browserId: string, body: StartWatch, options?: CallOptions): Promise<DirectoryWatch> {
    return this.#transport.call(startWatch, { params: { id: browserId }, body }, options);
  }
  /**
   * Yields changes from the start of the watch; goes on after a lost connection; ends when the watch is stopped or its directory is gone.
   *
   * @param options - `onGap` is told of changes that the service could not keep; list the directory anew then.
   */
  events(browserId: string, watchId: string, options?: StreamOptions): EventStream<FileSystemEvent> {
    return this.#transport.stream(watchEvents, { params: { id: browserId, watch_id: watchId } }, options);
  }
  /** Ends a watch; its readers get what happened until now, and then their end. @throws {ApiError} 404 `not_found`. */
  stop(browserId: string, watchId: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(stopWatch, { params: { id: browserId, watch_id: watchId } }, options);
  }
}
