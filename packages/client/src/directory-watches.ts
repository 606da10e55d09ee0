import { startWatch, stopWatch, watchEvents } from "@shoal/contract";
import type { DirectoryWatch, FileSystemEvent, StartWatch } from "@shoal/schemas";
import { ApiError, type CallOptions, type EventStream, type StreamOptions, type Transport } from "@shoal/transport";

/** A watch that was just started. With `await using` it stops with the scope; otherwise it is plain data and goes on. */
export interface StartedWatch extends DirectoryWatch, AsyncDisposable {}

/** Watches on directories of a browser session. */
export class DirectoryWatches {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Starts a watch on `body.path`, an absolute path in the browser's filesystem. What happens after the answer is kept for readers.
   *
   * @example
   * await using watch = await shoal.browsers.fs.watch.start(id, { path: "/tmp", recursive: true });
   * for await (const event of shoal.browsers.fs.watch.events(id, watch.watch_id)) console.log(event.type, event.path);
   *
   * @throws {ApiError} 404 when it does not exist, 400 `not_a_directory`, 429 `too_many_watches`.
   */
  async start(browserId: string, body: StartWatch, options?: CallOptions): Promise<StartedWatch> {
    const watch = await this.#transport.call(startWatch, { params: { id: browserId }, body }, options);
    const end = async (): Promise<void> => {
      try {
        await this.stop(browserId, watch.watch_id);
      } catch (error) {
        // It was stopped before, or its session has ended.
        if (!ApiError.isInstance(error) || error.status !== 404) throw error;
      }
    };
    // Not enumerable: printed, copied and serialised, the watch is data only.
    Object.defineProperty(watch, Symbol.asyncDispose, { value: end });
    return watch as StartedWatch;
  }
  /**
   * Yields changes from the start of the watch; goes on after a lost connection; ends when the watch is stopped or its directory is gone.
   *
   * @param options - `onGap` is told of changes that the service could not keep; list the directory anew then.
   * @throws {ApiError} 404 `not_found` for a watch that was stopped before: what it kept went with it. Readers that were there got all of it.
   */
  events(browserId: string, watchId: string, options?: StreamOptions): EventStream<FileSystemEvent> {
    return this.#transport.stream(watchEvents, { params: { id: browserId, watch_id: watchId } }, options);
  }
  /** Ends a watch; its readers get what happened until now, and then their end. @throws {ApiError} 404 `not_found`. */
  stop(browserId: string, watchId: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(stopWatch, { params: { id: browserId, watch_id: watchId } }, options);
  }
}
