import type { StreamFrame } from "@shoal/router";

/** What a log may keep. */
export interface LogLimits {
  /** Events of one log. */
  readonly events: number;
  /** Estimated bytes of one log. */
  readonly bytes: number;
  /** Of all logs of a session: beyond `maxBytes`, a log that grows lets go of its own oldest events. */
  readonly shared: { bytes: number; readonly maxBytes: number };
}

/** Even when the shared bytes are used up, a log keeps this many. */
const alwaysKept = 16;

interface Kept<T> {
  readonly data: T;
  readonly bytes: number;
}

/**
 * The last events of a source, numbered from 1 without a hole. Readers come and go; each has a place of its own, takes events at its own pace and
 * holds nothing back: what it is too slow for is dropped, and told to it as a gap.
 */
export class EventLog<T> {
  readonly #limits: LogLimits;
  /** A ring: the event with the number n is at `n % length`. */
  #ring: (Kept<T> | undefined)[] = new Array<Kept<T> | undefined>(16);
  #first = 1;
  #next = 1;
  #bytes = 0;
  #closed = false;
  #released = false;
  #failure: Error | undefined;
  readonly #readers = new Set<LogReader<T>>();
  /** Called whenever a reader leaves, at the end or before. */
  readonly #onLeave: (() => void) | undefined;

  constructor(limits: LogLimits, onLeave?: () => void) {
    this.#limits = limits;
    this.#onLeave = onLeave;
  }

  /** Number of the latest event, 0 before the first. */
  get lastId(): number {
    return this.#next - 1;
  }
  get closed(): boolean {
    return this.#closed;
  }
  /** Why it was closed, where that was not in order. */
  get failure(): Error | undefined {
    return this.#failure;
  }
  /** Readers that have not reached the end. */
  get readers(): number {
    return this.#readers.size;
  }

  /** @param bytes - what the event takes, estimated. */
  push(data: T, bytes: number): void {
    if (this.#closed) return;
    if (this.#next - this.#first === this.#ring.length) this.#grow();
    this.#ring[this.#next++ % this.#ring.length] = { data, bytes };
    this.#bytes += bytes;
    this.#limits.shared.bytes += bytes;
    while (this.#isTooLarge()) this.#drop();
    this.#wake();
  }

  /** No more events come. Readers get what is kept, then the end, or `failure`. */
  close(failure?: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#failure = failure;
    this.#wake();
  }

  /** Lets go of all events but the last `count`, also where a reader has not had them yet: it is told of a gap. */
  trim(count: number): void {
    while (this.#next - this.#first > count) this.#drop();
  }

  /** Lets go of everything once the present readers are done. */
  release(): void {
    this.#released = true;
    if (this.#readers.size === 0) while (this.#first < this.#next) this.#drop();
  }

  /**
   * Reads on from an event. The iterator must be read to its end, or returned.
   *
   * @param after - number of the last event that is known; 0 begins with the oldest that is kept. What lies between and is no longer kept becomes a gap.
   */
  read(after: number): AsyncIterableIterator<StreamFrame<T>> {
    let next = after + 1;
    const reader = new LogReader<T>(
      () => {
        if (next < this.#first) {
          const missed = this.#first - next;
          next = this.#first;
          return { value: { id: String(next - 1), gap: { missed } }, done: false };
        }
        const kept = next < this.#next ? this.#ring[next % this.#ring.length] : undefined;
        if (kept) return { value: { id: String(next++), data: kept.data }, done: false };
        if (!this.#closed) return undefined;
        if (this.#failure) throw this.#failure;
        return { value: undefined, done: true };
      },
      () => {
        if (!this.#readers.delete(reader)) return;
        if (this.#released) this.release();
        this.#onLeave?.();
      },
    );
    this.#readers.add(reader);
    return reader;
  }

  #isTooLarge(): boolean {
    const { events, bytes, shared } = this.#limits;
    const count = this.#next - this.#first;
    return count > events || (count > 1 && this.#bytes > bytes) || (count > alwaysKept && shared.bytes > shared.maxBytes);
  }

  #drop(): void {
    const index = this.#first++ % this.#ring.length;
    const bytes = this.#ring[index]?.bytes ?? 0;
    this.#ring[index] = undefined;
    this.#bytes -= bytes;
    this.#limits.shared.bytes -= bytes;
  }

  #grow(): void {
    const larger = new Array<Kept<T> | undefined>(this.#ring.length * 2);
    for (let id = this.#first; id < this.#next; id++) larger[id % larger.length] = this.#ring[id % this.#ring.length];
    this.#ring = larger;
  }

  #wake(): void {
    for (const reader of this.#readers) reader.wake();
  }
}

type Step<T> = IteratorResult<StreamFrame<T>, undefined>;

/** Not a generator: `return` of one waits for the `next` that is pending, which may be for ever. */
class LogReader<T> implements AsyncIterableIterator<StreamFrame<T>, undefined> {
  readonly #take: () => Step<T> | undefined;
  readonly #leave: () => void;
  #left = false;
  #waiting: PromiseWithResolvers<Step<T>> | undefined;

  /** @param take - the next step; `undefined` when there is none yet. */
  constructor(take: () => Step<T> | undefined, leave: () => void) {
    this.#take = take;
    this.#leave = leave;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step<T>> {
    if (this.#waiting) return Promise.reject(new Error("The reader is being read already."));
    this.#waiting = Promise.withResolvers<Step<T>>();
    const { promise } = this.#waiting;
    this.wake();
    return promise;
  }

  return(): Promise<Step<T>> {
    this.#end();
    this.wake();
    return Promise.resolve({ value: undefined, done: true });
  }

  /** Goes on where something may have come. */
  wake(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    try {
      const step: Step<T> | undefined = this.#left ? { value: undefined, done: true } : this.#take();
      if (!step) return;
      this.#waiting = undefined;
      if (step.done) this.#end();
      waiting.resolve(step);
    } catch (error) {
      this.#waiting = undefined;
      this.#end();
      // A failure cuts the connection. What was given just before must have left by then, or a reader that comes back would be cut at the same place again.
      setImmediate(() => {
        waiting.reject(error);
      });
    }
  }

  #end(): void {
    if (this.#left) return;
    this.#left = true;
    this.#leave();
  }
}
