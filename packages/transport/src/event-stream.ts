import type { Schema } from "@shoal/schemas";
import type { EventReader } from "./event-reader.ts";
import type { StreamOptions } from "./options.ts";
import type { Plan, Settings } from "./plan.ts";

/** How an event stream is opened, and with which limits. */
export interface StreamSource {
  readonly settings: Settings;
  readonly event: Schema;
  readonly options: StreamOptions;
  /** Plans a connection that goes on after the given event. */
  plan(lastEventId: string | undefined, options: { signal: AbortSignal; maxRetries?: number }): Promise<Plan>;
}

const atEnd: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * Events as they come. Connects when it is first read and goes on after the last event when the connection is lost.
 * Ends when the service ends it; `break` and `close` close the connection at once. It can be read once.
 */
export class EventStream<T> implements AsyncIterableIterator<T, undefined>, AsyncDisposable {
  readonly #source: StreamSource;
  #opening: Promise<EventReader<T>> | undefined;
  #reader: EventReader<T> | undefined;
  #closed = false;

  /** @internal */
  constructor(source: StreamSource) {
    this.#source = source;
  }

  /** Id of the event that was handed out last; give it to a later stream to go on from here. */
  get lastEventId(): string | undefined {
    return this.#reader === undefined ? this.#source.options.lastEventId : this.#reader.lastEventId;
  }

  /** The stream itself: it can be read once. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next event; waits for it. Rejects once, and is at its end from then on. */
  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#reader !== undefined) return this.#reader.next();
    return this.#closed ? Promise.resolve(atEnd) : this.#open().then((reader) => reader.next());
  }

  /** Closes the connection. Events that were not handed out are dropped, and a waiting `next` is at its end. */
  async close(): Promise<void> {
    this.#closed = true;
    await (await this.#opening)?.close();
  }

  /** As {@link EventStream.close}; `break` in a loop calls it. */
  async return(): Promise<IteratorReturnResult<undefined>> {
    await this.close();
    return atEnd;
  }

  /** As {@link EventStream.close}; `await using` calls it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #open(): Promise<EventReader<T>> {
    // Many programs never follow a stream, so what reads one is loaded when one is read.
    this.#opening ??= import("./event-reader.ts").then(({ EventReader }) => (this.#reader = new EventReader<T>(this.#source)));
    return this.#opening;
  }
}
