import { startWatch, stopWatch, watchEvents } from "@shoal/contract";
import type { DirectoryWatch, FileSystemEvent, StartWatch } from "@shoal/schemas";
import {
  ApiError,
  type Call,
  type CallOptions,
  type EventStream,
  type StreamOptions,
  type Transport,
} from "@shoal/transport";

/** A started watch. With `await using` it stops at the end of the scope; otherwise it is plain data. */
export interface StartedWatch extends DirectoryWatch, AsyncDisposable {}

/** Watches on directories of a browser session. */
export class DirectoryWatches {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Starts a watch on `body.path`, an absolute path in the session. Changes are stored for readers from now on.
   *
   * @example
   * await using watch = await shoal.browsers.fs.watch.start(id, { path: "/tmp", recursive: true });
   * for await (const event of shoal.browsers.fs.watch.events(id, watch.watch_id)) console.log(event.type, event.path);
   *
   * @throws {ApiError} 404 for a missing path, 400 `not_a_directory`, 429 `too_many_watches`.
   */
  async start(browserId: string, body: StartWatch, options?: CallOptions): Promise<StartedWatch> {
    const watch = await this.#transport.call(startWatch, { params: { id: browserId }, body }, options);
    const end = async (): Promise<void> => {
      try {
        await this.stop(browserId, watch.watch_id);
      } catch (error) {
        // Already stopped, or the session has ended.
        if (!ApiError.isInstance(error) || error.status !== 404) throw error;
      }
    };
    // Not enumerable, so that a printed, copied or serialised watch contains only data.
    Object.defineProperty(watch, Symbol.asyncDispose, { value: end });
    return watch as StartedWatch;
  }
  /**
   * Yields changes since the start of the watch; resumes after a lost connection; ends when the watch is stopped or its directory is deleted.
   * @param options - `onGap` is called when changes were lost; list the directory again then.
   * @throws {ApiError} 404 `not_found` for a stopped watch, whose changes are deleted. Connected readers receive all of them.
   */
  events(browserId: string, watchId: string, options?: StreamOptions): EventStream<FileSystemEvent> {
    return this.#transport.stream(watchEvents, { params: { id: browserId, watch_id: watchId } }, options);
  }
  /** Ends a watch. Its readers receive the remaining changes. @throws {ApiError} 404 `not_found`. */
  stop(browserId: string, watchId: string, options?: CallOptions): Call<void> {
    return this.#transport.call(stopWatch, { params: { id: browserId, watch_id: watchId } }, options);
  }
}
