import { createParser, type EventSourceMessage, type EventSourceParser } from "eventsource-parser";
import { checkValue, contractError } from "./answer.ts";
import type { Mismatch } from "./check.ts";
import { pause, type AttemptClock } from "./clock.ts";
import { envelopeCheckOf } from "./envelope.ts";
import { errorEvent } from "./error-answer.ts";
import { ApiError, ConnectionError, ContractError, isShoalError } from "./errors.ts";
import { exchange, onConnection } from "./exchange.ts";
import type { StreamSource } from "./event-stream.ts";
import type { Plan } from "./plan.ts";
import { backoffMs } from "./retry.ts";

const heartbeatMs = 15_000;
const defaultIdleTimeoutMs = 2 * heartbeatMs;
const defaultMaxReconnects = 5;
/** Characters of one event; more is a broken service, not an event. */
const maxEventLength = 64 * 1024 * 1024;

interface Connection {
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly response: Response;
  readonly clock: AttemptClock;
  readonly decoder: TextDecoder;
  readonly parser: EventSourceParser;
  readonly openedAt: number;
}

/** Reads an event stream over as many connections as it takes: what is behind {@link EventStream}. */
export class EventReader<T> {
  readonly #source: StreamSource;
  readonly #closing = new AbortController();
  readonly #signal: AbortSignal;
  readonly #queue: T[] = [];
  /** Of the events in the queue. */
  readonly #ids: (string | undefined)[] = [];
  #at = 0;
  #failure: { readonly error: unknown } | undefined;
  #connection: Connection | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #ended = false;
  #lastEventId: string | undefined;
  /** Of the events that were parsed, which may be further on than those that were handed out. */
  #parsedId: string | undefined;
  #parsed = 0;
  #losses = 0;
  #envelope: ((value: unknown) => Mismatch | undefined) | undefined;

  constructor(source: StreamSource) {
    this.#source = source;
    const { signal } = source.options;
    this.#signal = signal === undefined ? this.#closing.signal : AbortSignal.any([this.#closing.signal, signal]);
    this.#lastEventId = source.options.lastEventId;
    this.#parsedId = source.options.lastEventId;
  }

  /** Of the event that was handed out last. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  /** The next event; waits for it. Rejects once, and is at its end from then on. */
  next(): Promise<IteratorResult<T, undefined>> {
    const ready = this.#waiting === 0 ? this.#take() : undefined;
    if (ready !== undefined) return Promise.resolve(ready);
    this.#waiting += 1;
    const turn = this.#turn.then(() => this.#pull());
    this.#turn = turn.then(
      () => (this.#waiting -= 1),
      () => (this.#waiting -= 1),
    );
    return turn;
  }

  /** Closes the connection. Events that were not handed out are dropped, and a waiting `next` is at its end. */
  close(): Promise<void> {
    this.#end();
    this.#closing.abort();
    return this.#turn.then(() => undefined);
  }

  #take(): IteratorYieldResult<T> | undefined {
    const at = this.#at;
    if (at === this.#queue.length) return undefined;
    // There is one: `at` is below the length.
    const value = this.#queue[at] as T;
    this.#lastEventId = this.#ids[at] ?? this.#lastEventId;
    this.#at = at + 1;
    if (this.#at === this.#queue.length) this.#empty();
    return { done: false, value };
  }

  #empty(): void {
    this.#queue.length = 0;
    this.#ids.length = 0;
    this.#at = 0;
  }

  #end(): void {
    this.#ended = true;
    this.#empty();
    this.#disconnect(new Error("closed"));
  }

  #disconnect(reason: unknown): void {
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection === undefined) return;
    connection.clock.end();
    connection.clock.abort(reason);
    connection.reader.cancel().catch(() => undefined);
  }

  async #pull(): Promise<IteratorResult<T, undefined>> {
    for (;;) {
      const ready = this.#take();
      if (ready !== undefined) return ready;
      if (this.#failure !== undefined) this.#fail(this.#failure.error);
      if (this.#ended) return { done: true, value: undefined };
      try {
        this.#connection ??= await this.#connect();
        await this.#read(this.#connection);
      } catch (error) {
        // Read anew: `close` may have been called in the meantime.
        if (this.#isClosed()) return { done: true, value: undefined };
        if (this.#source.options.signal?.aborted === true) this.#fail(this.#source.options.signal.reason);
        await this.#recover(error);
      }
    }
  }

  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #fail(error: unknown): never {
    this.#failure = undefined;
    this.#end();
    throw error;
  }

  async #connect(): Promise<Connection> {
    const { settings } = this.#source;
    const again = this.#parsed > 0 || this.#losses > 0;
    const plan = await this.#source.plan(this.#parsedId, { signal: this.#signal, ...(again && { maxRetries: 0 }) });
    return exchange(settings, plan, async (response, clock) => {
      const type = response.headers.get("content-type") ?? "no content type";
      if (response.status !== 204 && !type.startsWith("text/event-stream"))
        throw contractError(plan, response, "headers.content-type", `expected text/event-stream, got ${type}`);
      const reader = (response.body ?? new Response("").body)?.getReader();
      if (reader === undefined) throw contractError(plan, response, "body", "expected a body");
      const parser = createParser({
        maxBufferSize: maxEventLength,
        onEvent: (message) => {
          this.#receive(plan, response, message);
        },
        onError: (error) => {
          if (error.type === "max-buffer-size-exceeded")
            throw contractError(plan, response, "body", `an event is longer than ${maxEventLength} characters`);
        },
      });
      return { reader, response, clock, parser, decoder: new TextDecoder(), openedAt: performance.now() };
    });
  }

  async #read({ reader, clock, decoder, parser }: Connection): Promise<void> {
    const { settings, options } = this.#source;
    const { idleTimeoutMs = defaultIdleTimeoutMs } = options;
    clock.limit(idleTimeoutMs === false ? Infinity : idleTimeoutMs, "the stream went silent");
    const { done, value } = await onConnection(settings, clock, `The event stream lost its connection to ${settings.baseUrl}`, reader.read());
    clock.limit(Infinity, "the stream did not end");
    if (done) this.#end();
    else parser.feed(decoder.decode(value, { stream: true }));
  }

  #receive(plan: Plan, response: Response, frame: EventSourceMessage): void {
    // What follows a failure in the same chunk is dropped, and so not counted as received.
    if (this.#failure !== undefined || this.#ended) return;
    const { settings, event, options } = this.#source;
    if (frame.event === "error") {
      this.#failure = { error: errorEvent(settings, plan, response, frame.data) };
      return;
    }
    const id = frame.id ?? this.#parsedId;
    let value: unknown;
    try {
      value = JSON.parse(frame.data);
      if (frame.event === "gap") {
        const missed: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "missed") : undefined;
        const gap = { missed: typeof missed === "number" ? missed : undefined };
        if (options.onGap === undefined) settings.logger?.warn({ operation: plan.bounds.operation, ...gap }, "events of the stream were lost");
        options.onGap?.(gap);
        this.#parsedId = id;
        return;
      }
      if ((options.validate ?? settings.validate) !== undefined) checkValue(settings, plan, response, { schema: event, value, at: "event" });
      else {
        this.#envelope ??= envelopeCheckOf(event);
        const mismatch = this.#envelope(value);
        if (mismatch !== undefined) throw contractError(plan, response, `event${mismatch.path}`, mismatch.problem);
      }
    } catch (error) {
      this.#failure = { error: error instanceof SyntaxError ? contractError(plan, response, "event", "expected JSON") : error };
      return;
    }
    this.#parsedId = id;
    this.#parsed += 1;
    this.#losses = 0;
    // Checked above, or the caller asked not to.
    this.#queue.push(value as T);
    this.#ids.push(id);
  }

  /** Waits until it is time to connect again. Rejects when that makes no sense. */
  async #recover(error: unknown): Promise<void> {
    const { settings, options } = this.#source;
    const connection = this.#connection;
    this.#disconnect(error);
    const first = this.#parsed === 0 && this.#losses === 0 && connection === undefined;
    if (first || !isShoalError(error) || ContractError.isInstance(error) || !error.retryable) this.#fail(error);
    if (this.#parsed > 0 && this.#parsedId === undefined) {
      this.#fail(
        new ConnectionError(`${error.message} It cannot be resumed without repeating or losing events, for they carry no ids.`, { cause: error }),
      );
    }
    // A quiet stream that some proxy cuts every minute gets on as well.
    if (connection !== undefined && performance.now() - connection.openedAt > heartbeatMs) this.#losses = 0;
    this.#losses += 1;
    if (this.#losses > (options.maxReconnects ?? defaultMaxReconnects)) this.#fail(error);
    const delayMs = Math.max(backoffMs(this.#losses - 1), ApiError.isInstance(error) ? Math.min(error.retryAfterMs ?? 0, 60_000) : 0);
    settings.logger?.warn({ attempt: this.#losses, delay_ms: Math.round(delayMs), code: error.code }, "event stream lost, connecting again");
    options.onReconnect?.({ attempt: this.#losses, delayMs, error });
    await pause(delayMs, this.#signal).catch(() => undefined);
  }
}
