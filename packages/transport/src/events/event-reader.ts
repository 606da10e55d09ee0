import { createParser, type EventSourceMessage, type EventSourceParser } from "eventsource-parser";
import { checkValue } from "../answers/answer.ts";
import type { Mismatch } from "../answers/check.ts";
import { envelopeCheckOf } from "./envelope.ts";
import { errorEvent } from "../exchange/error-answer.ts";
import { ApiError, ConnectionError, ContractError, isShoalError } from "../surface/errors.ts";
import { exchange } from "../exchange/exchange.ts";
import { connectionError, contractError } from "../exchange/failures.ts";
import { pause } from "../exchange/pause.ts";
import { TransferClock } from "../exchange/transfer-clock.ts";
import type { StreamSource } from "./stream-source.ts";
import type { Plan } from "../request/plan.ts";
import { backoffMs } from "../exchange/retry.ts";

const heartbeatMs = 15_000;
const defaultIdleTimeoutMs = 2 * heartbeatMs;
const defaultMaxReconnects = 5;
/** Characters of one event. */
const maxEventLength = 64 * 1024 * 1024;

interface Connection {
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly response: Response;
  readonly clock: TransferClock;
  readonly decoder: TextDecoder;
  readonly parser: EventSourceParser;
  readonly openedAt: number;
}

/** Reads an event stream over one or more connections. */
export class EventReader<T> {
  #source: StreamSource;
  readonly #closing = new AbortController();
  readonly #signal: AbortSignal;
  readonly #queue: T[] = [];
  /** Ids of the queued events. */
  readonly #ids: (string | undefined)[] = [];
  #at = 0;
  /** Place in the queue at which the reader has caught up. */
  #caughtUpAt: number | undefined;
  #failure: { readonly error: unknown } | undefined;
  #connection: Connection | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #ended = false;
  #lastEventId: string | undefined;
  /** Id of the last parsed event, which may still be in the queue. */
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

  /** Id of the last event that was read. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

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

  close(): Promise<void> {
    this.#end();
    this.#closing.abort();
    return this.#turn.then(() => undefined);
  }

  #take(): IteratorYieldResult<T> | undefined {
    const at = this.#at;
    if (at === this.#caughtUpAt) {
      this.#caughtUpAt = undefined;
      this.#source.options.onCaughtUp?.();
    }
    if (at === this.#queue.length) return undefined;
    const value = this.#queue[at] as T;
    this.#lastEventId = this.#ids[at] ?? this.#lastEventId;
    this.#at = at + 1;
    if (this.#at === this.#queue.length) this.#empty();
    return { done: false, value };
  }

  #empty(): void {
    this.#queue.length = 0;
    this.#ids.length = 0;
    if (this.#caughtUpAt !== undefined) this.#caughtUpAt = 0;
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
    return exchange(settings, plan, "stream", ({ response }) => {
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
      const clock = new TransferClock(plan.bounds);
      clock.whenAborted(() => {
        // Ends a pending read.
        reader.cancel().catch(() => undefined);
      });
      return { reader, response, clock, parser, decoder: new TextDecoder(), openedAt: performance.now() };
    });
  }

  async #read({ reader, clock, decoder, parser }: Connection): Promise<void> {
    const { settings, options } = this.#source;
    const { idleTimeoutMs = defaultIdleTimeoutMs } = options;
    clock.limit(idleTimeoutMs === false ? Infinity : idleTimeoutMs, "the stream went silent");
    const { done, value } = await reader.read().catch((error: unknown) => {
      const what = `The event stream lost its connection to ${settings.baseUrl}`;
      throw clock.signal.aborted ? clock.signal.reason : connectionError(settings, what, error);
    });
    clock.signal.throwIfAborted();
    clock.limit(Infinity, "the stream did not end");
    if (done) this.#end();
    else parser.feed(decoder.decode(value, { stream: true }));
  }

  #receive(plan: Plan, response: Response, frame: EventSourceMessage): void {
    // Events after a failure in the same chunk are dropped and do not count as received.
    if (this.#failure !== undefined || this.#ended) return;
    const { settings, event, options } = this.#source;
    if (frame.event === "error") {
      this.#failure = { error: errorEvent(settings, plan, response, frame.data) };
      return;
    }
    const id = frame.id ?? this.#parsedId;
    if (frame.event === "caught_up") {
      this.#parsedId = id;
      this.#caughtUpAt = this.#queue.length;
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(frame.data);
      if (frame.event === "gap") {
        const missed: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "missed") : undefined;
        const gap = { missed: typeof missed === "number" ? missed : undefined };
        if (options.onGap === undefined)
          settings.logger?.warn({ operation: plan.bounds.operation, ...gap }, "events of the stream were lost");
        options.onGap?.(gap);
        this.#parsedId = id;
        return;
      }
      if ((options.validate ?? settings.validate) !== undefined)
        checkValue(settings, plan, response, { schema: event, value, at: "event" });
      else {
        this.#envelope ??= envelopeCheckOf(event);
        const mismatch = this.#envelope(value);
        if (mismatch !== undefined) throw contractError(plan, response, `event${mismatch.path}`, mismatch.problem);
      }
    } catch (error) {
      this.#failure = {
        error: error instanceof SyntaxError ? contractError(plan, response, "event", "expected JSON") : error,
      };
      return;
    }
    this.#parsedId = id;
    this.#parsed += 1;
    this.#losses = 0;
    // Checked above, or the caller disabled the check.
    this.#queue.push(value as T);
    this.#ids.push(id);
  }

  /** Waits before a reconnect. Rejects when the stream cannot be resumed. */
  async #recover(error: unknown): Promise<void> {
    const { settings, options } = this.#source;
    const connection = this.#connection;
    this.#disconnect(error);
    const first = this.#parsed === 0 && this.#losses === 0 && connection === undefined;
    const other = first ? this.#source.otherwise?.(error) : undefined;
    if (other !== undefined) {
      this.#source = other;
      return;
    }
    if (first || !isShoalError(error) || ContractError.isInstance(error) || !error.retryable) this.#fail(error);
    if (this.#parsed > 0 && this.#parsedId === undefined) {
      this.#fail(
        new ConnectionError(`${error.message} The stream cannot be resumed, because its events have no ids.`, {
          cause: error,
        }),
      );
    }
    // A proxy may cut an idle stream every minute, which is not a failure.
    if (connection !== undefined && performance.now() - connection.openedAt > heartbeatMs) this.#losses = 0;
    this.#losses += 1;
    if (this.#losses > (options.maxReconnects ?? defaultMaxReconnects)) this.#fail(error);
    const delayMs = Math.max(
      backoffMs(this.#losses - 1),
      ApiError.isInstance(error) ? Math.min(error.retryAfterMs ?? 0, 60_000) : 0,
    );
    settings.logger?.warn(
      { attempt: this.#losses, delay_ms: Math.round(delayMs), code: error.code },
      "event stream lost, reconnecting",
    );
    options.onReconnect?.({ attempt: this.#losses, delayMs, error });
    await pause(delayMs, this.#signal).catch(() => undefined);
  }
}
