import type { EventReader } from "./event-reader.ts";
import type { StreamSource } from "./stream-source.ts";

const atEnd: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * A stream of events. Connects on the first read, and resumes after the last event when the connection is lost.
 * Ends when the service ends it; `break` and `close` close the connection immediately. Can be read once.
 */
export class EventStream<T> implements AsyncIterableIterator<T, undefined>, AsyncDisposable {
  #source: StreamSource;
  #opening: Promise<EventReader<T>> | undefined;
  #reader: EventReader<T> | undefined;
  #closed = false;

  /** @internal */
  constructor(source: StreamSource) {
    this.#source = source;
  }

  /**
   * Reads another stream if the first connection of this one fails.
   *
   * @internal
   */
  orElse(other: (error: unknown) => EventStream<T> | undefined): this {
    const otherwise = (error: unknown) => {
      const stream = other(error);
      return stream === undefined ? undefined : stream.#source;
    };
    this.#source = { ...this.#source, otherwise };
    return this;
  }

  /** Id of the last event that was read. Pass it to a later stream to resume from here. */
  get lastEventId(): string | undefined {
    return this.#reader === undefined ? this.#source.options.lastEventId : this.#reader.lastEventId;
  }

  /** Returns the stream itself. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Waits for the next event. Rejects once; after that the stream has ended. */
  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#reader !== undefined) return this.#reader.next();
    return this.#closed ? Promise.resolve(atEnd) : this.#open().then((reader) => reader.next());
  }

  /** Closes the connection. Unread events are dropped, and a waiting `next` ends. */
  async close(): Promise<void> {
    this.#closed = true;
    await (await this.#opening)?.close();
  }

  /** Like {@link EventStream.close}; called by `break` in a loop. */
  async return(): Promise<IteratorReturnResult<undefined>> {
    await this.close();
    return atEnd;
  }

  /** Like {@link EventStream.close}; called by `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #open(): Promise<EventReader<T>> {
    // Loaded on demand, because few programs read event streams.
    this.#opening ??= import("./event-reader.ts").then(
      ({ EventReader }) => (this.#reader = new EventReader<T>(this.#source)),
    );
    return this.#opening;
  }
}
